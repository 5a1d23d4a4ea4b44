"""One JSON object a line: verl's `{"step", "data"}` and its dumped rollouts, ms-swift's and LLaMA-Factory's logs, and
flat objects with a step. A parser and not a model.
"""

from rlpt import metric_names
from rlpt.logs.spelled import decoded, numbers, step_of, value
from rlpt.logs.table import READABLE, Table, Unreadable
from sim import words

ROLLOUTS = "verl's dumped rollouts"
PROGRAMS = {"current_steps": ("LLaMA-Factory's trainer_log.jsonl", "LLaMA-Factory")}
SWIFT = "global_step/max_steps"  # "9/547"


def of_verl(row):
    if isinstance(row.get("data"), dict) and (step := step_of(row.get("step"))) is not None:
        return "verl's JSONL", "", step, row["data"].items()
    return None


def of_swift(row):
    if (step := step_of(str(row.get(SWIFT, "")).split("/")[0])) is not None:
        return "ms-swift's logging.jsonl", "", step, row.items()
    return None


def flat(row):
    for name in metric_names.STEPS:
        if (step := step_of(row.get(name))) is not None:
            format, program = PROGRAMS.get(name, ("JSONL", ""))
            return format, program, step, ((n, v) for n, v in row.items() if n != name)
    return None


class JsonLines:
    def __init__(self, wanted):
        self.table, self.format, self.program, self.notes, self.faulty, self.count = Table(wanted), "", "", [], 0, 0
        self.groups, self.step = {}, None  # for rollouts: {prompt: [lowest score, highest score, count]}

    @property
    def empty(self):
        """Whether no row was found so far."""
        return not self.format

    def line(self, text, ended=True):
        if not (text := text.strip()):
            return
        self.count += 1
        try:
            row = decoded(text)
        except ValueError:
            if ended:
                self.faulty += 1
            else:
                self.notes.append(f"The file ends within line {self.count:,}, which is left out.")
            return
        self.faulty += not (isinstance(row, dict) and self.row(row))

    def row(self, row):
        """Reads a row and returns whether it is one."""
        if row.get("train_runtime") is not None:
            return True  # the summary at the end
        if {"input", "score", "step"} <= row.keys():
            self.format = self.format or ROLLOUTS
            return self.rollout(row)
        for ask in (of_verl, of_swift, flat):
            if found := ask(row):
                format, program, step, pairs = found
                self.format, self.program = self.format or format, self.program or program
                self.table.add(step, numbers(pairs))
                return True
        return False

    def rollout(self, row):
        step, score = step_of(row["step"]), value(row["score"])
        if step is None or score is None:
            return False
        if step != self.step:
            self.settle()
            self.step = step
        group = self.groups.setdefault(hash(row["input"]) if isinstance(row["input"], str) else 0, [score, score, 0])
        group[:] = min(group[0], score), max(group[1], score), group[2] + 1
        return True

    def settle(self):
        """Adds the share of a step's groups whose completions all have the same score."""
        if groups := [group for group in self.groups.values() if group[2] > 1]:
            share = sum(most - least < 1e-9 for least, most, _ in groups) / len(groups)
            self.table.add(self.step, [("rollouts/zero_variance", share)])
        self.groups = {}

    def logs(self):
        self.settle()
        if not self.format:
            raise Unreadable(f"No row with a step was found in {words.counted(self.count, 'line')}. {READABLE}")
        if self.faulty:
            self.notes.append(f"Lines that are no row of a log, left out: {self.faulty:,}.")
        return [self.table.log(self.format, self.notes, program=self.program)]
