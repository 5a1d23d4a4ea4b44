"""The links of the built pages: what the fences wrote from the site's root is made relative, and every link leads to a
file that is there and to an anchor that is in it.

MkDocs looks at the Markdown and does not see what the fences write: widgets, cards, and links from numbers to lines of
code.
"""

import re
from html import unescape
from urllib.parse import unquote, urldefrag, urlsplit

LINK, ANCHOR = (
    re.compile(r'<[^>]*?\s(?:(?:xlink:)?href|src)="?([^"\s>]*)'),
    re.compile(r'<[^>]*?\s(?:id|name)="?([^"\s>]+)'),
)
ROOTED = re.compile(r'(<a [^>]*?href=")/(?!/)')


def relative(text, page):
    """The text of a page at `page` below the site, its links from the root as links from there: a fence does not know
    on which page it stands, and the site not under which address.
    """
    return ROOTED.sub(rf"\g<1>{'../' * (len(page.parts) - 1) or './'}", text)


def broken(site):
    """A sentence for each link that leads nowhere."""
    site = site.resolve()
    anchors = {
        page: {unescape(name) for name in ANCHOR.findall(page.read_text(encoding="utf-8"))}
        for page in sorted(site.rglob("*.html"))
    }
    for page in anchors:
        if page.name == "404.html":  # shown anywhere, so its links are absolute
            continue
        for link in sorted({unescape(link) for link in LINK.findall(page.read_text(encoding="utf-8"))}):
            address, anchor = urldefrag(link)
            if urlsplit(link).scheme or urlsplit(link).netloc:
                continue
            target = (page.parent / unquote(urlsplit(address).path)).resolve() if address else page
            target = target / "index.html" if target.is_dir() else target
            where = f"{page.relative_to(site)}: {link}"
            if not target.exists():
                yield f"{where} leads to no file"
            elif anchor and target in anchors and unquote(anchor) not in anchors[target] | {"__top"}:
                yield f"{where} leads to no such anchor"
