"""Functions that readers edit, a module each: where they begin, and what is shown of what came of it."""
