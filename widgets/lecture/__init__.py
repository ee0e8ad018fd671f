"""The views of a class and of its presenter, and the editor of a lecture."""
