"""The catalogue of experiments: shelves of cards, each a question with a small plot."""
