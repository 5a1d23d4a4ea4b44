"""What every widget is written in and run by: no lesson of its own."""
