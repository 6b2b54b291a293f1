"""The mock provider and the probe as one would write them with well-known libraries, for comparison only."""
