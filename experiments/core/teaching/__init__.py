"""Lessons: what they ask, what a run answers, their drawings and terms."""
