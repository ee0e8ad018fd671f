"""Reports as files: the run in them is found, and nothing else is."""

from __future__ import annotations

import json
import time

import pytest

from experiments.core.problems import UserError
from experiments.engine import report_file
from experiments.engine.recording import read
from experiments.engine.report_file import BLOCK, FORMAT, HEAD_LETTERS, carried_by
from tests.app.recordings import burst

RUN = burst()
LINES = [json.loads(line) for line in RUN.data.splitlines()]


def data(**changes) -> str:
    lines = ",".join(line.decode() for line in RUN.data.splitlines())
    run = changes.pop("run", f'{{"lines":[{lines}],"notes":{{"note":"x"}}}}')
    head = {"format": FORMAT, "version": 1, **changes}
    return f'{json.dumps(head)[:-1]}, "run": {run}}}'


def page(block: str, *, before: str = "", attributes: str = "") -> str:
    attributes = attributes or f'type="application/json" id="{BLOCK}"'
    return f"<!DOCTYPE html><html><head>{before}<script {attributes}>{block}</script></head></html>"


@pytest.fixture
def write(tmp_path):
    def write(text: str | bytes, name: str = "x.html"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


GOOD = {
    "a page": page(data()),
    "other attributes, in another order": page(
        data(), attributes=f"data-x=1 id={BLOCK} type='application/json'"
    ),
    "blanks and a mark at its beginning": "\ufeff\n  " + page(data()),
    "another script before": page(data(), before="<script>var x = '<b>'</script>"),
    "only the first": page(data()) + page("{}"),
    "data as a file": data(),
    "a long head": page(data(), before=f"<style>{'a' * (HEAD_LETTERS - 2000)}</style>"),
}


@pytest.mark.parametrize("what", GOOD)
def test_a_report_is_read_as_its_run(write, tmp_path, what):
    original = read(RUN.write(tmp_path / "run.coreopsis.jsonl"))
    path = write(GOOD[what])
    assert read(path) == original
    assert json.loads(carried_by(path).notes) == {"note": "x"}


BAD = {
    "any page": ("<html><body>hello</body></html>", "report_foreign"),
    "one that names it in its text": (f"<p>{BLOCK} {data()}</p>", "report_foreign"),
    "code": (page(data(), attributes=f'id="{BLOCK}"'), "report_foreign"),
    "another element": (page(data()).replace("script", "template"), "report_foreign"),
    "in a comment": (f"<!--{page(data())}-->", "report_foreign"),
    "cut off": (page(data())[:-600], "report_foreign"),
    "another format": (page(data(format="x")), "report_foreign"),
    "a newer one": (page(data(version=2)), "recording_newer"),
    "without a run": (page(data(run="null")), "report_without_run"),
    "without a line": (page(data(run='{"lines":[]}')), "report_without_run"),
    "no JSON": (page("{x"), "report_damaged"),
    "deep JSON": (page('{"a":' * 100_000), "report_damaged"),
    "another type": (page(data(run='{"lines":7}')), "report_damaged"),
    "no UTF-8": (page("\xff").encode("latin-1"), "report_damaged"),
    "lines that are no run": (page(data(run='{"lines":[1]}')), "recording_foreign"),
    "a damaged line": (
        page(data().replace('"type":"row"', '"type":"rwo"', 1)),
        "recording_damaged",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_another_is_one_sentence(write, what):
    text, key = BAD[what]
    with pytest.raises(UserError) as caught:
        read(write(text))
    assert caught.value.problem.key == key


def test_one_that_is_too_large_is_not_read(write, monkeypatch):
    monkeypatch.setattr(report_file, "LIMIT_BYTES", 1000)
    with pytest.raises(UserError) as caught:
        read(write(page(data())))
    assert caught.value.problem.key == "recording_too_large"


@pytest.mark.parametrize("piece", ["<!", "<!--", "<a ", "<?", "</", "<![CDATA[", "&", "<a b='"])
def test_a_page_that_takes_the_parser_long_takes_it_no_longer(write, piece):
    path = write("<html>" + piece * (2**23 // len(piece)))
    start_s = time.process_time()
    with pytest.raises(UserError):
        read(path)
    assert time.process_time() - start_s < 5.0


def test_a_run_is_no_report(tmp_path):
    assert carried_by(RUN.write(tmp_path / "x.coreopsis.jsonl")) is None
    assert carried_by(RUN.write(tmp_path / "x.coreopsis.jsonl.gz")) is None
