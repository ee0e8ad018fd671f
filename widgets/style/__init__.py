"""Colours, fonts, icons and the style sheet of the window."""
