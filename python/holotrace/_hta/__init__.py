"""What the modules with HTA's names share. Nothing here is public."""
