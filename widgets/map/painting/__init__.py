"""Painting of the boxes, links and texts of the map."""
