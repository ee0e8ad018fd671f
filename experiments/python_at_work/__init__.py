"""Shelf: threads, processes and what it costs to start, to talk and to wait."""

EXPERIMENTS = (
    "gil_threads",
    "start_cost",
    "talk_cost",
    "waiting",
    "race",
    "uneven",
    "amdahl",
    "false_sharing",
    "core_to_core",
)
