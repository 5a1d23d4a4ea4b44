"""The Python half of *Read the rollouts*: completions arrive in pieces, and every step, group or fact that the reader
chooses is a new question. The build uses the same functions to draw what the page shows before anything is dropped.
"""

import html
import itertools
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from rlpt import rollouts
from rlpt.rollouts import seen as steps
from rlpt.rollouts import sentences, shown, words
from rlpt.rollouts.shown import visible
from sim.rollouts import groups, marks, pushes, report
from sim.words import counted
from widgets.frame.reader import brought, rollouts_wall
from widgets.frame.reader.brought import Form

SAMPLES = {  # {the page's name for a real run: (its file, what it is, the step that is shown first)}
    "any correct line pays": (
        "verifier",
        "A tiny model learns to add. Its verifier pays a completion if any line gives the answer.",
        20,
    ),
    "every token pays": (
        "length",
        "A tiny model learns to add. Correct answers are paid, and so is every token.",
        None,
    ),
    "one text always pays": (
        "one-text",
        "A tiny model learns to add. A correct answer gets 1, and “Final: 6” always gets at least 0.7.",
        None,
    ),
    "twelve tokens at most": (
        "cut-off",
        "A tiny model learns to copy a number. It is paid if it has done so within twelve tokens.",
        None,
    ),
    "only the last line pays": (
        "sound",
        "A tiny model learns to add. It is paid only if the last line is correct.",
        None,
    ),
}
NO_SAMPLE = ("", "", None)
# read when imported: a snapshot of Python has no files
TEXTS = {
    file: (files("rlpt.rollouts") / "data" / f"{file}.jsonl").read_text(encoding="utf-8")
    for file, _, _ in SAMPLES.values()
}
UNITS = {unit: unit for unit in pushes.UNITS}
ROLES = {
    "step": "the step",
    "prompt": "the prompt",
    "completion": "the completion",
    "reward": "the reward",
    "advantage": "the advantage",
}
MORE = "stronger for more reward"
TEXTS_SHOWN = 64  # completions of a group
CHARACTERS, LONG = 8_000, 120  # of one that are shown, and from which its column is wide


class Session(brought.Session):
    """The files of one run, read together. The run before is kept until they have been read."""

    def begin(self, form: Form) -> None:
        before = getattr(self, "read", None)
        super().begin(form)
        named = {role: column for role in ROLES if (column := form.get(f"map_{role}"))}
        self.read, self.files = before, rollouts.Files(named, limit=rollouts.PAGE)
        self.columns: Iterable[str] = ()  # of files in which the reader must say which column is which

    def opened(self, name: str) -> Any:
        return self.files.opened(name)

    def piece(self, data: Any) -> None:
        self.files.tried(super().piece, data)

    def finish(self) -> None:
        self.files.tried(super().finish)

    def together(self, closed: list[Any]) -> Any:
        try:
            return reported(self.files.read())
        except rollouts.Unnamed as fault:
            self.columns = fault.columns
            raise


SESSION = Session()


def escaped(text: str, most: int = 10**9) -> str:
    """The text as HTML, on one line, cut after so many characters."""
    return html.escape(shown.on_a_line(text, most))


def reported(read: rollouts.Read) -> tuple[rollouts.Read, report.Report]:
    return read, report.report(read.rollouts)


def stream(step: str, data: Any) -> Iterator[str]:
    """The answer to one step of the page's conversation, as JSON (brought.py)."""
    return brought.stream(SESSION, step, data, answer, sample, lambda _, form: offered(SESSION.columns, form))


def sample(name: str) -> dict[str, str]:
    """{file name: text} of a real run; by default the one shown when the page opens."""
    file, _, _ = SAMPLES.get(name, next(iter(SAMPLES.values())))
    return {f"{file}.jsonl": TEXTS[file]}


# ── answers ──
def answer(run: tuple[rollouts.Read, report.Report] | None, form: Form) -> dict[str, Any]:
    """What the page says of a run, by default of the first sample: {at, last, word, unit, written}; `written` is
    {selector of its place: HTML}.
    """
    file, done = run or read(sample(""))
    every = [one.step for one in done.steps]
    at = place_of(form, done, every)
    seen = steps.seen(done, every[at])
    group = number(form.get("group"), -1)
    group = group if group in seen.order else steps.telling(seen)
    facts = words.facts(seen)
    chosen = next((fact for fact in facts if fact.key == form.get("fact")), None)
    unit = form["unit"] if form.get("unit") in UNITS else usual_unit(done.rollouts)
    return dict(
        at=at,
        last=len(every) - 1,
        word=f"step {seen.step}",
        unit=unit,
        written=head(seen, form)
        | {
            ".wall": wall(seen, group, chosen),
            ".curves": curves(done),
            ".ends": ends(seen),
            ".facts": "".join(fact_html(fact, fact is chosen) for fact in facts),
            ".forms": forms(seen),
            ".findings": findings(done),
        }
        | pushed(seen, group, form, unit)
        | about(file, form),
    )


