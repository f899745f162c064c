"""Two runs side by side: what changed, which scores moved, and by what."""
