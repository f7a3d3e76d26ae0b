"""From source ids to translations: search, scoring, alignment, and the Translator over them."""
