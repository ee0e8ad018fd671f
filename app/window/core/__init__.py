"""What all places share: session, runner, watcher, player, settings."""
