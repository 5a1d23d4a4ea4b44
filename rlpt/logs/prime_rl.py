"""prime-rl's consoles of orchestrator and trainer: `Step 3 | 12.1s | Reward 0.25 | …`. A parser and not a model."""

import re

from rlpt.logs.printed import Printed
from rlpt.logs.spelled import number

NAMES = {  # printed, and in Weights & Biases
    "Reward": "reward/all/mean",
    "Seq. Length": "seq_len/all/mean",
    "Trainable": "effective_batch_size/all",
    "Truncation": "is_truncated/all/mean",
    "Loss": "loss/mean",
    "Entropy": "entropy/all/mean",
    "Mismatch KL": "mismatch_kl/all/mean",
    "Grad. Norm": "optim/grad_norm",
    "LR": "optim/lr",
}


class PrimeRL(Printed):
    program = "prime-rl"
    ROW = re.compile(r"(?<!Micro )\bStep (\d+) \| +(.*)")
    ITEM = re.compile(rf"({'|'.join(map(re.escape, NAMES))}):? (.+)")
    FIRST = ""  # what its rows have

    def line(self, text, ended):
        if " | " not in text or not (found := self.ROW.search(text)):
            return
        items = [each for part in found[2].split("|") if (each := self.ITEM.fullmatch(part.strip()))]
        pairs = [(NAMES[each[1]], got) for each in items if (got := value(each[2])) is not None]
        if self.FIRST in dict(pairs):
            self.take(int(found[1]), pairs, ended)


class Orchestrator(PrimeRL):
    format, FIRST = "the console of prime-rl's orchestrator", NAMES["Reward"]


class Trainer(PrimeRL):
    format, FIRST = "the console of prime-rl's trainer", NAMES["Loss"]


def value(text):
    """0.25 of `0.25`, of `25.0%` and of `32/128 (25.0%)`, 310 of `310 tokens/sample`."""
    share = re.search(r"([\d.]+)%", text)
    return float(share[1]) / 100 if share else number(text.split()[0])
