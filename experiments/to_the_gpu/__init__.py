"""Shelf: what a GPU is good for, and what the way there and back costs."""

EXPERIMENTS = (
    "dataloader",
    "crossover",
    "many_small",
    "diffusion",
    "pinned",
    "async",
    "streams",
    "gpu_or_not",
)
FOLLOW_UPS = {
    "dataloader": ("bottleneck",),
    "crossover": ("placement",),
    "many_small": ("busy_not_full",),
    "pinned": ("non_blocking",),
    "async": ("logging", "two_gpus"),
}
TOOLS = ("gpu_or_not",)
