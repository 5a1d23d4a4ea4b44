"""The scene of M3, five texts in the tokens of three tokenizers, and its figure, eight actions on a leash."""

from sim.lab import eight_actions, pieces
from sim.worlds import scorer
from widgets.frame.drawing import cuts, scene
from widgets.frame.drawing.marks import Panel, bars, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Time

TEXTS = ("Final: 323", "Final: 324", "Final:  323", "Final: 0323", "Final:\n323")
REASONS = {
    "ok": "",
    "wrong_value": "wrong number",
    "bad_spacing": "not one space",
    "non_canonical_int": "not canonical",
    "multi_line": "several lines",
}
WAYS = {"runs": "digits in runs", "triples": "digits by threes", "single": "single digits"}
MOST = max(len(pieces.encode(text, way)) for text in TEXTS for way in WAYS)
STEPS = range(MOST + 2)  # after so many tokens; at the end, the verifier has read
SIDES = ("the policy chooses tokens", "the verifier reads the text and expects 323")
ACTIONS = tuple(str(i) for i in range(1, len(eight_actions.REF) + 1))


def verdict(text: str) -> str:
    """The scorer's reason; 323 is expected."""
    return str(scorer.score({"expected_answer": "323"}, text)["details"]["reason"])


def written(way: str, step: int) -> list[Panel]:
    """The five texts after so many tokens."""
    texts = [cuts.Text(pieces.encode(text, way), verdict(text) == "ok", REASONS[verdict(text)]) for text in TEXTS]
    rows = "; ".join(
        f"{cuts.spelled(text)} as {', '.join(map(cuts.spelled, pieces.encode(text, way)))}" for text in TEXTS
    )
    alt = f"Five texts in tokens, {WAYS[way]}: {rows}. The verifier pays the first text only."
    drawing = cuts.view("c", alt, SIDES, texts, MOST, min(step, MOST), step > MOST)
    return [scene.scene("Five answers, written in tokens", "one square is one choice; 323 is correct", drawing)]


def finished(way: str, step: int) -> str:
    """How many of the texts are complete."""
    done = sum(len(pieces.encode(text, way)) <= step for text in TEXTS)
    if step > MOST:
        return "The verifier has read all five texts, and one of them is paid."
    return f"{done} of {len(TEXTS)} texts {'is' if done == 1 else 'are'} complete, and the verifier has not read any."


def tilted(price: float) -> list[Panel]:
    """The shares of the reference and of the best policy at this price, and what the latter earns and is worth."""
    policy = eight_actions.leashed(price)
    paid, worth, _ = eight_actions.outcome(policy)
    return [
        panel(
            "Share of each action",
            "left bar: the reference; right bar: the best policy at this price",
            bars(ACTIONS, eight_actions.REF, "reference", 8),
            bars(ACTIONS, policy, "best policy at this price", 1),
            x="action",
            y_range=(0, 1),
        ),
        panel(
            "Mean pay and mean worth of the best policy",
            "exact, for the table above",
            bars(["mean pay", "mean worth"], [paid, worth], "", 1, text=[f"{paid:.3f}", f"{worth:.3f}"]),
            y_range=(0, 1.08),
        ),
    ]


def measured(price: float) -> str:
    paid, worth, nats = eight_actions.outcome(eight_actions.leashed(price))
    return (
        f"At a price of {price:g}, the mean pay is {paid:.3f}, the mean worth {worth:.3f}, and the KL {nats:.3f} nats."
    )


FIGURES = {
    "pieces": Figure(
        written,
        pieces.encode,
        Handle("Tokenizer", tuple(WAYS), words=tuple(WAYS.values())),
        finished,
        Time(
            "tokens",
            tuple(STEPS),
            ("nothing written", *(f"token {i}" for i in range(1, MOST + 1)), "the verifier reads"),
            start=MOST + 1,
            ticks={0: "start", MOST + 1: "reward"},
            milliseconds=700,
        ),
        stills=((1, MOST + 1), (2, MOST + 1)),
    ),
    "leash": Figure(
        tilted,
        eight_actions.leashed,
        Handle(
            "Price of one nat",
            eight_actions.PRICES,
            words=tuple(f"{price:g}" for price in eight_actions.PRICES),
            symbol="β",
        ),
        measured,
    ),
}
