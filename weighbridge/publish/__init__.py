"""What people see: views with final text, charts, pages, terminal tables and progress."""
