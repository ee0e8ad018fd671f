"""A checker of models: faults that shapes and inputs reveal.

Method: the model runs once, with its real inputs. A hook before each layer checks the input: its
shape, its dtype, and whether it comes straight from another linear layer. A wrong input is replaced
by zeros that fit. So the walk continues and names every fault, while torch itself stops at the
first. Then the output is compared with the targets. Whole numbers are taken for kinds, and the
output for what `cross_entropy` turns into probabilities. Sizes should be multiples of 8, in 8-bit
integers of 16:
https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication (requirements
of tensor cores). Fewer outputs than that may be as many as there are kinds.

Not found: a missing activation between layers with a reshape between them, and too many outputs if
there are few targets. Not judged: the quality of a model.
"""

from __future__ import annotations

from typing import Any

from machine.record import Record

MULTIPLE = 8
NO_MULTIPLE, MISFIT, WRONG_NUMBERS = "no_multiple", "misfit", "wrong_numbers"
NO_TENSOR, NO_ACTIVATION, NOT_BATCH_FIRST = "no_tensor", "no_activation", "not_batch_first"
TARGET_SHAPE, TARGET_RANGE, STOPS = "target_shape", "target_range", "stops"
SPARE_OUTPUTS, SQUASHED, RAGGED = "spare_outputs", "squashed", "ragged_batch"
KINDS = (NO_MULTIPLE, MISFIT, WRONG_NUMBERS, NO_TENSOR, NO_ACTIVATION, NOT_BATCH_FIRST,
         TARGET_SHAPE, TARGET_RANGE, STOPS, SPARE_OUTPUTS, SQUASHED, RAGGED)  # fmt: skip
INPUTS, TARGETS, LOADER = "inputs", "targets", "loader"
ENOUGH = 10  # targets for each output, until one that none of them names is spare
LONGEST = 140  # characters of torch's message


class Remark(Record, kw_only=False):
    """A fault, in which layer, or in `inputs` or `targets`; `detail` is in symbols."""

    kind: str
    where: str
    detail: str


def check(model: Any, inputs: Any, targets: Any, multiple: int = MULTIPLE) -> list[Remark]:
    """Return the remarks on a torch module with these inputs, in the order they are met."""
    import torch

    walk = _Walk(torch, multiple)
    fed = walk.fed(inputs, targets)
    hooks = []
    for name, layer in model.named_modules():
        if not list(layer.children()):
            hooks.append(layer.register_forward_pre_hook(walk.before(name, layer)))
            hooks.append(layer.register_forward_hook(walk.after(name, layer)))
    try:
        with torch.no_grad():
            walk.compare(model(fed), targets)
    except Exception as error:  # noqa: BLE001 - a model is somebody's code, and may raise anything
        walk.remarks.append(stopped("forward()", error))
    finally:
        for hook in hooks:
            hook.remove()
    return walk.remarks


def check_loader(loader: Any) -> list[Remark]:
    """Return the remark that a loader's last batch is shorter than its first, if it is."""
    sizes = [len(targets) for _, targets in loader]
    is_ragged = sizes[-1] != sizes[0]
    return [Remark(RAGGED, LOADER, f"{sizes[-1]} < {sizes[0]}")] if is_ragged else []


def stopped(where: str, error: Exception) -> Remark:
    """Return the remark that something raised an error, with its first line."""
    said = str(error).strip().partition("\n")[0] or type(error).__name__
    return Remark(STOPS, where, said[:LONGEST])


