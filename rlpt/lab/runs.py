"""A run in a folder: completions with their scores, what they sum to, and everything that the run depends on.

Nothing in it depends on the time or the place, so the same run twice gives the same bytes. A folder appears whole or
not at all, and an older one is never changed. Not a model.

    manifest.json   what the run depends on, and what was changed
    raw.jsonl       the completions with their prompts, as they were read
    scores.jsonl    a reward and a reason for each of them
    summary.json    the pass rate with its interval, the reasons, pass@k
    failures.md     the five prompts with the lowest and the highest mean reward
"""

import hashlib
import json
import platform
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from rlpt.lab.records import Bad
from rlpt.lab.scorers import BROKEN, judged
from sim.estimators import attempts, wilson
from sim.words import counted

FORMAT = 1  # of a run's folder
SIZES = 1, 2, 4, 8  # of pass@k
ENDS, SHOWN = 5, 200  # prompts at each end of failures.md, characters of a completion there
MISSING = "missing"


@dataclass(frozen=True)
class Score:
    example_id: str
    sample_id: int
    reward: float | None  # None if the scorer broke its contract
    reason: str
    details: dict

    @property
    def paid(self):
        return self.reward or 0.0


def scored(scorer, chosen):
    """The Scores of all chosen completions. A missing one has reward 0."""
    out, missing = [], set(chosen.missing)
    for prompt in chosen.prompts:
        for sample in chosen.ids:
            if (prompt["id"], sample) in missing:
                out.append(Score(prompt["id"], sample, 0.0, MISSING, {}))
            else:
                completion = chosen.completions[prompt["id"]][sample]["completion"]
                said = judged(scorer.judge, prompt["expected_answer"], completion, prompt["id"])
                out.append(Score(prompt["id"], sample, *said))
    return out


