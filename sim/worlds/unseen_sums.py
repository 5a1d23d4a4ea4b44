"""Sums of two digits that a tiny language model was never shown: it guesses, and few of its guesses are correct.

This is the start of a training run. The model of tinylm.py is fitted to demonstrations of 60 of the 100 sums (assumed:
15 in 100 are off by one to three) and answers four in five of them correctly. It has never seen the other 40. `python
-m sim.worlds.unseen_sums` fits it again and writes it to sim/worlds/data. These are our settings, not a model.
"""

import re
from functools import cache
from importlib.resources import files

import numpy as np

from sim.worlds import tasks, tinylm
from sim.worlds.tinylm import EOS, FINAL, PAD

ORDER = np.random.default_rng(3).permutation(100)
UNSEEN, SEEN = ORDER[:40], ORDER[40:]
OFF = 0.15  # assumed: fraction of the demonstrations that are wrong
STEPS = 400
ANSWER = re.compile(r"Final: ([1-9]?\d)")
FILE = "sixty_sums.npz"


class Few(tasks.Add):
    """A few sums with equal frequencies in every batch, whose groups lie side by side, so that batches with different
    group sizes have the same rows.
    """

    def batch_prompts(self, n, rng):
        return self.prompts[np.arange(n) * len(self.prompts) // n]

    def exact(self, policy):
        return {"pass_rate": tasks.exact_pass(policy)[self.prompts]}


def written(batch):
    """The number that each completion of a batch answers, as text; "?" if it answers with none."""
    texts = tasks.Add().answers(batch.tokens, batch.response_mask, batch.finished)
    return [text.removeprefix("Final: ") if ANSWER.fullmatch(text) else "?" for text in texts]


def demonstrations(n, rng):
    """Prompts, completions and masks of n demonstrations: `Final: `, a number, the stop."""
    example = rng.choice(SEEN, n)
    shown = example // 10 + example % 10
    shown = np.where(rng.random(n) < OFF, np.clip(shown + rng.choice([-3, -2, -1, 1, 2, 3], n), 0, 19), shown)
    tokens = np.full((n, tasks.Add.T), PAD)
    two = shown >= 10
    tokens[:, 0] = FINAL
    tokens[:, 1] = np.where(two, shown // 10, shown)
    tokens[:, 2] = np.where(two, shown % 10, EOS)
    tokens[two, 3] = EOS
    return tasks.Add().prompt_ids(example), tokens, (tokens != PAD).astype(float)


def fitted():
    """The start, fitted again."""
    return tasks.supervised(demonstrations, steps=STEPS)


def start():
    """The shipped start, as a copy that the caller may train; it was stored in 32 bits."""
    return _stored().copy()


@cache
def _stored():
    policy = tinylm.Policy()
    with np.load(files("sim.worlds") / "data" / FILE) as stored:
        policy.params = {key: stored[key].astype(float) for key in stored.files}
    return policy


if __name__ == "__main__":
    path = files("sim.worlds") / "data" / FILE
    np.savez(path, **{key: array.astype(np.float32) for key, array in fitted().params.items()})
    print(path)
