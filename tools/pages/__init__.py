"""What stands on a page: fences, figures drawn at build, cards, maps, formulas."""
