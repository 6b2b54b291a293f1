"""Policies: what a chain looks for in prompts and answers, each a pure function of text."""
