"""The notebooks: made from plain scripts, run as they are, and compared with what they show.

`UPDATE_DOCS=1 pytest python/tests/test_notebooks.py` makes them anew, with their outputs; for charts
as pictures it needs vl-convert-python.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
SCRIPTS = sorted(FOLDER.glob("*.py"))
CHART = "application/json"
MOST_SECONDS = 300
"""The longest time of a cell, on a loaded machine."""


def cells_of(script: Path) -> list[dict[str, Any]]:
    """The cells of a script: each begins with `# %%`."""
    cells: list[dict[str, Any]] = []
    for at, part in enumerate(f"\n{script.read_text('utf-8')}".split("\n# %%")[1:]):
        head, _, body = part.partition("\n")
        lines = body.rstrip("\n").split("\n")
        is_text = "[markdown]" in head
        if is_text:
            lines = [line.removeprefix("#").removeprefix(" ") for line in lines]
        source = [line + "\n" for line in lines[:-1]] + lines[-1:]
        cell: dict[str, Any] = {"id": f"cell-{at}", "metadata": {}, "source": source}
        if is_text:
            cells.append({"cell_type": "markdown", **cell})
        else:
            cells.append({"cell_type": "code", "execution_count": None, "outputs": [], **cell})
    return cells


def notebook_of(script: Path) -> dict[str, Any]:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    language = {"name": "python", "file_extension": ".py"}
    return {
        "cells": cells_of(script),
        "metadata": {"kernelspec": kernel, "language_info": language},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def run(script: Path) -> dict[str, Any]:
    """The notebook with the outputs of its cells; an error in one is an error here."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    whole = notebook_of(script)
    # Charts come as what they are made of, and not as a page that fetches a library.
    charts = {"source": ["import altair\n", "altair.renderers.enable('json');"]}
    empty: dict[str, Any] = {"metadata": {}, "outputs": [], "execution_count": None}
    whole["cells"].insert(0, {"cell_type": "code", "id": "charts", **empty, **charts})
    notebook = nbformat.reads(json.dumps(whole), as_version=4)
    where = {"metadata": {"path": str(script.parent)}}
    client = nbclient.NotebookClient(notebook, timeout=MOST_SECONDS, resources=where)
    client.execute()
    done: dict[str, Any] = json.loads(json.dumps(notebook))
    del done["cells"][0]
    for at, cell in enumerate(cell for cell in done["cells"] if cell["cell_type"] == "code"):
        cell["execution_count"] = at + 1
        for output in cell["outputs"]:
            if "execution_count" in output:
                output["execution_count"] = at + 1
    for cell in done["cells"]:
        cell["metadata"] = {}
        if "outputs" in cell:
            cell["outputs"] = joined(cell["outputs"])
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("text/html", None)
    return done


def joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is printed comes in pieces, cut at any place."""
    whole: list[dict[str, Any]] = []
    for output in outputs:
        name = output.get("name")
        if name is not None and whole and whole[-1].get("name") == name:
            whole[-1]["text"] = "".join([*whole[-1]["text"], *output["text"]])
        else:
            whole.append(output)
    for output in whole:
        if "text" in output:
            output["text"] = "".join(output["text"]).splitlines(keepends=True)
    return whole


def shown(notebook: dict[str, Any]) -> list[str]:
    """The texts that the cells show; pictures are compared by nobody."""
    texts = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            is_picture = any(kind.startswith(("image/", "application/")) for kind in data)
            text = output.get("text", [] if is_picture else data.get("text/plain", []))
            texts.append("".join(text))
    return texts


def with_pictures(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with pictures in place of charts, which show on any page."""
    import vl_convert  # type: ignore[import-not-found, unused-ignore]

    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for kind in [kind for kind in data if kind.startswith(CHART)]:
                png = vl_convert.vegalite_to_png(data[kind], scale=1)
                output["data"] = {"image/png": base64.b64encode(png).decode() + "\n"}
    return notebook


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_runs_and_shows_what_it_showed(script: Path) -> None:
    path = script.with_suffix(".ipynb")
    done = run(script)
    if os.environ.get("UPDATE_DOCS"):
        text = json.dumps(with_pictures(done), indent=1, ensure_ascii=False)
        path.write_text(text + "\n", "utf-8")
        return
    kept = json.loads(path.read_text("utf-8"))
    sources = [[cell["cell_type"], "".join(cell["source"])] for cell in kept["cells"]]
    wanted = [[cell["cell_type"], "".join(cell["source"])] for cell in cells_of(script)]
    assert sources == wanted, "UPDATE_DOCS=1 makes the notebook anew from its script"
    assert shown(done) == shown(kept)


