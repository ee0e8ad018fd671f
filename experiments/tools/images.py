"""Images that are decoded on demand, as those of a data set on a disk are.

A loader imports this inside `measure`, and so do the processes that help it.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIDE, CROP, TAKEN = 160, 128, 64  # pixels: as stored, as cut out, and as the network takes them
CHANNELS = 3
CLASSES = 10
STORED = 16  # different images; the others are other crops of them
SEED = 6


class Images:
    """`count` images with their labels; each smoothing pass makes every one costlier."""

    def __init__(self, count: int, passes: int) -> None:
        self._count, self._passes = count, passes
        numbers = np.random.default_rng(SEED)
        shape = (SIDE, SIDE, CHANNELS)
        stored = [numbers.integers(0, 32, shape, dtype=np.uint8) for _ in range(STORED)]
        self._stored = [zlib.compress(picture.tobytes(), 1) for picture in stored]

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> tuple[NDArray[np.float32], int]:
        """Decode an image, crop it, smooth it, halve it and scale it to the range."""
        numbers = np.random.default_rng(number)
        decoded = np.frombuffer(zlib.decompress(self._stored[number % STORED]), np.uint8)
        top, left = numbers.integers(0, SIDE - CROP, 2)
        picture: NDArray[Any] = decoded.reshape(SIDE, SIDE, CHANNELS)
        picture = picture[top : top + CROP, left : left + CROP]
        if number % 2:
            picture = picture[:, ::-1]
        picture = picture.astype(np.float32)
        for _ in range(self._passes):
            inner = picture[:-1, :-1] + picture[1:, :-1] + picture[:-1, 1:] + picture[1:, 1:]
            picture[:-1, :-1] = 0.25 * inner
        picture = picture.reshape(TAKEN, 2, TAKEN, 2, CHANNELS).mean(axis=(1, 3))
        picture -= picture.mean()
        picture /= picture.std()
        return np.ascontiguousarray(picture.transpose(2, 0, 1)), number % CLASSES
