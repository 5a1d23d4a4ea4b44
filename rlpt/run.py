"""`python -m rlpt.run grpo --task add --seed 0`: trains an algorithm file and prints the exact pass rate."""

import hashlib
import os
from pathlib import Path

from rlpt import companion
from rlpt.arguments import guarded
from rlpt.companion import ALGORITHMS, NO_RANKING, TASKS, Session
from sim.framework.checkpoint import Refused

EVERY = 10  # updates between lines
ROW = b'{"step": '  # how a row of the log begins
HEAD = """pass rate: exact, on the prompts trained on; kept out: sampled, on prompts that training never samples
entropy: nats per token; clipped: share of tokens in the last pass; gradient: its norm
 update  completions  pass rate  kept out  entropy  clipped  gradient
"""


def options(words, program):
    made = companion.parser(
        program,
        "ALGORITHM",
        "Trains a tiny model with one algorithm file of sim/algorithms, and prints its pass rate.",
        "\n".join(f"{name:10} {file.__doc__.split('. ')[0]}" for name, file in ALGORITHMS.items()),
    )
    made.add_argument("algorithm", choices=ALGORITHMS, help="an algorithm file, listed below")
    made.add_argument(
        "--task", choices=TASKS, help="train on this task only; default: on all three, one after the other"
    )
    chosen = made.parse_args(words)
    companion.refuse_the_impossible(made, chosen)
    if not chosen.task and (chosen.log or chosen.checkpoint):
        made.error(f"--log and --checkpoint keep a single run: add --task with one of {', '.join(TASKS)}")
    return made, chosen


# ── what both commands keep on disk ──
def kept(session, log, checkpoint, every):
    """The session's events, with its log (None: no log) and its checkpoint (None: no checkpoint) written along the way.

    The checkpoint stores the length and checksum of the log: later rows are cut off and written again. It is written
    before the first row, so a run that was killed at any time resumes with the same command. Refused and OSError, which
    are raised before the first event, say what is in the way.
    """
    log, checkpoint = log and Path(log), checkpoint and Path(checkpoint).resolve()  # the file that a link points to
    resumed = checkpoint is not None and checkpoint.exists()
    if not resumed and log and log.exists() and log.stat().st_size:
        raise Refused(
            f"{log} exists already: choose a different --log, or add the --checkpoint of the run that wrote it"
        )
    if not resumed:
        if log:
            open(log, "ab").close()  # an unwritable log is reported before the first checkpoint
        if checkpoint:
            write_atomically(checkpoint, session.packed(log and known_of(log, b"")))
        return noted(session, log, b"", checkpoint, every)
    try:
        written = session.load(checkpoint.read_bytes(), log is not None)
    except Refused as fault:
        raise Refused(f"cannot resume from {checkpoint}: {fault}") from None
    return noted(session, log, cut(log, written) if log else b"", checkpoint, every)


def known_of(log, found):
    """What a checkpoint stores about its log, which has these bytes on disk."""
    return {"name": log.name, "bytes": len(found), "sum": hashlib.sha256(found).hexdigest()}


def noted(session, log, found, checkpoint, every):
    """Yields the events, and writes the log's row for each update and a checkpoint every `every` updates; `found` is
    the log so far.
    """
    known, written = hashlib.sha256(found), None
    with open(log or os.devnull, "ab") as file:
        for event in session.events():
            if event.stage == 7:
                lines = session.lines()
                known.update(lines)
                file.write(lines)
                file.flush()
                if checkpoint and (session.update % every == 0 or session.update == session.updates):
                    if log:
                        os.fsync(file.fileno())
                        written = {"name": log.name, "bytes": file.tell(), "sum": known.hexdigest()}
                    write_atomically(checkpoint, session.packed(written))
            yield event


def cut(log, written):
    """Truncates the log to the part that the checkpoint knows, and returns that part; later rows are cut off. A file
    that is not this run's log is left unchanged.
    """
    other = f"{log} is not the log of this checkpoint"
    if log.name != written["name"]:
        raise Refused(f"{other}, whose log is called {written['name']}")
    if log.exists() and not log.is_file():
        raise Refused(f"{log} is not a regular file, so no log can continue in it")
    with open(log if log.exists() else os.devnull, "rb") as file:
        head, later = file.read(written["bytes"]), file.read(len(ROW))
    if known_of(log, head) != written:
        raise Refused(f"{other}: its first {written['bytes']} bytes are not those that the run wrote")
    if not ROW.startswith(later) and not later.startswith(ROW):
        raise Refused(
            f"{other}: after {written['bytes']} bytes, it continues with something that is not a row of a run"
        )
    if later:
        os.truncate(log, len(head))
    return head


def write_atomically(path, data):
    """Writes a file next to `path`, syncs it to disk and moves it there: readers see the old bytes or the new ones."""
    beside = path.with_name(f"{path.name}.part")
    try:
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as fault:
        beside.unlink(missing_ok=True)
        fault.filename = str(path)  # the error of a full disk names no file
        raise
    if hasattr(os, "O_DIRECTORY"):  # elsewhere a folder cannot be opened
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)


def run(train, made, chosen, task):
    """Calls `train(session, events)` for a new or resumed run."""
    session = None

    def stopped():
        resume = f"; run the same command again to resume from {chosen.checkpoint}" if chosen.checkpoint else ""
        return f"stopped after update {session.update if session else 0}{resume}"

    with guarded(made, stopped):
        try:
            session = Session(chosen, task)
            events = kept(session, chosen.log, chosen.checkpoint, chosen.checkpoint_every)
        except ValueError as fault:
            made.error(str(fault))
        train(session, events)


# ── this command ──
def train(session, events):
    """Prints a line every ten updates and one at the end."""
    name, task = session.configuration["algorithm"], session.configuration["task"]
    print(session.settings())
    start, head = session.exact(session.controller.start), HEAD
    for event in events:
        for line in session.first_record(event):
            print(line)
        if event.stage == 7 and (session.update % EVERY == 0 or session.update == session.updates):
            print(head, end="")
            head, frame, now = "", event.summary["frame"], session.exact(session.controller.trainer.policy)
            exact = "" if now is None else f"{now:.3f}"
            seen = f"{session.evaluations[-1].mean:.3f}" if session.evaluations else ""
            print(
                f"{session.update:7}  {frame.completions:11,}  {exact:>9}  {seen:>8}  "
                f"{frame.token_entropy:7.3f}  {frame.clip_fraction:7.1%}  {frame.grad_norm:8.4f}"
            )
    for line in session.kept_out_lines(2):
        print(line)
    if start is None:
        print(f"{session.sampled()}\n")
    else:
        now = session.exact(session.controller.trainer.policy)
        print(
            f"{name} on {task}: pass rate {start:.3f} at the start, {now:.3f} after {session.updates} updates"
            f"{session.others()}\n"
        )


def main(words=None, program="python -m rlpt.run"):
    made, chosen = options(words, program)
    for task in [chosen.task] if chosen.task else TASKS:
        run(train, made, chosen, task)
    with guarded(made):
        print(NO_RANKING)


if __name__ == "__main__":
    main()
