"""widgets/map/layout."""
