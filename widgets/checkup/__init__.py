"""The page of the checkup: rows by stage, the soak and the order, what was watched."""
