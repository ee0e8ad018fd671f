"""What the page of an experiment is made of."""
