"""What this machine is, what it could do at best, and what it is doing now. No Qt."""
