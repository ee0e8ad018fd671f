"""The place of the checkup."""
