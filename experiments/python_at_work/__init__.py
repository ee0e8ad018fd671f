"""Shelf: threads, processes and what it costs to start, to talk and to wait."""

EXPERIMENTS = (
    "gil_threads",
    "start_cost",
    "talk_cost",
    "python_objects",
    "waiting",
    "race",
    "uneven",
    "amdahl",
    "false_sharing",
    "core_to_core",
)
FOLLOW_UPS = {
    "start_cost": ("isolation", "context_switch"),
    "false_sharing": ("counters",),
    "core_to_core": ("numa", "p2p"),
}
