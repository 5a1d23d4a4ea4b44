"""`rlpt COMMAND …`, or `python -m rlpt COMMAND …`: eight commands under one name."""

import sys

from rlpt.arguments import dispatched

COMMANDS = {  # {name: (module, what it does)}
    "plan": ("rlpt.plan", "check whether a run of your own model fits, how long a step takes, what would shorten it"),
    "calibrate": ("rlpt.calibrate", "measure your GPU, with torch, or a running vLLM or SGLang server, for that plan"),
    "doctor": ("rlpt.doctor.__main__", "read the log of a training run: what went wrong first, and what to change"),
    "rollouts": (
        "rlpt.rollouts.__main__",
        "read the completions of a run: which are paid, correct, pushed, or teach nothing",
    ),
    "run": ("rlpt.run", "train a tiny model with one algorithm file, and watch its pass rate"),
    "framework": ("rlpt.framework", "train it through the six roles, and watch the seven stages and one completion"),
    "pipeline": ("rlpt.pipeline", "post-train a tiny model, stage by stage"),
    "lab": ("rlpt.lab.__main__", "score completions, test a scorer, compare two runs; needs no model"),
}


def main(words=None, program="rlpt"):
    """The status of the command that the first word names."""
    for output in (sys.stdout, sys.stderr):
        output.reconfigure(errors="replace")  # a terminal that lacks a character shows a question mark
    return dispatched(COMMANDS, words, program)


if __name__ == "__main__":
    sys.exit(main(program="python -m rlpt"))
