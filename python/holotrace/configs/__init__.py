"""Settings under HTA's names."""