def place_of(form: Form, done: report.Report, every: list[int]) -> int:
    """The place of the step to be shown: the form's, a sample's own, or the one that shows the most."""
    at = number(form.get("at"), -1)
    if 0 <= at < len(every):
        return at
    _, _, step = SAMPLES.get(form.get("sample", ""), NO_SAMPLE)
    return every.index(step if step in every else steps.widest(done))


def number(value: Any, usual: int) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return usual


def head(seen: steps.Seen, form: Form) -> dict[str, str]:
    first, second = words.headline(seen)
    return {
        ".verdict": f"{html.escape(first)} <em>{html.escape(second)}</em>" if second else html.escape(first),
        ".lead": html.escape(lead(seen.report, form)),
    }


def lead(done: report.Report, form: Form) -> str:
    """One sentence on the run: what a sample is, or the first finding, or that none was found."""
    if about := SAMPLES.get(form.get("sample", ""), NO_SAMPLE)[1]:
        return about
    if done.findings:
        return sentences.sentence(done.findings[0])
    rows = counted(len(done.rollouts), "completion")
    said = f"Nothing was found in {rows} of {counted(len(done.steps), 'step')}"
    if not done.phrases or done.phrases[0].pays <= 0:
        return f"{said}."
    one = done.phrases[0]
    return f"{said}, but texts with {shown.phrase_words(one.words, one.times)} are paid {shown.figure(one.pays)} more."


# ── the wall ──
def wall(seen: steps.Seen, chosen: int, fact: words.Fact | None) -> str:
    r = seen.report.rollouts
    prompts = steps.prompts(seen)
    ringed = np.isin(seen.rows, fact.rows) if fact else np.zeros(len(seen.rows), bool)
    level = levels(seen)
    state = None if r.reward is None else groups.states(r.reward, r.group)
    rows = []
    for group in spaced(seen.order, rollouts_wall.MOST):
        here = seen.of_group(group)
        cells = [(kind(seen, i), int(level[i])) for i in here]
        tied = state is not None and state[group] != groups.MIXED
        rows.append(
            rollouts_wall.Row(group, prompts[group], count(seen, here), spoken(seen, here), cells, ringed[here], tied)
        )
    return kinds(seen, any(row.tied for row in rows)) + rollouts_wall.drawn(rows, chosen)


def spaced(order: list[int], most: int) -> list[int]:
    """At most so many of the groups, evenly spaced."""
    return [order[i] for i in np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(np.int64))]


def levels(seen: steps.Seen) -> np.ndarray:
    """From 0 for the lowest reward of the run to LEVELS for the highest, (n,)."""
    r = seen.report.rollouts
    if r.reward is None:
        return np.full(len(seen.rows), rollouts_wall.LEVELS)
    low, top = groups.reward_range(r.reward)
    share = (np.nan_to_num(r.reward[seen.rows]) - low) / max(top - low, 1e-300)
    return np.ceil(np.clip(share, 0, 1) * rollouts_wall.LEVELS - 1e-9).astype(np.int64)


def kind(seen: steps.Seen, i: int) -> str:
    return "plain" if seen.right is None else "right" if seen.right[i] else "wrong"


def count(seen: steps.Seen, here: np.ndarray) -> str:
    reward = seen.report.rollouts.reward
    if seen.paid is None or reward is None:
        return ""
    if seen.binary:
        return f"{int(seen.paid[here].sum())}/{len(here)}"
    return shown.figure(float(np.nanmean(reward[seen.rows[here]])))


def spoken(seen: steps.Seen, here: np.ndarray) -> str:
    """A group in words, for those who do not see its cells."""
    if seen.paid is None:
        return counted(len(here), "completion")
    paid, n = seen.paid[here], len(here)
    said = f"{int(paid.sum())} of {n} paid" if seen.binary else f"mean reward {count(seen, here)}"
    if seen.right is None:
        return said
    right = seen.right[here]
    of = f"{int((paid & right).sum())} of them" if seen.binary else f"{int(right.sum())} of {n}"
    return f"{said}, {of} {words.right_word(seen)}"


