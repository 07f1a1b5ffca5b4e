"""What a graph grows by: each family is a list of (name, weight, function of a Scope)."""
