"""Which files that the book cites have changed since the release or commit that the page names?

    python -m tools.cited            once a year: nothing is asked before the year of READ is over
    python -m tools.cited --now      ask whatever the date

The pages quote libraries as they were on one day, so their links name a tag or a commit and never go stale by
themselves. What does go stale is the fact: an option is renamed, a default moves. This asks GitHub for every cited file
there and on the default branch, and names those that differ, by page. To be read again are the sentences on these
pages; then READ is set to that day. The nightly workflow runs it (.github/workflows/nightly.yml); no test does.
"""

import json
import os
import re
import sys
import urllib.error
import urllib.request
from collections import defaultdict
from datetime import date
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
READ = date(2026, 11, 25)  # when the cited files were last compared with what the pages say of them
LINK = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/(blob|tree|raw|blame|edit)/([\w.-]+)(?:/([^\s)\"'>#?]*))?")
FIXED = re.compile(r"[0-9a-f]{40}|v\d+(\.\d+)+(\.?(post|rc)\d+)?")  # a commit, or the tag of a release
API = "https://api.github.com/repos/{}/contents/{}{}"

SAME, CHANGED, GONE, NO_SUCH, UNKNOWN = "same", "changed", "moved or removed", "not there where cited", "not answered"
WRONG = (CHANGED, GONE, NO_SUCH)


class Cited(NamedTuple):
    repository: str
    ref: str
    path: str


def pages():
    """The files of the book in which a link may stand."""
    for folder, kinds in (("lessons", "md yml"), ("sim", "py"), ("rlpt", "py"), ("widgets", "py")):
        for kind in kinds.split():
            yield from sorted((ROOT / folder).rglob(f"*.{kind}"))


def links(text):
    """[(the link, what it cites)] of every link into a repository of GitHub that names a branch, tag or commit."""
    return [(m[0], Cited(m[1], m[3], (m[4] or "").rstrip("/."))) for m in LINK.finditer(text)]


def cited():
    """{what is cited: the pages that cite it}"""
    found = defaultdict(list)
    for page in pages():
        for _, what in links(page.read_text(encoding="utf-8")):
            if page.name not in found[what]:
                found[what].append(page.name)
    return dict(found)


def due(today):
    return today.year > READ.year


def verdict(there, now):
    """What two answers mean, the file as cited and on the default branch: its hash, None if there is no such file, or
    an error, of which nothing follows.
    """
    if isinstance(there, Exception) or isinstance(now, Exception):
        return UNKNOWN
    if there is None:
        return NO_SUCH
    return GONE if now is None else SAME if there == now else CHANGED


def ask(repository, path, ref=""):
    """The hash that git gives a file or folder, at `ref` or on the default branch; None, or the error."""
    headers = {"Accept": "application/vnd.github.object+json", "User-Agent": "cited"}
    if token := os.environ.get("GITHUB_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(API.format(repository, path, f"?ref={ref}" if ref else ""), headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["sha"]
    except urllib.error.HTTPError as error:
        return None if error.code == 404 else error
    except (OSError, ValueError, KeyError) as error:
        return error


def report(found, answer=ask):
    """[(verdict, what is cited, the pages)] of all that is not the same any more; a whole repository is not asked for:
    it changes with every commit.
    """
    said = []
    for what, where in sorted(found.items()):
        if what.path:
            result = verdict(answer(what.repository, what.path, what.ref), answer(what.repository, what.path))
            if result != SAME:
                said.append((result, what, where))
    return said


def main(arguments, today, found, answer=ask):
    if not due(today) and "--now" not in arguments:
        print(f"The cited files were read in {READ.year}; they are asked for again in {READ.year + 1}.")
        return 0
    said = report(found, answer)
    for result, (repository, ref, path), where in said:
        print(f"{result}: {repository}/{path} since {ref[:12]}, cited in {', '.join(where)}")
    print(f"{len(said)} cited files to look at. When their pages are right again, set READ in tools/cited.py.")
    return int(any(result in WRONG for result, *_ in said))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], date.today(), cited()))
