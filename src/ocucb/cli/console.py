"""The console: where what a command answers is printed, and the style of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console, Group
from rich.status import Status
from rich.table import Table
from rich.text import Text

PIPED_WIDTH = 120  # columns where there is no terminal to ask


def new_console() -> Console:
    """Return the console for what a command answers."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=PIPED_WIDTH)


def new_table() -> Table:
    """Return an empty table in the style of all."""
    return Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)


def add_number_column(table: Table, title: str, cells: Sequence[Text]) -> None:
    """Add a column of numbers: its title may be broken into lines, its cells may not."""
    table.add_column(title, justify="right", min_width=max(cell.cell_len for cell in cells))


def titled(title: str, table: Table, remark: str) -> Group:
    """Return a table below its title and above a remark; both may be wider than the table."""
    return Group(Text(title, "bold"), "", table, "", Text(remark, "dim"))


def show_status(words: str) -> Status:
    """Return a sign, on a terminal, of what is being done while the block lasts."""
    return Console(stderr=True).status(words)


def print_paths(console: Console, paths: Sequence[Path]) -> None:
    """Print where files are."""
    for path in paths:
        console.print(str(path), style="cyan", soft_wrap=True)
