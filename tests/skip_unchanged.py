"""Expensive tests run every night, and on a push only where something that they depend on has changed.

    @pytest.mark.when_changed()                            depends on its own file and on all that this imports
    @pytest.mark.when_changed("widgets.ppo.widget", files=["lessons/10-ppo.md"])      on these modules and files too
    @pytest.mark.when_changed(files=["mkdocs.yml"], imports=False)             on this file and its own alone

A change is what differs from the base commit: $BASE if it is set, else the merge base with origin/main, and on that
itself the commit before; what is not committed counts too. Where git cannot say, nothing has changed. A change to
something that very many import would bring them all: of one family (`family="…"`, by default the folder of the test)
at most MOST sets of dependencies, or `most=…`, are run on a push. The night, NIGHTLY=1, runs them all.

What has passed is also stamped with a sum over all that it depends on, and skipped while that stays the same, at night
too: only a machine that keeps `_cache/passed` sees this.
"""

import hashlib
import os
import subprocess
import sys
from collections import defaultdict
from functools import cache

import pytest

from tools.pages import inputs, results, sums
from tools.runtime import files

ROOT = inputs.ROOT
PASSED = ROOT / "_cache" / "passed"
MOST = 4
UNCHANGED = "it has passed, and nothing that it depends on has changed since"


def nightly():
    return bool(os.environ.get("NIGHTLY"))


def dependencies(item):
    """(modules, files) of all `when_changed` marks of a test, its own file included; None for a test without one."""
    marks = list(item.iter_markers("when_changed"))
    if not marks:
        return None
    modules = {module for mark in marks for module in mark.args}
    if all(mark.kwargs.get("imports", True) for mark in marks):
        modules.add(".".join(item.path.relative_to(ROOT).with_suffix("").parts))
    named = {item.path, *(ROOT / file for mark in marks for file in mark.kwargs.get("files", ()))}
    return tuple(sorted(modules)), tuple(sorted(named))


def family(item):
    """(name of the family, how many of it a push runs)."""
    words = {}
    for mark in item.iter_markers("when_changed"):
        words = mark.kwargs | words  # the closest mark comes first
    return words.get("family", item.path.parent.relative_to(ROOT).as_posix()), words.get("most", MOST)


def select(items):
    """Mark those of the tests with `when_changed` that this push leaves to the night, with the reason. Inside Pyodide
    all run: what runs there was selected outside.
    """
    if nightly() or sys.platform == "emscripten":
        return
    families = defaultdict(lambda: defaultdict(list))
    for item in items:
        if depends := dependencies(item):
            families[family(item)][depends].append(item)
    if not families:
        return
    changed, since = changes()
    for (name, most), units in families.items():
        touched = {depends for depends in units if changed & needed(*depends)} if changed else set()
        common = set.intersection(*(needed(*depends) for depends in units)) if touched else set()
        remaining = chosen(touched, changed, common, most)
        for depends, tests in units.items():
            if depends not in touched:
                reason = f"nothing that it depends on has changed since {since}" if since else NO_BASE
            elif depends not in remaining:
                reason = f"the change reaches {len(touched)} of {name}, and a push runs {most} of them"
            else:
                continue
            for test in tests:
                test.add_marker(pytest.mark.skip(reason=f"{reason}; every night runs it (NIGHTLY=1)"))


def chosen(touched, changed, common, most):
    """At most `most` of these sets of dependencies. First come those that name a changed module or file, then those
    with a change in what not all of the family share, then the others; of too many of a kind a sample, evenly apart.
    """
    kinds = ([], [], [])
    for depends in sorted(touched):
        theirs = changed & needed(*depends) - common
        kinds[0 if theirs & directly(*depends) else 1 if theirs else 2].append(depends)
    sample = []
    for kind in kinds:
        room = most - len(sample)
        sample += [kind[i * len(kind) // room] for i in range(room)] if len(kind) > room else kind
    return set(sample)


def directly(modules, named):
    return {*filter(None, map(inputs.file_of, modules)), *named}


@cache
def needed(modules, named):
    return {*inputs.closure(*modules), *named}


# --- what has changed

NO_BASE = "git does not say what has changed (no repository, or none of the commits to compare with)"


@cache
def changes(root=ROOT):
    """(files that differ from the base commit, the first letters of that commit); (set(), None) where git cannot
    say.
    """
    commit = base(root)
    differ = git(root, "diff", "--name-only", "--no-renames", "-z", commit) if commit else None
    new = git(root, "ls-files", "--others", "--exclude-standard", "-z") if commit else None
    if differ is None or new is None:
        return set(), None
    return {root / name for name in (differ + new).split("\0") if name}, commit[:12]


def base(root):
    """The commit that changes are counted from; None where there is none."""
    if named := os.environ.get("BASE"):
        return git(root, "merge-base", named, "HEAD")
    head, common = git(root, "rev-parse", "HEAD"), git(root, "merge-base", "origin/main", "HEAD")
    return common if common and common != head else git(root, "rev-parse", "--verify", "--quiet", "HEAD~1")


def git(root, *words):
    """What git prints; None where it fails, is not installed, or `root` lies in another repository."""
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, encoding="utf-8")
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 and (root / ".git").exists() else None


# --- what has passed


def stamp(item):
    """The file that says that a test has passed with all that it depends on as it is now."""
    modules, named = dependencies(item)
    variant = results.variant  # of the starts of policies, which tests/machines changes
    total = sums.digest(*modules), [files.sha256(file) for file in named], variant
    return PASSED / hashlib.sha256(repr((item.nodeid, total)).encode()).hexdigest()[:24]


def skip_if_passed(item):
    if dependencies(item) and (file := stamp(item)).exists():
        os.utime(file)
        pytest.skip(UNCHANGED)


def passed(item):
    if dependencies(item):
        files.write(stamp(item), item.nodeid)
