"""The lesson on an experiment's page."""
