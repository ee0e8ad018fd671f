"""An experiment that does nothing but send rows."""

EXPERIMENTS = ("many_rows",)
