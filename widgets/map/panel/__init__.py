"""The panel beside the map and its table of parts: sentences, facts and numbers."""
