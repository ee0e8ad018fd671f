"""widgets/map/panel."""
