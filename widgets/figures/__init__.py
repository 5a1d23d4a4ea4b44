"""Small figures, a module a lesson: one idea and at most one handle each, drawn at build in every position."""
