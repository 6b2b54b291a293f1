"""The reference gateway: a small clean proxy of the published shape, a known thing to check the measurement with.

Run as `python -m mocks.gateway --config FILE`; with faults as `python -m mocks.gateway.faulty`. Met over HTTP only.
"""
