"""Shelf: what a GPU is good for, and what the way there and back costs."""

EXPERIMENTS = (
    "placement",
    "dataloader",
    "crossover",
    "many_small",
    "diffusion",
    "pinned",
    "non_blocking",
    "async",
    "streams",
    "logging",
    "busy_not_full",
    "bottleneck",
    "gpu_or_not",
)
