"""The tiles of Live, and the words on them."""
