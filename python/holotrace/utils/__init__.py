"""Helpers under HTA's names."""
