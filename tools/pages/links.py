"""The links of the built pages: what the fences wrote from the site's root is made relative, and every link leads to a
file that is there and to an anchor that is in it.

MkDocs looks at the Markdown and does not see what the fences write: widgets, cards, and links from numbers to lines of
code.
"""

import posixpath
import re
from html import unescape
from urllib.parse import unquote, urldefrag, urlsplit

LINK, ANCHOR = (
    re.compile(r'<[^>]*?\s(?:(?:xlink:)?href|src)="?([^"\s>]*)'),
    re.compile(r'<[^>]*?\s(?:id|name)="?([^"\s>]+)'),
)
ROOTED = re.compile(r'(<a [^>]*?href="|<iframe [^>]*?src=")/(?!/)')


def relative(text, page):
    """The text of a page at `page` below the site, its links from the root as links from there: a fence does not know
    on which page it stands, and the site not under which address.
    """
    return ROOTED.sub(rf"\g<1>{'../' * (len(page.parts) - 1) or './'}", text)


def broken(site):
    """A sentence for each link that leads nowhere."""
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    links, anchors = {}, {}
    for page in sorted(name for name in files if name.endswith(".html")):
        text = (site / page).read_text(encoding="utf-8")
        links[page] = sorted({unescape(link) for link in LINK.findall(text)})
        anchors[page] = {unescape(name) for name in ANCHOR.findall(text)} | {"__top"}
    links.pop("404.html", None)  # shown anywhere, so its links are absolute
    for page, link in ((page, link) for page, found in links.items() for link in found):
        address, anchor = urldefrag(link)
        if address and (urlsplit(address).scheme or urlsplit(address).netloc):
            continue
        target = page
        if address:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(urlsplit(address).path)))
            target = target if target in files else posixpath.normpath(f"{target}/index.html")
        if target not in files:
            yield f"{page}: {link} leads to no file"
        elif anchor and target in anchors and unquote(anchor) not in anchors[target]:
            yield f"{page}: {link} leads to no such anchor"
