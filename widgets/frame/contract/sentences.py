"""Sentences that carry what they assert, so that a test can ask of any setting whether what is said there is so.

    Said("The reward falls, because the batches are too old.", {
        "the reward falls": lambda: r.reward[-1] < r.reward[0] - 0.05,
        "fresh batches mend it": lambda: end(run, replace(k, lag=0)).reward[-1] > r.reward[-1] + 0.05,
    })

A claim is a function of nothing, so that it costs nothing where the sentence is only shown. It is computed from the
result, another way than the branch that chose the sentence: a cause is claimed by undoing it, a comparison by its
two sides. tests/widgets/frame/test_sentences.py draws settings of every page and asks for `false_claims`.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

Claims = Mapping[str, Callable[[], bool]]


class Said(str):
    """A sentence and its claims, {what is asserted: whether it is so}. To everything else it is its text."""

    claims: Claims

    def __new__(cls, text: str, claims: Claims) -> "Said":
        sentence = super().__new__(cls, text)
        sentence.claims = claims
        return sentence


def false_claims(sentence: str) -> list[str]:
    """What a sentence asserts and is not so; [] for a plain string, which asserts nothing that can be asked."""
    return [what for what, holds in getattr(sentence, "claims", {}).items() if not holds()]


@lru_cache(maxsize=64)
def end(run: Callable[[Any], Iterator[Any]], knobs: Any) -> Any:
    """The last result of a widget's `run` at other knobs: what would be, as a claim asks for it."""
    *_, last = run(knobs)
    return last
