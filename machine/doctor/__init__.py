"""Why can or cannot this machine's accelerators be used? Facts first, then a pure judgement."""
