"""Weighbridge measured by itself: mock, probe, pacing, reading. Run by `nox -s bench_self`, never a timed test."""
