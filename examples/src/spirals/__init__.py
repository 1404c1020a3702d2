"""A small classifier of two spirals, written in plain JAX."""
