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
    pages_citing = defaultdict(list)
    for page in pages():
        for _, citation in links(page.read_text(encoding="utf-8")):
            if page.name not in pages_citing[citation]:
                pages_citing[citation].append(page.name)
    return dict(pages_citing)


def due(today):
    return today.year > READ.year


def verdict(as_cited, on_default):
    """What two answers of `ask` mean, on the file as cited and on the default branch: its hash, None if there is no
    such file, or an error, from which nothing follows.
    """
    if isinstance(as_cited, Exception) or isinstance(on_default, Exception):
        return UNKNOWN
    if as_cited is None:
        return NO_SUCH
    return GONE if on_default is None else SAME if as_cited == on_default else CHANGED


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


def report(citations, answer=ask):
    """[(verdict, what is cited, the pages that cite it)] of all files that have changed. Links to a whole repository
    are left out: it changes with every commit.
    """
    stale = []
    for citation, citing in sorted(citations.items()):
        if citation.path:
            result = verdict(
                answer(citation.repository, citation.path, citation.ref), answer(citation.repository, citation.path)
            )
            if result != SAME:
                stale.append((result, citation, citing))
    return stale


def main(arguments, today, citations, answer=ask):
    if not due(today) and "--now" not in arguments:
        print(f"The cited files were read in {READ.year}; they are asked for again in {READ.year + 1}.")
        return 0
    stale = report(citations, answer)
    for result, (repository, ref, path), citing in stale:
        print(f"{result}: {repository}/{path} since {ref[:12]}, cited in {', '.join(citing)}")
    print(f"{len(stale)} cited files to look at. When their pages are right again, set READ in tools/cited.py.")
    return int(any(result in WRONG for result, *_ in stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], date.today(), cited()))
