"""Why can or cannot this machine's accelerators be used? Evidence first, then a pure judgement."""
