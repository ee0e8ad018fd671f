"""The checkup for people: in words, kept, compared."""
