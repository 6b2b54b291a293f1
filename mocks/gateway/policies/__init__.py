"""Policies: what a chain looks for in prompts and responses, each a pure function of text."""
