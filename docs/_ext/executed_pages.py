"""Pages that are notebooks are executed in a process beside Sphinx, which reads the other pages meanwhile.

What comes out goes to the cache in which MyST-NB looks before it executes a notebook itself: that would be one after
another, each with a kernel that imports everything anew.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from myst_nb.core.read import create_nb_reader
from sphinx.errors import ExtensionError

PROGRAM = Path(__file__).with_name("execute_notebooks.py")
FIGURES = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}  # as in every kernel, but before it is one
MARK = "---\nfile_format: mystnb\n"


class Execution:
    """The notebooks that are being executed: none at first, and none after they were waited for."""

    def __init__(self) -> None:
        self._folder = Path()
        self._pages: dict[str, Path] = {}
        self._process: subprocess.Popen[str] | None = None

    def start(self, app: Any, env: Any, names: list[str]) -> None:
        """Start those that the cache has not got; all notebooks are read last."""
        pages = {name: Path(env.doc2path(name)) for name in names}
        texts = {name: page.read_text(encoding="utf-8") for name, page in pages.items()}
        names.sort(key=lambda name: (texts[name].startswith(MARK), name))
        self._folder = Path(tempfile.mkdtemp(prefix="notebooks"))
        cache = get_cache(app.config.nb_execution_cache_path)
        for name in names:
            if texts[name].startswith(MARK):
                reader = create_nb_reader(str(pages[name]), env.myst_config, env.mystnb_config, texts[name])
                notebook = reader.read(texts[name])
                try:
                    cache.match_cache_notebook(notebook)
                except KeyError:
                    self._pages[name] = self._folder / f"{name.replace('/', '-')}.ipynb"
                    nbformat.write(notebook, self._pages[name])
        if self._pages:
            command = [sys.executable, PROGRAM, *self._pages.values()]
            self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | FIGURES)

    def finish(self, app: Any, name: str, source: list[str]) -> None:
        """Wait for all before the first of them is read, and put what came out into the cache."""
        if name not in self._pages:
            return
        said = self._process.communicate()[1]
        if self._process.returncode:
            raise ExtensionError(f"a page that is executed has failed:\n{said}")
        cache = get_cache(app.config.nb_execution_cache_path)
        for page, file in self._pages.items():
            notebook = nbformat.read(file, as_version=4)
            cache.cache_notebook_bundle(CacheBundleIn(notebook, app.env.doc2path(page)), check_validity=False)
            file.unlink()
        self._folder.rmdir()
        self._pages.clear()


def setup(app: Any) -> dict[str, bool]:
    """Start before pages are read. Only one process may read them, as it is the one that has started the other."""
    execution = Execution()
    app.connect("env-before-read-docs", execution.start)
    app.connect("source-read", execution.finish, priority=100)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
