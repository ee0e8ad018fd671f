from __future__ import annotations

import pytest

from experiments.numbers.clinic.checker import (
    INPUTS,
    LOADER,
    MISFIT,
    NO_ACTIVATION,
    NO_MULTIPLE,
    NO_TENSOR,
    NOT_BATCH_FIRST,
    RAGGED,
    SPARE_OUTPUTS,
    SQUASHED,
    STOPS,
    TARGET_RANGE,
    TARGET_SHAPE,
    TARGETS,
    WRONG_NUMBERS,
    check,
    check_loader,
)

torch = pytest.importorskip("torch")
nn = torch.nn


def told(model, inputs, targets, **more) -> list[tuple[str, str]]:
    return [(each.kind, each.where) for each in check(model, inputs, targets, **more)]


def of_kinds(count, kinds=8):
    return torch.arange(count) % kinds


def test_a_model_without_faults_is_left_alone():
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))

    assert told(model, torch.rand(32, 8), of_kinds(32)) == []


def test_sizes_that_somebody_chose_are_multiples_of_eight_or_as_wanted():
    model = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 9))
    inputs, targets = torch.rand(33, 3), of_kinds(33, 9)  # 3 is what the data have

    assert told(model, inputs, targets) == [(NO_MULTIPLE, INPUTS), (NO_MULTIPLE, "2 Linear")]
    assert (NO_MULTIPLE, "0 Linear") in told(model, inputs, targets, multiple=16)


def test_a_single_output_is_what_it_is():
    assert told(nn.Linear(8, 1), torch.rand(8, 8), torch.rand(8, 1)) == []


def test_a_few_outputs_may_be_as_many_as_there_are_kinds_and_no_more():
    few = {count: nn.Sequential(nn.Linear(8, count)) for count in (3, 8)}
    inputs, targets = torch.rand(80, 8), of_kinds(80, 3)

    assert told(few[3], inputs, targets) == []
    assert told(few[8], inputs, targets) == [(SPARE_OUTPUTS, TARGETS)]
    assert told(few[8], inputs[:72], targets[:72]) == []  # a kind may be rare


@pytest.mark.parametrize("last", [nn.Sigmoid(), nn.Softmax(1)])
def test_probabilities_are_no_outputs_for_cross_entropy(last):
    model = nn.Sequential(nn.Linear(8, 8), last)
    where = f"1 {type(last).__name__}"

    assert told(model, torch.rand(8, 8), of_kinds(8)) == [(SQUASHED, where)]
    assert told(model, torch.rand(8, 8), torch.rand(8, 8)) == []  # for another loss
    assert told(nn.Sequential(nn.Sigmoid(), nn.Linear(8, 8)), torch.rand(8, 8), of_kinds(8)) == []


def loader_of(count, **more):
    data = torch.utils.data.TensorDataset(torch.rand(count, 8), of_kinds(count))
    return torch.utils.data.DataLoader(data, batch_size=32, **more)


def test_a_loader_is_no_batch_and_its_last_one_may_be_short():
    model = nn.Linear(8, 8)

    assert told(model, loader_of(64), of_kinds(32)) == [(NO_TENSOR, INPUTS)]
    assert [(each.kind, each.where, each.detail) for each in check_loader(loader_of(65))] == [
        (RAGGED, LOADER, "1 < 32")
    ]
    assert check_loader(loader_of(64)) == check_loader(loader_of(65, drop_last=True)) == []


def test_all_that_does_not_fit_is_named_not_only_the_first():
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.Conv2d(16, 8, 3), nn.Flatten(), nn.Linear(8, 8)
    )  # fmt: skip

    assert told(model, torch.rand(8, 3, 8, 8), of_kinds(8)) == [
        (MISFIT, "1 Conv2d"), (MISFIT, "3 Linear"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("layer", "inputs"),
    [
        (nn.Linear(8, 8), torch.ones(8, 8, dtype=torch.long)),
        (nn.Linear(8, 8), torch.ones(8, 8, dtype=torch.float64)),
        (nn.Conv1d(8, 8, 1), torch.ones(8, 8, 8, dtype=torch.long)),
    ],
)
def test_numbers_of_another_kind_than_the_weights_are_named(layer, inputs):
    shape = (8,) if inputs.dim() == 2 else (8, 8)

    found = told(nn.Sequential(layer), inputs, torch.zeros(shape, dtype=torch.long))

    assert found == [(WRONG_NUMBERS, f"0 {type(layer).__name__}")]


def test_words_are_whole_numbers():
    model = nn.Sequential(nn.Embedding(8, 8))

    assert told(model, torch.rand(8), of_kinds(8)) == [(WRONG_NUMBERS, "0 Embedding")]


def test_a_list_is_no_tensor():
    model = nn.Sequential(nn.Linear(2, 8))

    assert told(model, [[1.0, 2.0]] * 8, of_kinds(8)) == [(NO_TENSOR, INPUTS)]


@pytest.mark.parametrize(
    ("between", "is_missing"),
    [([], True), ([nn.ReLU()], False), ([nn.Tanh(), nn.Dropout()], False)],
)
def test_two_linear_layers_need_something_between_them(between, is_missing):
    model = nn.Sequential(nn.Linear(8, 8), *between, nn.Linear(8, 8))

    found = told(model, torch.rand(8, 8), of_kinds(8))

    assert found == ([(NO_ACTIVATION, f"{len(between) + 1} Linear")] if is_missing else [])


def last_of(recurrent):
    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.read = recurrent

        def forward(self, fed):
            return self.read(fed)[0][:, -1]

    return Last()


def test_a_batch_that_is_taken_for_time_is_named():
    inputs, targets = torch.rand(16, 5, 8), of_kinds(16)

    assert told(last_of(nn.LSTM(8, 8)), inputs, targets) == [(NOT_BATCH_FIRST, "read LSTM")]
    assert told(last_of(nn.LSTM(8, 8, batch_first=True)), inputs, targets) == []


def test_targets_have_the_shape_and_range_of_the_output():
    one, eight = nn.Linear(8, 1), nn.Linear(8, 8)
    inputs = torch.rand(8, 8)

    assert told(one, inputs, torch.rand(8)) == [(TARGET_SHAPE, TARGETS)]
    assert told(eight, inputs, of_kinds(8, 9) + 1) == [(TARGET_RANGE, TARGETS)]
    assert told(eight, inputs, of_kinds(8).view(8, 1)) == [(TARGET_SHAPE, TARGETS)]


def test_a_model_that_raises_is_told_and_no_hook_stays():
    class Broken(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, fed):
            raise ValueError("on purpose\nand more")

    model = Broken()
    (remark,) = check(model, torch.rand(8, 8), of_kinds(8))

    assert (remark.kind, remark.detail) == (STOPS, "on purpose")
    assert not model.layer._forward_hooks  # noqa: SLF001  (torch tells it nowhere else)
    assert not model.layer._forward_pre_hooks  # noqa: SLF001  (likewise)
