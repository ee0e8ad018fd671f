"""The presenter's window and the panel in which a lecture is put together."""

from __future__ import annotations

from types import SimpleNamespace

from app.window.core.settings import Settings
from app.window.lecture.conductor import Over
from app.window.lecture.keys import over_of
from experiments.core.words import Words
from tests.gallery.slides import fill, slide
from widgets.lecture.audience import Audience
from widgets.lecture.playlist import Playlist, PlaylistData
from widgets.lecture.presenter import Presenter
from widgets.lecture.presenter_data import Act, ItemLine, PresenterData, Standing
from widgets.style import theme as themes
from widgets.style.look import Look

LINES = (
    ItemLine("How far away is a byte?", "done, 84 votes", Standing.DONE),
    ItemLine("Do four threads make it four times faster?", "now: vote", Standing.NOW),
    ItemLine("Four threads, one counter: does it count right?", "about 9 s", Standing.READY),
    ItemLine("Copy while computing", "recording only", Standing.RECORDING),
    ItemLine("nonsuch", "There is no experiment called 'nonsuch'.", Standing.NOTHING),
)
NOTES = (
    "Ask who has used threads before. Let them vote twice. Point at the dashed line before you "
    "reveal the second bar."
)
LIVE = "This machine: quiet, on mains power, 4 of 4 threads free"


def presenter(look: Look, words: Words) -> Presenter:
    """Return the presenter's window during a vote, with a run that failed before."""
    made = Presenter(words, look, lambda _event: False)
    made.show_data(
        PresenterData(
            sees=words.say("lecture.sees"),
            then=words.say("lecture.then", {"step": words.say("lecture.next.run")}),
            notes=NOTES,
            clock="21:40",
            plan="of 45 minutes · 2 min behind plan",
            is_behind=True,
            items=LINES,
            place=1,
            acts=(
                Act("forward", "Run", "Page Down", is_main=True),
                Act("vote_again", "Vote again", "V"),
                Act("freeze", "Freeze", "F"),
                Act("show_recording", "Recording instead", "R"),
                Act("show_live", "Live again", "G", is_allowed=False),
            ),
            problem=words.say("problems.ended_from_outside"),
            machine=LIVE,
            worker=words.say("lecture.warm"),
        )
    )
    of_class = Look(themes.load("light"))
    pictures = []
    for step in ("vote", "run"):
        seen = slide(step, of_class, words)
        seen.resize(1280, 720)
        pictures.append(seen.grab())
    made.show_pictures(*pictures)
    return made


def over(kind: Over, look: Look, words: Words) -> Audience:
    """Return the window of the class on a single screen, with what lies over it."""
    made = Audience(words, look, lambda _event: False)
    made.resize(1280, 720)
    fill(made.slide, "vote", words, "gil-threads")
    session = SimpleNamespace(words=words, settings=Settings())
    made.over.show_content(over_of(session, kind))  # type: ignore[arg-type]
    return made


def playlist(look: Look, words: Words) -> Playlist:
    """Return the panel with five items, the first of them selected."""
    made = Playlist(words, look)
    made.show_data(
        PlaylistData(
            title="Ten things you believe about computers",
            lines=LINES,
            place=0,
            notes=NOTES,
            minutes=4.0,
            settings=words.say("playlist.usual_settings"),
            total="5 items · 45 minutes planned",
            can_undo=True,
        )
    )
    return made
