"""`python -m rlpt.framework --task add --algorithm grpo`: the seven stages of the first iteration, one completion as
the roles pass it on, the training curve, and the evaluation on prompts kept out of training.
"""

import sys

import numpy as np

from rlpt import companion
from rlpt.companion import ALGORITHMS, NO_RANKING, TASKS
from rlpt.run import run

ROWS, BAR = 10, 40  # lines of the curve, characters in a full bar


def shown(value):
    if hasattr(value, "__dataclass_fields__"):
        return ", ".join(
            f"{name} {shown(getattr(value, name))}"
            for name in value.__dataclass_fields__
            if getattr(value, name) is not None
        )
    if isinstance(value, np.ndarray):
        return f"{value.shape}"
    if isinstance(value, list | dict):
        return f"{len(value)} entries"
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"


def options(words, program):
    made = companion.parser(
        program,
        "",
        "Trains a tiny model through the six roles, and shows the seven stages and one completion.",
        "If a run with --checkpoint is killed, the same command resumes it.",
    )
    made.add_argument("--task", choices=TASKS, default="add", help="what the model learns, default add")
    made.add_argument(
        "--algorithm", choices=ALGORITHMS, default="grpo", help="an algorithm file of sim/algorithms, default grpo"
    )
    chosen = made.parse_args(words)
    companion.refuse_the_impossible(made, chosen)
    return made, chosen


def train(session, events):
    """Prints as it trains; the curve is the share of correct completions among those sampled, averaged over each tenth
    of the run.
    """
    print(session.settings())
    print(f"resuming after update {session.update}" if session.update else "the seven stages of the first iteration")
    for event in events:
        if event.iteration == 0:
            first_iteration(event, session)
        if event.stage == 7 and sys.stderr.isatty():
            progress(session.update, session.updates)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(" update  correct, share of the completions sampled since the row before")
    for part in np.array_split(np.arange(session.update), min(ROWS, session.update)):
        share = float(np.mean([session.shares[i] for i in part]))
        print(f"{part[-1] + 1:7}  {share:5.3f}  {'#' * round(BAR * share)}")
    for line in session.kept_out_lines(ROWS + 1):
        print(line)
    print(session.sampled())
    print(NO_RANKING)


def first_iteration(event, session):
    """Prints a stage and, after the fifth, one completion."""
    metrics = " · ".join(f"{name}: {shown(value)}" for name, value in event.summary.items())
    print(f"  {event.stage} {event.role:11} {metrics}")
    for line in session.first_record(event):
        print(f"      {line}")


def progress(done, updates):
    hashes = BAR * done // updates
    print(f"\r[{'#' * hashes}{'.' * (BAR - hashes)}] {done} of {updates}", end="", file=sys.stderr, flush=True)


def main(words=None, program="python -m rlpt.framework"):
    made, chosen = options(words, program)
    run(train, made, chosen, chosen.task)


if __name__ == "__main__":
    main()
