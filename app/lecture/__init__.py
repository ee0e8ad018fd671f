"""A lecture: its file, its course from question to explanation, its preflight and its handout."""
