"""The benchmark of the project: `make bench`. Ratios in one run, held against the budgets."""
