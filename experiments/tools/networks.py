"""Two small networks that classify: one of linear layers, one of convolutions.

Widths are multiples of 8, as matrix units like them; so is the number of classes.
Source: torch's tutorial on automatic mixed precision (three layers of one width); K. He et al.,
Deep residual learning, 2015 (https://arxiv.org/abs/1512.03385).
"""

from __future__ import annotations

from typing import Any

LAYERS = 3
BLOCKS = 2  # of two convolutions each
COLOURS = 3
CLASSES = 16
KERNEL = 3  # rows and columns of a convolution


def mlp(torch: Any, width: int) -> Any:
    """Return linear layers of one `width`, and a last one to the classes."""
    nn = torch.nn
    layers: list[Any] = []
    for _ in range(LAYERS):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, CLASSES))


def resnet(torch: Any, channels: int) -> Any:
    """Return a small residual network from images of three colours to classes."""
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(
                convolution(torch, channels, channels), nn.BatchNorm2d(channels), nn.ReLU(),
                convolution(torch, channels, channels), nn.BatchNorm2d(channels),
            )  # fmt: skip

        def forward(self, images: Any) -> Any:
            return torch.relu(images + self.body(images))

    first = [convolution(torch, COLOURS, channels), nn.BatchNorm2d(channels), nn.ReLU()]
    last = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES)]
    return nn.Sequential(*first, *(Block() for _ in range(BLOCKS)), *last)


def convolution(torch: Any, before: int, after: int) -> Any:
    """Return a convolution that keeps rows and columns."""
    return torch.nn.Conv2d(before, after, KERNEL, padding=KERNEL // 2, bias=False)


def mlp_flop(width: int) -> float:
    """Return a sample's operations in the forward pass; the backward pass takes twice as many."""
    return 2.0 * (LAYERS * width + CLASSES) * width


def resnet_flop(channels: int, side: int) -> float:
    """Return the forward operations of an image with `side` rows."""
    return 2.0 * KERNEL**2 * side**2 * channels * (COLOURS + 2 * BLOCKS * channels)
