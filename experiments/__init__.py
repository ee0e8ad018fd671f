"""Experiments, one folder each, and the engine that runs them. No Qt."""
