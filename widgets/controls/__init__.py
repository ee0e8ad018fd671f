"""Controls that all pages share: labels, buttons, sliders, layouts."""
