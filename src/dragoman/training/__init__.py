"""From batches to trained weights: loss, optimizer, schedule, step, loop, checkpoint."""
