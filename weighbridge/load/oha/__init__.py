"""oha: what to run for a window, and what each of its outputs says, in every generation of it."""
