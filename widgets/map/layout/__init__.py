"""Layout of a machine as boxes and links, in units of the map, without Qt."""
