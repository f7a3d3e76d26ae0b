"""Our speed and memory beside those of others, measured in one run; never a lone time."""
