"""Worlds, sessions, judges and releases."""
