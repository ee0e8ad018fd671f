"""What can be measured, one folder per experiment, and the engine that runs it. No Qt."""
