"""The round of ten guesses: where true answers come from, and their words."""
