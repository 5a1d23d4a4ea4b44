"""The front page of the Measurement Lab: what it is for, and its pages with how many of their goals are reached."""

from tools.pages import lesson_data, lessons
from widgets.frame.reader import pages


def shown(section):
    """The values for site/parts/lab.html."""
    if section not in ("aims", "pages"):
        raise ValueError(f"{section} is none of aims and pages")
    there = {page.name.partition(" ")[0]: page for page in lessons.lab()}
    aims = [
        dict(says=aim["says"], pages=[named(name, there) for name in aim["pages"]], **count(aim["pages"], there))
        for aim in lesson_data.read("lab.yml")["aims"]
    ]
    cards = [dict(page=page, **count([name], there)) for name, page in there.items()]
    return dict(section=section, aims=aims, cards=cards)


def named(name, there):
    """A page by its name, with its address if it is there."""
    return dict(name=name, url=there[name].url if name in there else "")


def count(names, there):
    """How many goals these pages have, and the modules under which the browser keeps those that were reached."""
    modules = [module for name in names if name in there for module in modules_of(there[name])]
    return dict(total=sum(len(goals(module)) for module in modules), modules=" ".join(modules))


def modules_of(page):
    """The folders of widgets/ that belong to a page: m5-laziest -> lab_m5, lab_m5_patch."""
    own = f"lab_{page.number}"
    return [name for name in pages.MODULES if name == own or name.startswith(f"{own}_")]


def goals(module):
    """The goals of a folder, in words: of its cases and of the function that readers write there."""
    sorts, editable = pages.module(module, "sorts"), pages.module(module, "editable")
    found = [sort.goal for sort in sorts.SORTS.values()] if sorts else []
    return found + [goal.words for goal in getattr(editable, "GOALS", ())]
