"""A stand-in for a gateway's control plane: hands out configuration, admits requests, takes usage and events."""
