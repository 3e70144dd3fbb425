"""Traces, symbols, filters and call graphs under HTA's names."""
