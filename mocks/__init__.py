"""Programs that stand in for a provider, a control plane and a gateway; met over HTTP only."""
