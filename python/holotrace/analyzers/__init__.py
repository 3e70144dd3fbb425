"""The analyses behind TraceAnalysis under HTA's names."""
