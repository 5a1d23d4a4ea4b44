"""How hypothesis behaves everywhere: a slow machine is no failure."""
from hypothesis import settings

settings.register_profile("book", deadline=None)
settings.load_profile("book")
