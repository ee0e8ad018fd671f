"""The machine map: how a machine is laid out as boxes, painted, walked through and explained."""
