"""The diagnosis of accelerators: gather the evidence first, then judge it by pure functions."""
