"""Speed, measured side by side with the straightforward way; never a lone time."""
