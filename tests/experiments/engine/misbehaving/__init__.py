"""A shelf of one experiment, which misbehaves in every way that its parameter `how` can name."""

from __future__ import annotations

EXPERIMENTS = ("misbehave",)
