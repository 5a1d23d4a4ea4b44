"""What the last lessons compute from everything before them."""
