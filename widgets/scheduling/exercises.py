"""What a pass with guesses yields to be changed, and steps to be ended early, without silence or with little room."""

from dataclasses import replace

from sim.cluster import scheduling
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.scheduling.widget import Knobs

CALLS = ((0.5, 2), (0.9, 5), (1.0, 3))


def kept(chances):
    """The model's own token, and every guess for as long as those before it are right."""
    tokens, all_right = 1.0, 1.0
    for chance in chances:
        all_right *= chance
        tokens += all_right
    return tokens


CHANGE = Change(
    (scheduling.tokens_a_pass,),
    "how many tokens a pass with guesses yields",
    (
        Exercise(
            "Guess two candidates for each token, and keep a guess if one of the two is right. Each candidate is right "
            "with chance α, independently of the other.",
            CALLS,
            lambda acceptance, drafts: kept([acceptance + (1 - acceptance) * acceptance] * drafts),
            ("Only the chance changes, and the sum stays.", "Both candidates are wrong with a chance of (1 − α)²."),
            ("    if acceptance == 1:", "    acceptance = 1 - (1 - acceptance) ** 2\n    if acceptance == 1:"),
        ),
        Exercise(
            "A drafter continues from its own guesses and gets worse. Let the first guess be right with chance α, the "
            "second with α² and the third with α³, if all guesses before it are right.",
            CALLS,
            lambda acceptance, drafts: kept(acceptance**i for i in range(1, drafts + 1)),
            (
                "The chance that the first i guesses are all right is the product of their chances, α to the power "
                "1 + 2 + … + i.",
                "1 + 2 + … + i is i (i + 1) / 2. Add up over i from 0, the model's own token, to γ.",
            ),
            (
                "    return (1 - acceptance ** (drafts + 1)) / (1 - acceptance)",
                "    return sum(acceptance ** (i * (i + 1) / 2) for i in range(drafts + 1))",
            ),
        ),
    ),
)


def opens(k, **free):
    """Whether nothing but these knobs differs from the default."""
    return k == replace(Knobs(), **free)


def tricks(k):
    """How the engine writes; the job, the chip and what a guess is worth are not among it."""
    return {name: getattr(k, name) for name in ("refill", "blocks", "prefix", "chunk", "drafts", "batch", "watermark")}


CHALLENGES = (
    Challenge(
        "Change only the scheduler, the guesses and the slots. End within 40 s, with no silence longer than 20 ms.",
        lambda k, r: bool(
            opens(k, **tricks(k)) and not r.misfits and r.trace.makespan <= 40 and r.trace.longest_gap <= 0.02
        ),
        Knobs(chunk=512, drafts=4),
    ),
    Challenge(
        "Limit the pool to 40,000 tokens. Change only scheduler, guesses and slots. Reach 5,800 tokens per second.",
        lambda k, r: bool(
            k.cap <= 40_000 and opens(k, cap=k.cap, **tricks(k)) and not r.misfits and r.trace.tokens_per_second >= 5800
        ),
        Knobs(cap=40_000, batch=48, drafts=4),
    ),
)
