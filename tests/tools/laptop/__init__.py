"""A synthetic laptop: the load of a browser and other programs, and the lessons run beside it."""
