"""The laws that tests hold ours to, and `coreopsis check` a user's own: each broken is a Problem.

`core/rules.py` has fewer: those without which an experiment cannot even be loaded.
"""