def kinds(seen: steps.Seen, dead: bool) -> str:
    """What the rows and cells are, and what their colors mean."""
    if seen.paid is None and seen.right is None:
        return ""
    if seen.right is None:
        names = {"plain": "paid" if seen.binary else MORE, "none": "not paid"}
    else:
        right = "correct" if marks.CORRECT.search(seen.score) else f"full marks in {shown.column(seen.score)}"
        names = {"right": f"paid and {right}", "wrong": f"paid, not {right}", "none": "not paid"}
        if not seen.binary:
            names = {"right": right, "wrong": f"not {right}"}
            names |= {} if seen.paid is None else {"none": "lowest reward", "": MORE}
    meanings = [(f'<i class="{name}"></i>' if name else "", text) for name, text in names.items()]
    if dead:
        meanings.append(("", "faint: dead group"))
    listed = "".join(f"<span>{sign}{html.escape(text)}</span>" for sign, text in meanings)
    return f'<p class="kinds"><span class="what">Row: prompt. Cell: completion.</span>{listed}</p>'


# ── the steps ──
def curves(done: report.Report) -> str:
    """Both means over the steps, as shares of their ranges, one drawing."""
    lines = [("paid", [share(done, one.reward) for one in done.steps])] if done.rollouts.reward is not None else []
    if score := steps.judge(done):
        lines.append(("right", [one.scores[score] for one in done.steps]))
    last = max(1, len(done.steps) - 1)
    drawn = "".join(f'<polyline class="{name}" points="{points(line, last)}"/>' for name, line in lines)
    return f'<svg viewBox="0 0 100 40" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>'


def points(line: list[float], last: int) -> str:
    return " ".join(f"{100 * i / last:g},{40 * (1 - y):.4g}" for i, y in enumerate(line) if np.isfinite(y))


def share(done: report.Report, reward: float | None) -> float:
    low, top = groups.reward_range(done.rollouts.reward)
    return float("nan") if reward is None else (reward - low) / max(top - low, 1e-300)


def ends(seen: steps.Seen) -> str:
    """The two means at the step that is shown."""
    numbers, said = seen.numbers, []
    if seen.paid is not None:
        said.append(f"paid {100 * seen.paid.mean():.0f} %" if seen.binary else f"reward {shown.figure(numbers.reward)}")
    if seen.score and np.isfinite(numbers.scores[seen.score]):
        right = marks.CORRECT.search(seen.score)
        name = "correct" if right else escaped(seen.score, 14)
        said.append(f'<span class="right">{name} {100 * numbers.scores[seen.score]:.0f} %</span>')
    return "<br>".join(said)


# ── facts and findings ──
def fact_html(fact: words.Fact, chosen: bool) -> str:
    alarm = " alarm" if fact.alarm else ""
    name = "" if fact.big.isdigit() else " name"
    more = f"<small>{html.escape(fact.more)}</small>" if fact.more else ""
    picked = f'aria-selected="{str(chosen).lower()}" tabindex="0"'
    return (
        f'<li role="option" data-kind="fact" data-option="{fact.key}" {picked}>'
        f'<b class="big{alarm}{name}">{html.escape(fact.big)}</b><span>{html.escape(fact.says)}{more}</span></li>'
    )


def findings(done: report.Report) -> str:
    named = [(sentences.title(one), sentences.sentence(one)) for one in done.findings]
    if differ := sentences.apart(done):
        named.append(("Sampler and trainer", differ))
    lines = [f"<li><b>{html.escape(name)}.</b> {html.escape(says)}</li>" for name, says in named]
    return "".join(lines) or "<li>No findings.</li>"


def forms(seen: steps.Seen) -> str:
    kind, found = words.forms(seen)
    lines = [
        f"<li><pre>{html.escape(text)}</pre><small><b>{count}</b>, {then}</small></li>" for count, text, then in found
    ]
    return f'<h2>{kind}</h2><ol class="texts" tabindex="0" aria-label="{kind}">{"".join(lines)}</ol>' if lines else ""


# ── one group ──
def pushed(seen: steps.Seen, group: int, form: Form, unit: str) -> dict[str, str]:
    """The texts of a group with the push on each, and the sums."""
    r = seen.report.rollouts
    rule = form["rule"] if form.get("rule") in pushes.RULES else next(iter(pushes.RULES))
    held = pushes.shares(r.at(seen.step), rule, unit)
    here = seen.of_group(group)
    most = 1.0 if held is None else max(float(np.abs(held[here]).max()), 1e-9)
    texts = [visible(ends_of(r.completions[seen.rows[i]])) for i in here[:TEXTS_SHOWN]]
    common = steps.beginning(texts)
    phrase = next(iter(seen.report.phrases), None)
    listed = "".join(
        text_html(seen, int(i), None if held is None else float(held[i]), most, text, marked(text, common, phrase))
        for i, text in zip(here, texts)
    )
    more = f"<li>and {len(here) - TEXTS_SHOWN} more</li>" if len(here) > TEXTS_SHOWN else ""
    return {
        ".prompt": f"<code>{escaped(steps.prompts(seen)[group], 60)}</code>",
        ".texts": listed + more,
        ".sums": sums(seen, held, here, unit),
    }


