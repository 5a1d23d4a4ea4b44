"""A built page as a tree, read without a browser, in which elements are found by tag, class and attribute."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Element:
    tag: str
    attributes: dict
    children: list = field(default_factory=list)  # elements and texts

    @property
    def classes(self):
        return (self.attributes.get("class") or "").split()

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def elements(self):
        """All elements below this one, in the order of the page."""
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child.elements

    def all(self, path):
        """The elements below this one at a path such as "dl.readouts dd b": each step a tag, classes and the names of
        attributes, `tag.class[name]`, anywhere below the step before it.
        """
        found = [self]
        for step in path.split():
            found = {id(one): one for above in found for one in above.elements if one.matches(step)}.values()
        return list(found)

    def matches(self, step):
        tag, classes, names = (re.findall(form, step) for form in (r"^[\w-]+", r"\.([\w-]+)", r"\[([\w-]+)\]"))
        return (
            tag in ([], [self.tag]) and {*classes} <= {*self.classes} and all(name in self.attributes for name in names)
        )


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag, attributes):
        element = Element(tag, dict(attributes))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.open[-1].children.append(Element(tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag in [element.tag for element in self.open]:
            while self.open.pop().tag != tag:
                pass

    def handle_data(self, text):
        self.open[-1].children.append(text)


def read(path):
    """The tree of a built page."""
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader.open[0]
