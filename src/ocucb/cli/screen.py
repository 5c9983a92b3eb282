"""The screen: where tables go, and their style."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console, Group
from rich.status import Status
from rich.table import Table
from rich.text import Text

PIPED = 120  # columns where there is no terminal to ask


def console() -> Console:
    """Return the console for what a command answers."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=PIPED)


def plain() -> Table:
    """Return an empty table in the style of all."""
    return Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)


def add_column(table: Table, title: str, cells: Sequence[Text]) -> None:
    """Add a column of numbers: its title may be broken into lines, its cells may not."""
    table.add_column(title, justify="right", min_width=max(cell.cell_len for cell in cells))


def titled(title: str, table: Table, remark: str) -> Group:
    """Return a table below its title and above a remark; both may be wider than the table."""
    return Group(Text(title, "bold"), "", table, "", Text(remark, "dim"))


def drawing() -> Status:
    """Return a sign, on a terminal, that files are being made."""
    return Console(stderr=True).status("drawing")


def show_files(screen: Console, files: Sequence[Path]) -> None:
    """Print where the files are."""
    for file in files:
        screen.print(str(file), style="cyan", soft_wrap=True)