class _Walk:
    """Collects remarks while a model runs."""

    def __init__(self, torch: Any, multiple: int) -> None:
        self.remarks: list[Remark] = []
        self._torch, self._multiple = torch, multiple
        self._samples = self._kinds = 0  # how many there are, by the targets
        nn = torch.nn
        self._convolutions = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
        self._recurrent = (nn.RNN, nn.LSTM, nn.GRU)

    def fed(self, inputs: Any, targets: Any) -> Any:
        """Check the whole model's input; return it as a tensor."""
        if not self._torch.is_tensor(inputs):
            self._remark(NO_TENSOR, INPUTS, type(inputs).__name__)
            is_loader = isinstance(inputs, self._torch.utils.data.DataLoader)
            inputs = next(iter(inputs))[0] if is_loader else self._torch.as_tensor(inputs)
        self._samples = len(targets)
        self._kinds = 0 if targets.is_floating_point() else int(targets.max()) + 1
        self._sizes(INPUTS, inputs.shape[0])
        return inputs

    def before(self, name: str, layer: Any) -> Any:
        """Return a hook that checks a layer's input, and makes it fit."""
        nn, where = self._torch.nn, f"{name} {type(layer).__name__}"

        def linear(fed: Any) -> Any:
            from_linear = getattr(fed, "straight_from", None)
            if from_linear is not None:
                self._remark(NO_ACTIVATION, where, f"{from_linear} → {name}")
            if not layer.out_features == self._kinds < self._multiple:
                self._sizes(where, layer.out_features)
            return self._fitting(where, self._floats(where, fed, layer), -1, layer.in_features)

        def convolution(fed: Any) -> Any:
            self._sizes(where, layer.out_channels)
            return self._fitting(where, self._floats(where, fed, layer), 1, layer.in_channels)

        def recurrent(fed: Any) -> Any:
            self._sizes(where, layer.hidden_size)
            is_batch_at_0 = fed.dim() == 3 and fed.shape[0] == self._samples != fed.shape[1]
            if not layer.batch_first and is_batch_at_0:
                self._remark(NOT_BATCH_FIRST, where, _shape(fed))
            return self._fitting(where, self._floats(where, fed, layer), -1, layer.input_size)

        def embedding(fed: Any) -> Any:
            self._sizes(where, layer.num_embeddings, layer.embedding_dim)
            if fed.is_floating_point():
                self._remark(WRONG_NUMBERS, where, f"{_dtype(fed)} ≠ int64")
                return fed.long()
            return fed

        looks = {nn.Linear: linear, nn.Embedding: embedding}
        looks |= dict.fromkeys(self._convolutions, convolution)
        looks |= dict.fromkeys(self._recurrent, recurrent)
        look = looks.get(type(layer))

        def hook(_layer: Any, fed: tuple[Any, ...]) -> Any:
            return None if look is None else (look(fed[0]), *fed[1:])

        return hook

    def after(self, name: str, layer: Any) -> Any:
        """Return a hook that marks the output of a linear layer, and one between 0 and 1."""
        nn = self._torch.nn

        def hook(_layer: Any, _fed: Any, output: Any) -> None:
            if isinstance(layer, nn.Linear):
                output.straight_from = name
            elif isinstance(layer, nn.Sigmoid | nn.Softmax):
                output.squashed_by = f"{name} {type(layer).__name__}"

        return hook

    def compare(self, output: Any, targets: Any) -> None:
        """Compare the whole model's output with the targets."""
        if targets.is_floating_point():
            if output.shape != targets.shape:
                self._remark(TARGET_SHAPE, TARGETS, f"{_shape(targets)} ≠ {_shape(output)}")
        elif output.dim() == targets.dim() + 1:  # which of so many kinds
            if squashed_by := getattr(output, "squashed_by", None):
                self._remark(SQUASHED, squashed_by, "0 to 1")
            least, most, last = int(targets.min()), int(targets.max()), output.shape[1] - 1
            if least < 0 or most > last:
                detail = f"{most} > {last}" if most > last else f"{least} < 0"
                self._remark(TARGET_RANGE, TARGETS, detail)
            elif most < last and targets.numel() >= ENOUGH * output.shape[1]:
                self._remark(SPARE_OUTPUTS, TARGETS, f"{output.shape[1]} > {self._kinds}")
        else:
            self._remark(TARGET_SHAPE, TARGETS, f"{_shape(targets)} ≠ {_shape(output)}")

    def _floats(self, where: str, fed: Any, layer: Any) -> Any:
        wanted = next(layer.parameters()).dtype
        if fed.dtype != wanted:
            self._remark(WRONG_NUMBERS, where, f"{_dtype(fed)} ≠ {str(wanted).split('.')[-1]}")
        return fed.to(wanted)

    def _fitting(self, where: str, fed: Any, axis: int, wanted: int) -> Any:
        if fed.shape[axis] == wanted:
            return fed
        self._remark(MISFIT, where, f"{fed.shape[axis]} ≠ {wanted}")
        shape = list(fed.shape)
        shape[axis] = wanted
        return fed.new_zeros(shape)

    def _sizes(self, where: str, *sizes: int) -> None:
        """Check sizes that a person chose; a single output is allowed."""
        for size in sizes:
            if size > 1 and size % self._multiple:
                self._remark(NO_MULTIPLE, where, str(size))

    def _remark(self, kind: str, where: str, detail: str) -> None:
        self.remarks.append(Remark(kind, where, detail))


def _shape(tensor: Any) -> str:
    return " × ".join(map(str, tensor.shape))


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype).rpartition(".")[2]
