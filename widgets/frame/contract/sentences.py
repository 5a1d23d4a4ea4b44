"""Sentences that carry their claims, so that a test can check for any setting whether a sentence is true.

    Said("The reward falls, because the batches are too old.", {
        "the reward falls": lambda: r.reward[-1] < r.reward[0] - 0.05,
        "fresh batches mend it": lambda: end(run, replace(k, lag=0)).reward[-1] > r.reward[-1] + 0.05,
    })

A claim is a function without arguments, so it costs nothing when the sentence is only shown. It is computed from the
result in a different way than the branch that chose the sentence: a cause is checked by undoing it, a comparison by its
two sides. tests/widgets/frame/test_sentences.py samples settings of every page and asks for `false_claims`.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

Claims = Mapping[str, Callable[[], bool]]


class Said(str):
    """A sentence and its claims, {assertion: function that says whether it is true}. Everything else sees only the
    text.
    """

    claims: Claims

    def __new__(cls, text: str, claims: Claims) -> "Said":
        sentence = super().__new__(cls, text)
        sentence.claims = claims
        return sentence


def false_claims(sentence: str) -> list[str]:
    """The claims of a sentence that are not true; [] for a plain string, which makes no claims that can be checked."""
    return [what for what, holds in getattr(sentence, "claims", {}).items() if not holds()]


@lru_cache(maxsize=64)
def end(run: Callable[[Any], Iterator[Any]], knobs: Any) -> Any:
    """The last result of a widget's `run` with other knobs: what would happen, for use in a claim."""
    *_, last = run(knobs)
    return last
