"""The processes of a measurement: their environment, libraries, errors and end."""
