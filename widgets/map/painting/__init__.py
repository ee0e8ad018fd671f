"""widgets/map/painting."""
