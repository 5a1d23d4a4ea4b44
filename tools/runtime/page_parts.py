"""What the Python of one page needs beside the snapshot: our modules, compiled, and their data, an archive a page.

A part is what the page's modules import, directly or not, without what the snapshot has. It lies in parts/NAME.part:
ppo.part for the page of that widget, doctor.part, rollouts.part and reader_worker.part for the workers that run what
readers bring. site/assets/worker.js unpacks it where the snapshot was made, and imports from there.
"""

import io
import zipfile

from tools.pages import inputs
from widgets.frame.reader import pages

POLICIES = inputs.ROOT / "sim" / "worlds" / "data"
BASE = "widgets.frame.reader.host"  # with all that it imports, in the snapshot


def modules():
    """{part: the modules that it is for}."""
    of_pages = {
        page: [f"widgets.{page}.{kind}" for kind in ("widget", "exercises") if kind in pages.MODULES[page]]
        for page in pages.having("widget")
    }
    editable = [f"widgets.{page}.editable" for page in pages.having("editable")]
    of_files = {name: [f"widgets.frame.reader.{name}"] for name in ("doctor", "rollouts")}
    return {**of_pages, **of_files, "reader_worker": ["widgets.frame.reader.reader_worker", *editable]}


def contents(part):
    """The files of a part, sorted: modules as sources, and data. The policies of sim/worlds are heavy and lie in one
    folder, and those that none of the modules names are left out.
    """
    base = set(inputs.closure(BASE))
    files = [file for file in inputs.closure(*modules()[part]) if file not in base]
    sources = b"".join(inputs.content(file) for file in files if file.suffix == ".py")
    return [file for file in files if file.parent != POLICIES or is_named(file, sources)]


def is_named(file, sources):
    """Whether `transformer_add.npz`, or f"transformer_{…}", stands in these modules."""
    first, _, _ = file.stem.partition("_")
    return file.name.encode() in sources or f"{first}_{{".encode() in sources


def packed(compiled):
    """{place: archive}, each made of an archive of all modules, compiled; the same bytes from the same files."""
    archives = {}
    with zipfile.ZipFile(io.BytesIO(compiled)) as modules_compiled:
        for part in modules():
            archive = io.BytesIO()
            with zipfile.ZipFile(archive, "w") as zip_:
                for file in contents(part):
                    name = file.relative_to(inputs.ROOT).as_posix()
                    is_module = file.suffix == ".py"
                    entry = zipfile.ZipInfo(f"{name}c" if is_module else name, date_time=(1980, 1, 1, 0, 0, 0))
                    entry.create_system = 3  # the same bytes from Windows
                    content = modules_compiled.read(entry.filename) if is_module else inputs.content(file)
                    zip_.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
            archives[f"parts/{part}.part"] = archive.getvalue()
    return archives
