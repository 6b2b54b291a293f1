"""A stand-in for an LLM provider: responses chat requests after a known time and stamps when it had and sent them."""
