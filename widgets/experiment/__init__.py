"""Parts of the page of an experiment."""
