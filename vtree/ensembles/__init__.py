"""Many trees as one: how their samples are drawn, how they grow together, how they are combined."""
