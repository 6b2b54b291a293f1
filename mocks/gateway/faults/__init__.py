"""What a gateway can do wrong on purpose, each fault a wrapper around an unchanged proxy."""
