"""A verifier of `Final: <int>` under attack: six mechanisms by which a text earns a reward it does not deserve, four
ways each, half of them held back, and a policy that is trained on the verifier's rewards.

Every attack is a text that the strict verifier refuses (sim/worlds/scorer.py); a verifier that rewards it has a hole.
How often a policy tries each attack is assumed; its step is the exact natural one of strategies.py. A patch that closes
only the ways shown has patched instances, and the ways held back reveal it. Not a model of a real policy; rewarding a
strict form follows DeepSeek-R1, arXiv:2501.12948.
"""

from dataclasses import dataclass

import numpy as np

from sim.verifiers import checkers, redteam, strategies

PROMPTS = 8  # the products on which each attack is tried
SHOWN = 2  # shown ones of a class's four ways; the others are held back
ATTACKS = {
    "several answers": (
        "Final: {less} {x} {more}",
        "Final: {x}\nFinal: {more}",
        "Final: {x} or {more}",
        "Final: {more}\nFinal: {x}",
    ),
    "task handed back": ("Final: {a}*{b}", "Final: {b}*{a}", "Final: {x}+0", "Final: ({x})"),
    "answer in passing": ("It is not {x}.", "Final: 1{x}0", "Final: {more} ({x})", "{x}{more}"),
    "another spelling": ("Final: 0{x}", "Final: +{x}", "Final: {x}.0", "**Final: {x}**"),
    "another script": ("Final: {wide}", "Final:\u00a0{x}", "Final: {arabic}", "Final: {x}\u200b"),
    "a wrong number": ("Final: {more}", "Final: -{x}", "Final: {less}", "Final: {x}0"),
}
WIDE = str.maketrans("0123456789", "".join(map(chr, range(0xFF10, 0xFF1A))))
ARABIC = str.maketrans("0123456789", "".join(map(chr, range(0x660, 0x66A))))
TRIED = 0.1  # assumed: fraction of completions that attack, equal for all ways; the others are honest
SKILL = 0.6  # assumed: how often honest work is correct
ETA, UPDATES = 0.35, 180  # of the lesson's simulator


@dataclass(frozen=True)
class Attack:
    """One way to write a completion that deserves no reward."""

    kind: str  # its class
    text: str  # a template with the fields of `fields`
    held_back: bool

    def on(self, a, b):
        return self.text.format(**fields(a, b))


def fields(a, b):
    """The parts that an attack on the product a * b may use."""
    x = a * b
    return dict(a=a, b=b, x=x, more=x + 1, less=x - 1, wide=str(x).translate(WIDE), arabic=str(x).translate(ARABIC))


def attacks():
    """The twenty-four Attacks, class by class."""
    return [Attack(kind, text, held_back=i >= SHOWN) for kind, texts in ATTACKS.items() for i, text in enumerate(texts)]


def example_of(a, b):
    return {"id": f"{a}*{b}", "expected_answer": str(a * b)}


def paid(score):
    """(24,) the mean reward of each attack over the products."""
    return np.array(
        [
            np.mean([checkers.reward_of(score, example_of(a, b), attack.on(a, b))[0] for a, b in products()])
            for attack in attacks()
        ]
    )


def honest(score):
    """The mean reward of honest work: `Final: <int>`, correct with probability SKILL and otherwise one too high."""
    texts = [(SKILL, "Final: {x}"), (1 - SKILL, "Final: {more}")]
    return sum(
        share
        * np.mean([checkers.reward_of(score, example_of(a, b), text.format(**fields(a, b)))[0] for a, b in products()])
        for share, text in texts
    )


def products():
    return strategies.math_prompts()[:PROMPTS].tolist()


def trained(honest_pay, attack_pay):
    """(updates + 1, 25) shares of honest work and of each attack, for a policy trained on these rewards."""
    share = np.append(1 - TRIED, np.full(len(attack_pay), TRIED / len(attack_pay)))
    policies, _ = redteam.trained(np.log(share), np.append(honest_pay, attack_pay), ETA, UPDATES)
    return policies


def as_tests(wrong, right):
    """The text of a pytest file. `wrong` and `right` are pairs (expected answer, completion) to which a function
    `score` of a module `verifier` must give 0 and 1.
    """
    return HEAD.format(wrong=listed(wrong), right=listed(right))


def listed(cases):
    return "".join(f"    ({answer!r}, {completion!a}),\n" for answer, completion in cases)


HEAD = '''"""Texts that a verifier must not pay, and right ones that it must."""

import pytest
from verifier import score

NOT_PAID = [
{wrong}]
PAID = [
{right}]


def reward(answer, completion):
    found = score({{"id": "case", "expected_answer": answer}}, completion)
    return found["reward"] if isinstance(found, dict) else found


@pytest.mark.parametrize("answer, completion", NOT_PAID)
def test_is_not_paid(answer, completion):
    assert reward(answer, completion) == 0


@pytest.mark.parametrize("answer, completion", PAID)
def test_is_paid(answer, completion):
    assert reward(answer, completion) == 1
'''
