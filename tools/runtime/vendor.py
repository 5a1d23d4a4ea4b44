"""Fill site/vendor/: the runtime that the pages bring along, and our own Python for it, in one archive."""

import io
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

from tools.runtime import fetch, files, snapshot
from tools.runtime.messages import Stop, say

ROOT = fetch.ROOT
VENDOR = ROOT / "site" / "vendor"
FONTS = [
    "source-serif-4/files/source-serif-4-latin-wght-normal",
    "source-serif-4/files/source-serif-4-latin-wght-italic",
    "source-serif-4/files/source-serif-4-greek-wght-normal",
    "source-sans-3/files/source-sans-3-latin-wght-normal",
    "source-sans-3/files/source-sans-3-greek-wght-normal",
    "source-code-pro/files/source-code-pro-latin-wght-normal",
    "source-code-pro/files/source-code-pro-greek-wght-normal",
]
FACES = [
    "AMS-Regular",
    "Caligraphic-Bold",
    "Caligraphic-Regular",
    "Fraktur-Bold",
    "Fraktur-Regular",
    "Main-Bold",
    "Main-BoldItalic",
    "Main-Italic",
    "Main-Regular",
    "Math-BoldItalic",
    "Math-Italic",
    "SansSerif-Bold",
    "SansSerif-Italic",
    "SansSerif-Regular",
    "Script-Regular",
    "Size1-Regular",
    "Size2-Regular",
    "Size3-Regular",
    "Size4-Regular",
    "Typewriter-Regular",
]
COPIES = {  # place in site/vendor/ -> file in node_modules/
    **{
        f"pyodide/{name}": f"pyodide/{name}"
        for name in ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"]
    },
    "plotly.min.js": "plotly.js-cartesian-dist-min/plotly-cartesian.min.js",
    "plotly.LICENSE.txt": "plotly.js-cartesian-dist-min/LICENSE",
    **{f"fonts/{path.rpartition('/')[2]}.woff2": f"@fontsource-variable/{path}.woff2" for path in FONTS},
    **{
        f"fonts/{family}.LICENSE.txt": f"@fontsource-variable/{family}/LICENSE"
        for family in ["source-serif-4", "source-sans-3", "source-code-pro"]
    },
    **{f"katex/KaTeX_{face}.woff2": f"katex/dist/fonts/KaTeX_{face}.woff2" for face in FACES},
    "katex/LICENSE.txt": "katex/LICENSE",
    "editor.LICENSE.txt": "@codemirror/view/LICENSE",
    "parquet.LICENSE.txt": "hyparquet/LICENSE",
}
LINKER = "pyodide/pyodide.asm.mjs"
PATCH = (
    # lets site/assets/snapshot.js say where a library goes
    "alignMemory(getMemory(metadata.memorySize+memAlign),memAlign)",
    "alignMemory((Module.placed??((name,place)=>place()))(libName,()=>getMemory(metadata.memorySize+memAlign)),memAlign)",
)
STYLE = "katex/dist/katex.min.css"
PARQUET = (  # modules of hyparquet
    "alp assemble bloom column constants convert datapage delta encoding filter geoparquet index indexes "
    "metadata plain plan read rowgroup scan schema snappy thrift utils variant wkb xxhash"
)
BUNDLED = {  # file of site/vendor/, from that with its name in this folder: all that goes into it
    "editor.js": [
        *(f"@codemirror/{name}/dist/index.js" for name in ["commands", "language", "state", "streamparser", "view"]),
        "@codemirror/legacy-modes/mode/python.js",
        *(f"@lezer/{name}/dist/index.js" for name in ["common", "highlight"]),
        "@marijn/find-cluster-break/src/index.js",
        "crelt/index.js",
        "style-mod/src/style-mod.js",
        "w3c-keyname/index.js",
    ],
    "parquet.js": [f"hyparquet/src/{name}.js" for name in PARQUET.split()],
}
BUNDLER = "esbuild/bin/esbuild"
TAKEN = [*COPIES.values(), STYLE, BUNDLER, *(file for each in BUNDLED.values() for file in each)]
PACKED = ("sim", "rlpt", "widgets")


def fill(node, python, strict=False):
    """Every file of site/vendor/ as it must be, and no other; `node` is an environment whose PATH has npm. Whether the
    snapshot is among them: one that cannot be made is said, and with `strict` it is a Stop.
    """
    sums = fetch.npm_packages(TAKEN, node, "--omit=dev")
    wheel, wheel_sum = fetch.numpy_wheel(python)
    linker = (ROOT / "node_modules" / COPIES[LINKER]).read_text(encoding="utf-8")
    if linker.count(PATCH[0]) != 1:
        raise Stop("This Pyodide links libraries in another way: PATCH in tools/runtime/vendor.py does not fit it.")
    copies = {place: (ROOT / "node_modules" / name, sums[name]) for place, name in COPIES.items() if place != LINKER}
    copies[f"pyodide/{wheel.name}"] = wheel, wheel_sum
    texts = {
        "python.zip": packed(PACKED),
        "katex/katex.css": woff2_only((ROOT / "node_modules" / STYLE).read_text(encoding="utf-8")).encode(),
        LINKER: linker.replace(*PATCH).encode(),
        **{name: bundle(name, node) for name in BUNDLED},
    }
    for place, (source, sum_) in copies.items():
        if files.sha256(VENDOR / place) != sum_:
            files.copy(source, VENDOR / place)
    written(texts)
    try:
        pieces = snapshot.pieces(VENDOR / "pyodide", wheel, node)
    except Stop as fault:
        if strict:
            raise
        say(f"{fault}\nThe pages will start Python without it, which takes about four times as long.")
        pieces = {"snapshot.json": b"{}"}
    texts |= pieces
    written(texts)
    for path in VENDOR.rglob("*"):
        if path.is_file() and path.relative_to(VENDOR).as_posix() not in {*copies, *texts}:
            path.unlink()
    return len(pieces) > 1


def bundle(name, node):
    """A file of BUNDLED: ours of that name in this folder and the packages it is made of, as one module."""
    words = [
        str(Path(__file__).with_name(name).with_suffix(".mjs")),
        "--bundle",
        "--minify",
        "--format=esm",
        "--target=es2022",
        "--charset=utf8",
        "--log-level=error",
    ]
    done = subprocess.run(
        [shutil.which("node", path=node["PATH"]), f"node_modules/{BUNDLER}", *words],
        cwd=ROOT,
        env=node,
        capture_output=True,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[:300]
        raise Stop(f"The packages of {name} could not be joined: {said}")
    return done.stdout


def written(texts):
    for place, content in texts.items():
        if files.sha256(VENDOR / place) != fetch.sum_of(content):
            files.write(VENDOR / place, content)


def woff2_only(css):
    """KaTeX's style sheet without the older formats, its fonts beside it."""
    return re.sub(r',url\(fonts/[^)]*\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)', "", css).replace(
        "url(fonts/", "url("
    )


def packed(folders, root=ROOT):
    """The folders as one zip archive whose bytes depend on the files' names and contents alone."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zip_:
        for path in sorted(
            (path for folder in folders for path in (root / folder).rglob("*") if path.is_file()),
            key=lambda path: path.parts,  # Windows would sort without regard to capitals
        ):
            name = path.relative_to(root)
            if "__pycache__" in name.parts or any(part.startswith(".") for part in name.parts):
                continue
            entry = zipfile.ZipInfo(name.as_posix(), date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # the same bytes from Windows
            zip_.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return archive.getvalue()
