"""What can be measured, one file per experiment, and the engine that runs it. No Qt."""
