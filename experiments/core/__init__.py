"""Declares, finds, words and draws experiments; their clock and statistics."""
