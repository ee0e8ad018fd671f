"""The page of the doctor with made-up findings."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from machine.doctor.verdicts import State
from widgets.doctor.page import DoctorPage
from widgets.doctor.page_data import Link, PageData, PythonChoice
from widgets.style.look import Look

_PIP = "~/thesis/.venv/bin/python -m pip install --upgrade --force-reinstall torch torchvision "
_COMMAND = f"{_PIP}--index-url https://download.pytorch.org/whl/cu130"
_BUILD = (
    "PyTorch 2.13.0+cpu in ~/thesis/.venv/bin/python was built for processors alone, and so cannot "
    "use the card. This is the commonest cause of all: on Windows, and from some indexes, pip "
    "brings this build. Install the other one:"
)
_BEFORE = (
    Link(title="Card", state=State.OK, text="NVIDIA GeForce RTX 4070 (0000:01:00.0)."),
    Link(title="Driver", state=State.OK, text="The driver nvidia 580.65.06 runs the card."),
    Link(
        title="Health",
        state=State.LOOK,
        text="GPU 0 has found broken memory, which it will replace by spare rows when it is reset. "
        "End the programs on it, then:",
        commands=("sudo nvidia-smi --gpu-reset -i 0", "sudo reboot"),
    ),
    Link(title="Surroundings", state=State.UNKNOWN, text="That cannot be told from here."),
    Link(title="PyTorch", state=State.OK, text="PyTorch 2.13.0+cpu is installed in ~/thesis."),
)
_WRONG = PageData(
    headline="The accelerator cannot be used yet. The first thing that is wrong: its build.",
    state=State.WRONG,
    text=_BUILD,
    commands=(_COMMAND, "https://pytorch.org/get-started/locally/"),
    links=(
        *_BEFORE,
        Link(title="Its build", state=State.WRONG, text=_BUILD, commands=(_COMMAND,)),
        Link(title="Code for this GPU"),
        Link(title="A sum on it"),
    ),
)
_WELL = PageData(
    headline="Nothing is wrong: PyTorch can use the GPU of NVIDIA.",
    state=State.OK,
    links=tuple(Link(title=link.title, state=State.OK, text=link.text) for link in _BEFORE),
    is_well=True,
)


FINDINGS = ("wrong", "well", "waiting", "none")


def doctor_page(kind: str, look: Look, words: Words) -> QWidget:
    window = QWidget()
    window.resize(1280, 720)
    page = DoctorPage(words, look, window)
    page.chooser.offer([PythonChoice(path="", text="~/thesis/.venv  ·  PyTorch 2.13.0+cpu")])
    page.chooser.show_chosen("")
    if kind == "waiting":
        page.wait("~/thesis/.venv", [Link(title=link.title) for link in _WRONG.links])
    elif kind == "none":
        page.refuse("There is nothing to be examined here.")
    else:
        page.tell(_WELL if kind == "well" else _WRONG)
    page.open()
    return window
