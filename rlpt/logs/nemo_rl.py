"""NeMo RL's console: under the heading of a step one line for each number, `• Avg Reward: 0.25`. A parser, no model."""

import re

from rlpt.logs.printed import Printed
from rlpt.logs.spelled import number


class NemoRL(Printed):
    format, program = "NeMo RL's console", "NeMo RL"
    STEP = re.compile(r"={5,} Step (\d+)/\d+ ={5,}")
    EPOCH = re.compile(r"={5,} Epoch (\d+)/\d+ ={5,}")
    ITEM = re.compile(r"• ([A-Z][\w .]*): ([-+\w.]+)$")
    NAMES = {  # printed under “Training Results” and “Validation Results”
        "Loss": "loss",
        "Avg Reward": "reward",
        "Avg Total Reward": "reward",
        "Mean Generation Length": "mean_gen_tokens_per_sample",
        "Generation KL Error": "gen_kl_error",
        "Accuracy": "validation/accuracy",
    }

    def __init__(self, wanted):
        super().__init__(wanted)
        self.step, self.before, self.pairs = None, 0, []  # the last step of the epochs before

    def line(self, text, ended):
        if found := self.STEP.search(text):
            self.close()
            self.step = self.before + int(found[1])
        elif (found := self.EPOCH.search(text)) and int(found[1]) > 1 and self.step:
            self.close()
            self.before = self.step
        elif self.step is not None and (found := self.ITEM.search(text.rstrip())) and found[1] in self.NAMES:
            self.pairs += [(self.NAMES[found[1]], got) for got in [number(found[2])] if got is not None]

    def close(self):
        if self.pairs:
            self.take(self.step, self.pairs)
        self.pairs = []
