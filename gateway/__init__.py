"""One metered door to language models."""
