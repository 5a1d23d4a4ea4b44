"""The contents of the built pages: Markdown fences, static figures, cards, maps, formulas."""
