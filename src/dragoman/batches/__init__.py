"""From pairs of text to padded batches: prepared on disk once, then dealt out by token budget."""
