"""Sheets over the window: settings, shortcuts, palette, questions, credits, errors."""
