"""Lecture mode: a lecture on its way, its windows and keys, and its playlist."""
