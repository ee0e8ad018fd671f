"""What the page of an experiment knows and does; its widgets are in widgets/experiment."""
