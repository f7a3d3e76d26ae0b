"""Pictures of what a model does and how it was trained."""
