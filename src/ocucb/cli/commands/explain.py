"""`ocucb explain`: the idea of OCUCB-n in one moving picture."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path

from ocucb.cli.console import new_console, print_paths
from ocucb.errors import ParameterError
from ocucb.explain import write_page

OUTPUT = Path("ocucb-explain.html")


def explain(output: Path = OUTPUT) -> None:
    """Write a page that shows OCUCB-n at work beside UCB and MOSS: drag the means, step or play.

    It needs no network. On a terminal it is opened in the browser, if there is one.

    Parameters
    ----------
    output
        The file to write.
    """
    try:
        write_page(output)
    except OSError as error:
        raise ParameterError(f"cannot write {output}: {error.strerror}") from None
    print_paths(new_console(), [output])
    if sys.stdout.isatty():
        webbrowser.open(output.resolve().as_uri())
