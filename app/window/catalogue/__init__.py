"""The place Experiments: catalogue, cards, and the way to one page."""
