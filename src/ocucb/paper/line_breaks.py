"""Where a formula may be broken that is wider than the page: where a reader would do it, and outside before inside.

A browser breaks lines between `<math>` elements, never within one. So a row is cut into parts, and these into smaller
ones; as each is a box of its own on the page, it is broken only if it does not fit into a line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

Kind = Literal["letter", "operator", "open", "close", "name"]

QUAD, APPLIED = " ", "\u2061"  # the signs of a wide space, and of a name such as log
RELATIONS = "≤≥=<>≠≈∼⇒∈"
# Strongest first. A line begins with the sign, or ends with it if that is punctuation.
LEVELS = (QUAD, "⇒", ":;", ",", RELATIONS, "+−")
FACTORS = f"·∑∏{APPLIED}"  # only if there is nothing else, not even a fence
PUNCTUATION = ":;,"
SHORT = 3  # atoms before a relation that stay with it
LONG = 8  # atoms of a row that may be broken in plain brackets
BETWEEN, WIDE_BETWEEN = "<wbr>", '<span class="quad"> </span>'


class BreakableRow(NamedTuple):
    """A row that may be broken between its parts."""

    parts: tuple[str | BreakableRow, ...]
    between: str = BETWEEN


class Atom(NamedTuple):
    """A piece of a row, and what it is for the space around it; for operators its sign; and in parts, if it has any."""

    markup: str
    kind: Kind
    sign: str = ""
    parts: BreakableRow | None = None


def markup_of(atoms: Sequence[Atom]) -> str:
    """Return a row that is never broken."""
    return "".join(atom.markup for atom in atoms)


def in_parts(atoms: Sequence[Atom]) -> str | BreakableRow:
    """Return a row in parts, or as one if there is no place to break it."""
    for signs in LEVELS:
        if len(rows := _split(atoms, signs, 0)) > 1:
            return BreakableRow(tuple(map(in_parts, rows)), WIDE_BETWEEN if signs == QUAD else BETWEEN)
    fences = [(at, atom.parts) for at, atom in enumerate(atoms) if atom.parts]
    if len(fences) > 1:
        starts = [at - (atoms[at - 1].kind == "name") for at, _ in fences[1:]]  # a name stays with its fence
        return BreakableRow(tuple(map(in_parts, _cut(atoms, starts))))
    if fences:
        ((at, inside),) = fences
        before, after = markup_of(atoms[:at]), markup_of(atoms[at + 1 :])
        return at_ends(inside, lambda first: before + first, lambda last: last + after)
    if len(rows := _split(atoms, FACTORS, 0)) > 1:
        return BreakableRow(tuple(map(in_parts, rows)))
    for signs in LEVELS if len(atoms) >= LONG else ():
        if len(rows := _split(atoms, signs, 1)) > 1:
            return BreakableRow(tuple(map(markup_of, rows)))
    return markup_of(atoms)


def at_ends(row: BreakableRow, first: Callable[[str], str], last: Callable[[str], str]) -> BreakableRow:
    """Return a row with something done to the first of its smallest parts, and to the last."""

    def changed(parts: BreakableRow, at: int, change: Callable[[str], str]) -> BreakableRow:
        all_parts, end = list(parts.parts), parts.parts[at]
        all_parts[at] = change(end) if isinstance(end, str) else changed(end, at, change)
        return parts._replace(parts=tuple(all_parts))

    return changed(changed(row, 0, first), -1, last)


def to_html(row: str | BreakableRow) -> str:
    """Return a row as a line of a page: `<math>` elements in boxes."""
    if isinstance(row, str):
        return f'<math displaystyle="true">{row}</math>'
    return row.between.join(
        f"<span>{to_html(part)}</span>" if isinstance(part, BreakableRow) else to_html(part) for part in row.parts
    )


def _split(atoms: Sequence[Atom], signs: str, within: int) -> list[Sequence[Atom]]:
    """Return a row cut at some signs that stand in so many plain brackets; wide spaces themselves are left out."""
    places, depth = list[int](), 0
    for at, atom in enumerate(atoms):
        depth += atom.kind == "open"
        if depth == within and atom.sign and atom.sign in signs and _is_between(atoms, at):
            places.append(_end_of(atoms, at) if atom.sign in PUNCTUATION else at)
        depth -= atom.kind == "close"
    if signs == RELATIONS and places and places[0] <= SHORT and not any(atom.parts for atom in atoms[: places[0]]):
        del places[0]
    rows = _cut(atoms, places)
    return [[atom for atom in row if atom.sign != QUAD] for row in rows] if signs == QUAD else rows


def _is_between(atoms: Sequence[Atom], at: int) -> bool:
    """Return whether a sign stands between two things, unlike the minus of -1 and the max of log max."""
    sided = atoms[at].sign not in "+−∑∏" + APPLIED or atoms[at - 1].kind in ("letter", "close")
    return 0 < at < len(atoms) - 1 and sided


def _end_of(atoms: Sequence[Atom], at: int) -> int:
    """Return where the space after a punctuation mark ends."""
    at += 1
    while at < len(atoms) and atoms[at].markup.startswith("<mspace"):
        at += 1
    return at


def _cut(atoms: Sequence[Atom], places: Sequence[int]) -> list[Sequence[Atom]]:
    ends = (*(place for place in places if 0 < place < len(atoms)), len(atoms))
    starts = (0, *ends[:-1])
    return [atoms[start:end] for start, end in zip(starts, ends, strict=True)]
