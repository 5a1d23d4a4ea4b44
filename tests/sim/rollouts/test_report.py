import time

import numpy as np
import pytest

from sim.rollouts import findings, phrases, report
from sim.rollouts.rows import Rollouts
from tests.sim.rollouts.shipped import NAMES, rollouts, small


@pytest.mark.parametrize("name", NAMES)
def test_a_report_has_all_parts(name):
    found = report.report(rollouts(name))
    assert len(found.steps) == 5 and len(found.rollouts.reward) == 320 and found.mismatch is None


def test_findings_about_words_stand_in_their_place():
    names = [one.name for one in report.report(rollouts("verifier")).findings]
    assert names == sorted(names, key=findings.ORDER.index) and findings.PHRASE in names


def test_one_completion_makes_a_report():
    found = report.report(small([[1.0]]))
    assert (found.findings, found.phrases, found.attribution.rule) == ([], [], None)


@pytest.mark.slow
def test_200_000_completions_take_seconds():
    rng = np.random.default_rng(0)
    N, K = 200_000, 8
    group = np.arange(N) // K
    words = ["".join(chr(97 + int(digit)) for digit in str(n)) for n in range(1000)]
    pool = [" ".join(words[n] for n in rng.integers(0, 1000, 200)) for _ in range(500)]
    text = rng.integers(0, 500, N)
    file = Rollouts(
        step=group // 64,
        group=group,
        prompts=[f"prompt {g % 5000}" for g in range(N // K)],
        completions=[f"{pool[n]} {i}" for i, n in enumerate(text)],
        scores={"a": rng.random(N), "b": rng.random(N)},
        reward=(text < 100).astype(float),  # phrases of 100 texts are paid
        advantage=rng.normal(size=N),
        tokens=rng.integers(1, 500, N),
        cut=rng.random(N) < 0.1,
    )
    start = time.process_time()
    found = report.report(file)
    assert time.process_time() - start < 10  # some 3 s on one core
    assert len(found.phrases) == phrases.SHOWN
