"""What people see: text made harmless for terminals, tables, HTML for notebooks."""
