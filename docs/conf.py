"""How the site is made of the pages in this folder and the docstrings of both distributions: `make docs`."""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
os.environ["IPYTHONDIR"] = str(Path(__file__).parent / "_ext" / "ipython")  # of the tutorials' kernels
logging.getLogger("traitlets").setLevel(logging.WARNING)

ROOT = Path(__file__).parent.parent

gc.set_threshold(200_000, 20, 20)  # trees of pages have no cycles worth a search: a sixth of the time without


def digest_of_sources() -> str:
    """Return a digest of all that what a tutorial prints depends on, besides the tutorial."""
    files = [ROOT / "constraints.txt", *(ROOT / "src").rglob("*"), *(ROOT / "client" / "src").rglob("*")]
    seen = hashlib.sha256()
    for file in sorted(file for file in files if file.is_file() and "__pycache__" not in file.parts):
        seen.update(file.read_bytes())
    return seen.hexdigest()[:16]


project = "ocucb"
copyright = "the ocucb authors"  # noqa: A001
html_title = "ocucb"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "plain_docstrings",
    "executed_pages",
    "http_reference",
    "line_breaks",
    "markdown_pages",
    "module_reference",
    "motion_page",
    "notebooks",
    "package_reference",
    "question_chart",
    "raised_letters",
    "repository_links",
    "unbroken_numbers",
]
exclude_patterns = ["_build", "_ext"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "cache"  # tutorials are executed anew if they, the package or its dependencies have changed
nb_execution_cache_path = str(ROOT / ".cache" / "tutorials" / digest_of_sources())
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
suppress_warnings = [
    "myst.header",  # a page may begin with the heading that its reader needs
    "ref.python",  # fields of two records may have one name
]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("npt.ArrayLike", "ArrayLike", "Floats")}
default_role = "code"
napoleon_google_docstring = False
napoleon_attr_annotations = False  # types stand in the signature

html_theme = "furo"
pygments_dark_style = "github-dark"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False  # markdown_pages gives the pages as they are
html_show_search_summary = False  # it fetches pages, which a browser refuses to a page opened from a file
