"""How does any view of an experiment look? One renderer for all of them, live and replayed."""
