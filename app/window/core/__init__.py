"""Shared by all places: session, runner, watcher, player, settings."""
