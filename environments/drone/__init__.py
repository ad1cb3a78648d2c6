"""Drone survival games over a structural causal model."""
