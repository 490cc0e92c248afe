"""What several pictures share: colours, themes, tables, labels, placed nodes."""
