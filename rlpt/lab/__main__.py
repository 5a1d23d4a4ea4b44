"""`python -m rlpt.lab COMMAND …`: the four commands of the Measurement Lab."""

import sys

from rlpt.arguments import dispatched

COMMANDS = {  # {name: (module, what it does)}
    "eval": ("rlpt.lab.evaluate", "score completions, and keep the run in a folder"),
    "golden": ("rlpt.lab.golden", "test a scorer on labeled cases, and your own cases on mistaken scorers"),
    "compare": ("rlpt.lab.compare", "say whether two runs differ by more than luck"),
    "demo": ("rlpt.lab.demo", "write the log of a page of the Lab: select, bandit, two-step or kl"),
}


def main(words=None, program="python -m rlpt.lab"):
    return dispatched(COMMANDS, words, program)


if __name__ == "__main__":
    sys.exit(main())
