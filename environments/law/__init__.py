"""Environments made of one scientific card each."""
