"""What the last lessons compute from all that stands before them."""
