"""The form in which an experiment's parameters are set."""
