"""Shelf: how far away memory is, and how much of it fits through at a time."""

EXPERIMENTS = (
    "cache_ladder",
    "burst_random",
    "banks_mlp",
    "stream",
    "storage",
    "latency_numbers",
    "roofline",
)
FOLLOW_UPS = {
    "cache_ladder": ("stride", "conflicts"),
    "burst_random": ("page_faults",),
    "roofline": ("activations",),
}
