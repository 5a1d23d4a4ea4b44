"""What readers are given to do with a widget: a module each, of its name, with a function to change and goals."""