def usual_unit(r: Any) -> str:
    return pushes.PER_COMPLETION if r.tokens is None else pushes.PER_TOKEN


def ends_of(text: str) -> str:
    """A text without its middle, if it is long: a hack stands at the end as often as at the beginning."""
    hidden = len(text) - CHARACTERS
    if hidden <= 0:
        return text
    return f"{text[: CHARACTERS // 2]}\n… {counted(hidden, 'character')} …\n{text[-CHARACTERS // 2 :]}"


def text_html(seen: steps.Seen, i: int, held: float | None, most: float, text: str, marked: str) -> str:
    class_ = "none" if seen.paid is not None and not seen.paid[i] else kind(seen, i)
    long = " long" if len(text) > LONG else ""
    return (
        f'<li class="{class_}{long}">{"" if held is None else bar_html(held, most)}'
        f"<pre>{marked}</pre>"
        f"<small>{html.escape(words.paid(seen, seen.rows[i]))}</small></li>"
    )


def marked(text: str, common: int, phrase: Any) -> str:
    """A text as HTML: where it begins like the others, and where it has the phrase that pays most."""
    spans = [one.span() for one in shown.pattern(phrase.words).finditer(text)] if phrase else []
    spans = spans if phrase and len(spans) >= phrase.times else []
    places = sorted({0, min(common, len(text)), len(text), *(place for span in spans for place in span)})
    pieces = []
    for begin, end in itertools.pairwise(places):
        held = any(first <= begin < last for first, last in spans)
        name = " ".join(name for name, here in (("common", begin < common), ("phrase", held)) if here)
        piece = html.escape(text[begin:end])
        pieces.append(f'<span class="{name}">{piece}</span>' if name else piece)
    return "".join(pieces)


def bar_html(held: float, most: float) -> str:
    """A bar to the right of the middle for a push up, to the left for one down."""
    sign = "down" if held < 0 else "up"
    width = f"--w:{50 * abs(held) / most:.3g}%"
    return f'<div class="push {sign}"><i style="{width}"></i><span>{words.push(held)}</span></div>'


def sums(seen: steps.Seen, held: Any, here: np.ndarray, unit: str) -> str:
    if held is None:
        return f"<span>{html.escape(words.unknown(seen, unit))}</span>"
    return "".join(f"<span><b>{big}</b> {html.escape(text)}</span>" for big, text in words.sums(seen, held, here))


# ── what was read ──
def about(file: rollouts.Read, form: Form) -> dict[str, str]:
    rows = "".join(
        f"<tr><td>{escaped(column, 60)}</td><td>{html.escape(visible(role))}</td></tr>"
        for column, role in file.columns.items()
    )
    notes = [*file.notes, *(f"{name}: {why}" for name, why in file.left_out.items())]
    return {
        ".read caption": f"Read as {html.escape(file.format)}",
        ".read tbody": rows,
        ".notes": "".join(f"<li>{html.escape(visible(note))}</li>" for note in notes),
    } | offered(file.columns, form)


def offered(columns: Iterable[str], form: Form) -> dict[str, str]:
    """The options of the fields that name a column, if there are columns."""

    def options(role: str) -> str:
        chosen = form.get(f"map_{role}")
        listed = "".join(
            f'<option value="{html.escape(name)}"{" selected" if name == chosen else ""}>{escaped(name, 60)}</option>'
            for name in columns
        )
        return f'<option value="">as read</option>{listed}'

    return {f"[name=map_{role}]": options(role) for role in ROLES} if columns else {}


# ── what the page shows before it has a file ──
def buttons() -> dict[str, str]:
    """{the page's name for a sample: its curves, drawn small}."""
    return {name: curves(read(sample(name))[1]) for name in SAMPLES}


def opening() -> dict[str, Any]:
    """What the page says about the first sample."""
    return answer(read(sample("")), {"sample": next(iter(SAMPLES))})


def read(texts: Mapping[str, str]) -> tuple[rollouts.Read, report.Report]:
    return reported(rollouts.read([(name, [text.encode()]) for name, text in texts.items()], limit=rollouts.PAGE))


def warmed() -> None:
    """Runs everything once before Python is saved as a snapshot, so that it has everything that is loaded on first
    use.
    """
    for name in SAMPLES:
        answer(read(sample(name)), {})
    list(stream("begin", "{}"))
    for step, data in (("file", "x"), ("piece", b"dear diary"), ("end", "")):
        list(stream(step, data))
    SESSION.begin({})
