"""The command line of this checkout; another project takes the collection with the same two lines."""

from weighbridge.tasks import namespace

__all__ = ["namespace"]
