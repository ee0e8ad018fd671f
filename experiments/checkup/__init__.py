"""The checkup: rules as data, evidence, the judge, and who carries it out."""
