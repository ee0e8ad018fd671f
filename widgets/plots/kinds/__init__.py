"""The kinds of plot: lines, bars, heat maps, timelines and others."""
