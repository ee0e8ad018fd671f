"""Connects the replay bar with the player of the shown run."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.window.core.player import Player
from app.window.experiment.page_model import PageModel
from widgets.controls.replay_bar import ReplayBar


class Replaying(QObject):
    """The bar is seen while the model has a player."""

    def __init__(self, model: PageModel, bar: ReplayBar) -> None:
        super().__init__()
        self._model, self._bar = model, bar
        bar.play_asked.connect(lambda speed: self._do(lambda player: player.play(speed)))
        bar.pause_asked.connect(self.pause)
        bar.step_asked.connect(lambda back: self._do(lambda player: player.step(back=back)))
        bar.seek_asked.connect(lambda t_s: self._do(lambda player: player.seek(t_s)))
        bar.restart_asked.connect(lambda: self._do(Player.restart))
        model.changed.connect(self._show)
        model.moved.connect(self._show)
        self._show()

    def begin(self) -> None:
        """Play from the beginning, and give the keyboard to the bar."""
        self._model.replay(self._bar.speed)
        self._bar.setFocus()

    def begin_instead(self) -> None:
        """Play the recording in place of a run."""
        self._model.play_instead(self._bar.speed)
        self._bar.setFocus()

    def pause(self) -> None:
        """Pause the replay."""
        self._do(Player.pause)

    def _do(self, act: Callable[[Player], object]) -> None:
        if self._model.player is not None:
            act(self._model.player)

    def _show(self) -> None:
        player = self._model.player
        self._bar.setVisible(player is not None)
        if player is not None:
            self._bar.show_state(
                player.t_s,
                player.total_s,
                is_playing=player.is_playing,
                left_out_s=player.left_out_s,
            )
