"""The report of a checkup."""

import re

from msgspec.structs import replace

from app.checkup.compare import compare
from app.checkup.in_words import MARKS, day
from app.reports.checkup_report import checkup_report
from app.reports.document import Facts, Heading, Plot, Table
from app.reports.pictures import LOW_PX, drawer
from app.reports.plain import to_text
from app.reports.privacy import Include
from app.reports.writing import to_html
from experiments.checkup.order import order_of
from experiments.checkup.rejudge import with_order
from experiments.checkup.result import Word
from experiments.core import words
from machine.model import to_json
from tests.app.checkup.made import bandwidth, checkup, fact
from tests.experiments.checkup.made import workstation

WORDS = words.load()
BYTES = re.compile(r"\b\d{8,}\b")
BOUGHT = """AMD Ryzen 9 9950X3D
2 x 32 GB DDR5-6000 CL30
NVIDIA GeForce RTX 5090 32 GB
Noctua NH-D15"""


def faulty():
    """One module is missing, and the profile of the other is off."""
    here = workstation()
    first, filled, *others = here.memory.modules
    slow = replace(
        filled,
        bank="P0 CHANNEL A",
        part_number="F5-6000J3038F32G",
        maker="G Skill Intl",
        transfers_per_s=4.8e9,
        rated_transfers_per_s=4.8e9,
    )
    modules = (first, slow, *(replace(each, size_bytes=0) for each in others))
    memory = replace(here.memory, modules=modules, total_bytes=33_285_996_544)
    return replace(here, memory=memory)


def ticket():
    """The checkup of a faulty machine, with what was bought and what was watched."""
    trace = [
        {"t_s": float(t_s), "core_hz": 5e9 - 1e7 * t_s, "cpu_celsius": 50.0 + t_s, "gpu0_watts": 99}
        for t_s in range(30)
    ]
    link = fact(
        "gpu-link", Word.LOOK, "fewer_lanes", "gpu1",
        generation=5, width=8, best_generation=5, best_width=16,
    )  # fmt: skip
    kept = checkup(link, bandwidth(), machine=to_json(faulty()), trace=tuple(trace))
    return with_order(kept, order_of(BOUGHT), None)


def text_of(result):
    return to_text(checkup_report(WORDS, result, Include()), WORDS)


def table_under(document, heading):
    """Return the rows of the table below a heading."""
    parts = list(document.parts)
    at = parts.index(Heading(WORDS.say(heading)))
    return next(part for part in parts[at:] if isinstance(part, Table))


def test_a_ticket_names_every_part_of_the_machine():
    told = " ".join(text_of(ticket()).split())
    for part in (
        "ProArt X870E-CREATOR WIFI",
        "American Megatrends Inc. 1605, 2025-07-18",
        "16 cores, 32 threads",
        "31 GiB, 1 of 4 slots filled",
        "Ubuntu 26.04, 6.17.0-generic",
        "NVIDIA 580.95.05",
        "Samsung SSD 990 PRO 2TB 2.00 TB",
    ):
        assert part in told
    document = checkup_report(WORDS, ticket(), Include())
    modules, gpus = (
        table_under(document, f"checkup.ticket.{name}").rows for name in ("modules", "gpus")
    )
    (module,) = (row for row in modules if row[1] == "32 GiB")
    assert module == (
        "DIMM_A2, P0 CHANNEL A", "32 GiB", "DDR5", "4800 MT/s", "6000 MT/s",
        "G Skill Intl F5-6000J3038F32G",
    )  # fmt: skip
    assert [row[1:3] for row in gpus] == [
        ("31.8 GiB", "Gen5 ×16"),
        ("31.8 GiB", "Gen5 ×8 of Gen5 ×16"),
    ]


def test_no_size_is_told_in_bytes_and_no_piece_by_its_number():
    named = replace(ticket(), machine={**ticket().machine, "system": {"serial": "SN-123456"}})
    for result in (ticket(), named, checkup()):
        document = checkup_report(WORDS, result, Include(data=False))
        assert not BYTES.search(to_text(document, WORDS))
        assert "SN-123456" not in to_text(document, WORDS)


def test_what_is_not_fine_stands_first_and_each_line_of_the_order_has_its_answer():
    document = checkup_report(WORDS, ticket(), Include())
    heads = [part.text for part in document.parts if isinstance(part, Heading)]
    assert heads[0].startswith(MARKS[Word.PROBLEM] + " 2 x 32 GB DDR5-6000 CL30: 32 GiB DDR5")
    assert heads[1].startswith(MARKS[Word.LOOK])
    assert heads.index(WORDS.say("checkup.ticket.machine")) > 1
    answers = table_under(document, "checkup.order")
    said = [WORDS.say(f"checkup.answers.{kind}") for kind in ("here", "less", "here", "untold")]
    assert [state.word for state in answers.states] == said
    assert [row[0] for row in answers.rows] == BOUGHT.splitlines()


def test_the_load_is_a_table_a_plot_and_in_a_text_a_curve_of_letters(qapp):
    document = checkup_report(WORDS, ticket(), Include(), None, drawer(WORDS, LOW_PX))
    plots = [part for part in document.parts if isinstance(part, Plot)]
    assert [plot.caption for plot in plots] == [
        WORDS.say(f"checkup.views.{name}") for name in ("clock_hz", "heat_celsius", "power_watts")
    ]
    ends = table_under(document, "checkup.trace").rows
    assert ends[0][1:] == ("5 GHz", "4.71 GHz", "5 GHz", "4.71 GHz")
    text = to_text(document, WORDS)
    heat = plots[1].sketch
    assert heat[0].split()[1][0] == "▁"
    assert heat[0].split()[1][-1] == "█"
    assert heat[0] in text
    page = to_html(document, WORDS)
    assert page.count('<svg class="light"') == page.count('<svg class="dark"') == 3


def test_a_strangers_trace_and_machine_end_nothing():
    trace = (
        {"t_s": "x", "core_hz": 1e9},
        {"core_hz": None, "cpu_celsius": 1e400, "gpu0_watts": "9"},
    )
    for machine in ({"format": 1}, {"cpu": []}, {}):
        told = replace(checkup(trace=trace), machine=machine)
        assert WORDS.say("checkup.ticket.machine") not in text_of(told)


def conditions(document):
    """The last facts of all."""
    return dict([part for part in document.parts if isinstance(part, Facts)][-1].pairs)


def test_the_date_of_the_baseline_is_that_of_the_baseline():
    before = replace(checkup(id="old"), at="2026-01-02T03:04:05+00:00")
    now = checkup(id="new", baseline="old")
    told = conditions(checkup_report(WORDS, now, Include(), compare(before, now)))
    assert told[WORDS.say("checkup.sources.baseline")] == day(before.at)


def test_without_the_baseline_itself_no_date_is_told():
    now = checkup(id="new", baseline="old")
    for compared in (None, compare(checkup(fact(), bandwidth(), id="other"), now)):
        told = conditions(checkup_report(WORDS, now, Include(), compared))
        assert WORDS.say("checkup.sources.baseline") not in told
