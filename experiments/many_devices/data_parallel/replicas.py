"""A network that several members train together: each has all of it, and a share of the batch.

The gradients are averaged while the backward pass still runs: by torch's DistributedDataParallel,
or by the Lightning strategy that uses it.
"""

from __future__ import annotations

import contextlib
import math
import os
from typing import Any

from experiments import api as x
from experiments.tools.member import Member, local_size, machines

from .team import Team

INPUTS, CLASSES, HIDDEN = 256, 10, 3  # of the network; HIDDEN layers of equal width
FP32_BYTES = 4
RATE = 0.3  # of learning
SEED = 7

TORCH, LIGHTNING = ENGINES = ("torch", "lightning")
ALONE, AVERAGED, APART = "alone", "averaged", "apart"


class Loss(x.Row):
    """The loss after `steps`: of one process with the whole batch, or of all workers."""

    workers: int
    run: str
    step: int
    loss: float


def parameter_count(width: int) -> int:
    """Return how many weights the network has."""
    return (INPUTS + 1) * width + (HIDDEN - 1) * (width + 1) * width + (width + 1) * CLASSES


def network(member: Member, width: int) -> Any:
    """Return the network, with the same weights in every member."""
    torch = member.torch
    torch.manual_seed(SEED)
    layers: list[Any] = []
    for before in (INPUTS, *[width] * (HIDDEN - 1)):
        layers += [torch.nn.Linear(before, width), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, CLASSES)).to(member.device.name)


def samples(member: Member, count: int) -> tuple[Any, Any]:
    """Return samples with a pattern to learn, the same in every member."""
    torch = member.torch
    torch.manual_seed(SEED + 1)
    inputs = torch.randn(count, INPUTS)
    classes = (inputs @ torch.randn(INPUTS, CLASSES)).argmax(1)
    return inputs.to(member.device.name), classes.to(member.device.name)


class ByTorch:
    """torch's DistributedDataParallel."""

    def __init__(self, team: Team, bucket_bytes: int) -> None:
        self._team, self._bucket_bytes = team, bucket_bytes

    def wrap(self, net: Any) -> Any:
        """Return the network as it is to be called."""
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(
            net, process_group=self._team.handle, bucket_cap_mb=self._bucket_bytes / x.MIB
        )

    def backward(self, loss: Any) -> None:
        """Compute the gradients, and average them meanwhile."""
        loss.backward()

    def apart(self, net: Any) -> contextlib.AbstractContextManager[Any]:
        """Leave the gradients of each member as they are, in what is done meanwhile."""
        found: contextlib.AbstractContextManager[Any] = net.no_sync()
        return found


class ByLightning:
    """Lightning's Fabric with its DDPStrategy, in processes that have already found each other."""

    def __init__(self, team: Team, bucket_bytes: int) -> None:
        from lightning.fabric import Fabric
        from lightning.fabric.plugins.environments import TorchElasticEnvironment
        from lightning.fabric.strategies import DDPStrategy

        member = team.member
        here = {
            "RANK": member.rank,
            "LOCAL_RANK": member.rank,
            "GROUP_RANK": 0,
            "WORLD_SIZE": member.size,
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": 0,
        }
        for name, value in here.items():  # what torchrun would say
            os.environ.setdefault(name, str(value))
        threads = member.torch.get_num_threads()
        self._fabric = Fabric(
            accelerator="cuda" if member.device.is_gpu else "cpu",
            devices=local_size(member.size),
            num_nodes=machines(),
            strategy=DDPStrategy(
                cluster_environment=TorchElasticEnvironment(),
                process_group=team.handle,
                bucket_cap_mb=bucket_bytes / x.MIB,
            ),
        )
        self._fabric.launch()
        member.torch.set_num_threads(threads)

    def wrap(self, net: Any) -> Any:
        """Return the network as it is to be called."""
        return self._fabric.setup_module(net)

    def backward(self, loss: Any) -> None:
        """Compute the gradients, and average them meanwhile."""
        self._fabric.backward(loss)

    def apart(self, net: Any) -> contextlib.AbstractContextManager[Any]:
        """Leave the gradients of each member as they are, in what is done meanwhile."""
        found: contextlib.AbstractContextManager[Any] = self._fabric.no_backward_sync(net)
        return found


class Replica:
    """One member's network, trained by a team; `batch` is this member's share."""

    def __init__(
        self, team: Team, *, engine: str, width: int, batch: int, bucket_bytes: int
    ) -> None:
        member = team.member
        self._team, self._torch, self._batch, self._width = team, member.torch, batch, width
        self._whole = samples(member, batch * team.size)
        start = batch * member.rank
        self._mine = tuple(part[start : start + batch] for part in self._whole)
        self._loss = member.torch.nn.CrossEntropyLoss()
        self._bare = network(member, width)
        by: type[ByTorch | ByLightning] = ByLightning if engine == LIGHTNING else ByTorch
        self._averaging = by(team, bucket_bytes)
        self._net = self._averaging.wrap(network(member, width))

    def losses(self, steps: int) -> list[Loss]:
        """Train `steps` together, then the same ones alone; return the loss at each."""
        found = []
        for step in range(steps):
            together = self._team.mean(float(self._averaged(self._net, self._mine)))
            alone = float(self._alone(self._whole)) if self._team.member.rank == 0 else together
            for run, loss in ((ALONE, alone), (AVERAGED, together)):
                if math.isfinite(loss):
                    found.append(Loss(workers=self._team.size, run=run, step=step + 1, loss=loss))
        return found

    def step(self, way: str) -> None:
        """Learn this member's share once: alone, with gradients averaged, or kept apart."""
        if way == ALONE:
            self._alone(self._mine)
        elif way == AVERAGED:
            self._averaged(self._net, self._mine)
        else:
            with self._averaging.apart(self._net):
                self._averaged(self._net, self._mine)

    def _alone(self, batch: tuple[Any, ...]) -> Any:
        loss = self._loss(self._bare(batch[0]), batch[1])
        loss.backward()
        return self._learned(self._bare, loss)

    def _averaged(self, net: Any, batch: tuple[Any, ...]) -> Any:
        loss = self._loss(net(batch[0]), batch[1])
        self._averaging.backward(loss)
        return self._learned(net, loss)

    def _learned(self, net: Any, loss: Any) -> Any:
        with self._torch.no_grad():  # by hand: torch's optimisers would add their own time
            for weights in net.parameters():
                weights.sub_(weights.grad, alpha=RATE)
                weights.grad = None
        return loss.detach()