# ── what goes into the files ──
def manifest(chosen, given, sampled, scorer, spec, sampling, change, parent):
    """What the run depends on."""
    prompts = [{"id": row["id"], "prompt": row["prompt"]} for row in chosen.prompts]
    data = [{"id": row["id"], "expected_answer": row["expected_answer"]} for row in chosen.prompts]
    return {
        "format": FORMAT,
        "spec": spec,
        "scorer": {"name": scorer.name, "sha256": scorer.sha256},
        "data": {"name": given.name, "version": given.version, "sha256": digest(data)},
        "prompts": {"count": len(prompts), "sha256": digest(prompts)},
        "split": chosen.split,
        "policy": {"name": sampled.name, "version": sampled.version, "sha256": sampled.sha256},
        "sampling": {"samples": list(chosen.ids), "settings": sampling or sampled.settings},
        "missing": len(chosen.missing),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "commit": commit(),
        "change": change,
        "parent": parent,
    }


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def commit():
    """The commit of the working folder, None outside a repository."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def summary(scores):
    """What the scores sum to; without rates if the scorer broke its contract."""
    right, broken = sum(score.paid == 1 for score in scores), sum(score.reward is None for score in scores)
    return {
        "completions": len(scores),
        "right": right,
        "pass_rate": None if broken else right / len(scores),
        "interval": None if broken else wilson.interval(right, len(scores)),
        "mean_reward": None if broken else sum(score.paid for score in scores) / len(scores),
        "reasons": dict(Counter(score.reason for score in scores).most_common()),
        "pass_at": None if broken else pass_at(scores),
        BROKEN: broken,
        MISSING: sum(score.reason == MISSING for score in scores),
    }


def pass_at(scores):
    """{k: the mean over the prompts of the probability that one of k samples is right}."""
    rows = by_prompt(scores)
    n = len(next(iter(rows.values())))
    of = [sum(score.paid == 1 for score in row) for row in rows.values()]
    return {str(k): sum(attempts.pass_at_k(n, c, k) for c in of) / len(of) for k in SIZES if k <= n}


def by_prompt(scores):
    """{example id: its Scores}, in order."""
    rows = {}
    for score in scores:
        rows.setdefault(score.example_id, []).append(score)
    return rows


def mean(row):
    return sum(score.paid for score in row) / len(row)


def failures(scores, chosen):
    """The prompts with the lowest and the highest mean reward, each with one of its completions for every reason."""
    rows = by_prompt(scores)
    order = sorted(rows, key=lambda name: mean(rows[name]))  # stable, so ties stay in the order of the prompts
    prompts = {row["id"]: row for row in chosen.prompts}
    lines = []
    for title, names in (("lowest", order[:ENDS]), ("highest", order[::-1][:ENDS])):
        lines += [f"# The prompts with the {title} mean reward", ""]
        for name in names:
            prompt = prompts[name]
            lines.append(f"## {shown(name)}: {mean(rows[name]):.3f} of {counted(len(rows[name]), 'completion')}")
            lines += ["", f"prompt {shown(prompt['prompt'])}, expected {shown(prompt['expected_answer'])}", ""]
            first = {score.reason: score for score in reversed(rows[name])}
            for reason in Counter(score.reason for score in rows[name]):
                found = chosen.completions[name].get(first[reason].sample_id, {"completion": None})
                lines.append(f"- {shown(reason)}: `{shown(found['completion'])}`")
            lines.append("")
    return "\n".join(lines)


def shown(value):
    """A value on one line, in ASCII."""
    text = ascii(value) if not isinstance(value, str) else ascii(value)[1:-1]
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …".encode("ascii", "replace").decode()


# ── the folder ──
def write(out, head, chosen, scores):
    """A new folder run_NNN below `out`, and its path. Raises OSError; nothing half-written remains."""
    rows = [
        {**prompt, **chosen.completions[prompt["id"]][sample]}
        for prompt in chosen.prompts
        for sample in chosen.ids
        if sample in chosen.completions[prompt["id"]]
    ]
    files = {
        "raw.jsonl": "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows),
        "scores.jsonl": "".join(json.dumps(asdict(score), sort_keys=True) + "\n" for score in scores),
        "summary.json": json.dumps(summary(scores), indent=1) + "\n",
        "failures.md": failures(scores, chosen),
    }
    head = {**head, "files": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}}
    head["sum"] = digest(head)
    return folder(out, "run", {"manifest.json": json.dumps(head, indent=1, sort_keys=True) + "\n", **files})


def folder(out, name, files):
    """A new folder NAME_NNN with these {name: text}, written beside its place and then moved there."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".part_", dir=out))
    try:
        for file, text in files.items():
            (beside / file).write_bytes(text.encode())
        beside.chmod(0o755)
        taken = [
            int(path.name[len(name) + 1 :]) for path in out.glob(f"{name}_*") if path.name[len(name) + 1 :].isdecimal()
        ]
        place = out / f"{name}_{max(taken, default=0) + 1:03}"
        beside.rename(place)
    except BaseException as fault:
        shutil.rmtree(beside, ignore_errors=True)
        if isinstance(fault, OSError):
            fault.filename = str(out)  # the error of a full disk names no file
        raise
    return place


# ── a run that is read again ──
@dataclass(frozen=True)
class Run:
    path: str
    head: dict  # its manifest
    scores: list


def read(path):
    """A run's folder. Raises Bad and OSError."""
    place = Path(path)
    try:
        head = json.loads((place / "manifest.json").read_text(encoding="utf-8"))
        if head["format"] != FORMAT:
            raise Bad(f"{path} has the format {head['format']}, and this command reads {FORMAT}; run eval again")
        if head.pop("sum") != digest(head):
            raise Bad(f"{path}/manifest.json was changed after the run; run eval again")
        written = (place / "scores.jsonl").read_bytes()
        if hashlib.sha256(written).hexdigest() != head["files"]["scores.jsonl"]:
            raise Bad(f"{path}/scores.jsonl was changed after the run; run eval again")
        scores = [Score(**json.loads(line)) for line in written.splitlines()]
    except Bad:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        said = " ".join(str(fault).split())[:80]
        raise Bad(f"{path} is not a whole run ({type(fault).__name__}: {said}); run eval again") from None
    return Run(str(path), head, scores)
