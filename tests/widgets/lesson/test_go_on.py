from __future__ import annotations

from PySide6.QtWidgets import QApplication, QPushButton

from experiments.core import words
from widgets.lesson.go_on import GoOn

ENGLISH = words.load("en")


def test_each_follow_up_is_a_link_that_leads_to_it(shown, qtbot):
    go_on = GoOn(ENGLISH)
    go_on.show_links([("numa", "How near?"), ("p2p", "Who talks?")])
    shown(go_on)
    links = go_on.findChildren(QPushButton)

    assert [link.accessibleName() for link in links] == ["Go on: How near?", "Go on: Who talks?"]
    with qtbot.waitSignal(go_on.wanted, check_params_cb=lambda name: name == "p2p"):
        links[1].click()


def test_nothing_is_seen_where_nothing_follows(shown):
    go_on = GoOn(ENGLISH)
    go_on.show_links([("numa", "How near?")])
    shown(go_on)
    go_on.show_links([])
    QApplication.processEvents()

    assert not go_on.isVisible()
