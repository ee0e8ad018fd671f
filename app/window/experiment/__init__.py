"""The model and the actions of an experiment's page; its widgets are in widgets/experiment."""
