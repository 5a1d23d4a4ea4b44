"""Version 0.9.5 of the scorer, which the reader mends, under attack by 76 completions that deserve nothing."""

from sim.lab import instruments
from widgets.frame.contract.exercises import Goal, Shown, Table

ID, NAMED = "patch", "A scorer to be mended"
CHARS = 60  # of a completion


EDITED = instruments.version_0_9_5


def RETURNS(value):
    """The reward: a number from 0 to 1, or a dict that has one."""
    reward = value.get("reward") if isinstance(value, dict) else value
    if not isinstance(reward, int | float) or not 0 <= reward <= 1:
        raise ValueError(f"it returned {repr(value)[:60]}, and a reward is a number from 0 to 1")
    return float(reward)


def called(function):
    """(the right answers that are refused, (id, class, completion) of everything that is paid for nothing, on how many
    completions it failed).
    """
    failed = 0

    def counted(example, completion):
        nonlocal failed
        try:
            return function(example, completion)
        except Exception:
            failed += 1
            raise

    leaks = instruments.leaks(counted)
    paid = tuple((case.id, case.kind, case.completion) for case in (*leaks.wrong, *leaks.exploits))
    return tuple(case.completion for case in leaks.right), paid, failed


def sound(called, most):
    """Whether nothing right is refused, and at most so many completions are paid for nothing."""
    refused, paid, _ = called
    return not refused and len(paid) <= most


GOALS = (
    Goal("Pay at most ten of the 76, and refuse no right answer", lambda called: sound(called, 10)),
    Goal("Pay none of the 76, and refuse no right answer", lambda called: sound(called, 0)),
)
HINTS = (
    "Block a class of texts and not a single one. What may follow the number? What may stand around the line?",
    "Match the whole text, compare it as text, allow one space, strip only spaces, tabs and line ends, and limit the "
    "length before anything else.",
    """def version_0_9_5(example, completion):
    if not isinstance(completion, str) or len(completion) > 10_000:
        return 0.0
    text = completion.strip(" \\t\\r\\n")
    found = re.fullmatch(r"Final: (0|-?[1-9][0-9]*)", text)
    return float(found is not None and found[1] == example["expected_answer"])
""",
)


def shown(called):
    """How many got through, one of them, and what the mending has cost."""
    refused, paid, failed = called
    fell = f" It failed on {failed} of 92 completions, which earn nothing." if failed else ""
    one = ((str(paid[0][1]).replace("_", " "), short(paid[0][2])),) if paid else ()
    return Shown(
        f"{len(paid)} of 76 completions are paid for nothing. {len(refused)} of 16 right answers are refused.{fell}",
        (
            Table(f"One that got through, of {len(paid)}", ("its class", "completion"), one),
            Table(
                f"Right answers that are refused: {len(refused)}",
                ("completion",),
                tuple((short(text),) for text in refused[:6]),
            ),
        ),
    )


def short(value):
    written = ascii(value)
    return written if len(written) <= CHARS else f"{written[:CHARS]} …"
