"""The checkup: rules as data, evidence, the judge."""
