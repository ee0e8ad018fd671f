"""The round of ten guesses in the window."""
