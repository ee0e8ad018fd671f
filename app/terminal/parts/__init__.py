"""The parts of a machine on the page of `coreopsis inspect`, and plots in letters."""
