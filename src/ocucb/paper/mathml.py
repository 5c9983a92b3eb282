r"""Formulas in TeX as MathML, which browsers draw without help: as much of TeX as the statements of the paper need.

Letters, numbers and the names below; scripts and primes; `\frac`, `\sqrt`, `\hat`, `\tilde`, `\text`; fences by
`\left` and `\right`; and `\\` for a new line. Anything else is an error, so that no formula is
shown half. `line_breaks` says where a line may be broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape

from ocucb.errors import ParameterError
from ocucb.paper.line_breaks import (
    APPLIED,
    QUAD,
    RELATIONS,
    Atom,
    BreakableRow,
    Kind,
    at_ends,
    in_parts,
    markup_of,
    to_html,
)

WORD = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[^ \n]")
THIN = "0.1667em"
RIGHT = "(right)"  # the space after a name, until it is known what follows
SPACES = {r"\,": THIN, r"\;": "0.2778em", r"\quad": "1em", r"\qquad": "2em"}


def _commands(pairs: str) -> dict[str, str]:
    """Return what each command is drawn as, from a text of names and signs."""
    words = pairs.split()
    return {rf"\{name}": sign for name, sign in zip(words[::2], words[1::2], strict=True)}


LETTERS = _commands("""
    alpha α beta β gamma γ delta δ varepsilon ε eta η theta θ kappa κ lambda λ mu μ pi π rho ρ tau τ omega ω
    Delta Δ Lambda Λ Phi Φ Omega Ω P ℙ E 𝔼 R ℝ Z ℤ ind 𝟙 ell ℓ infty ∞ ldots … cdots ⋯
""")
OPERATORS = {mark: mark for mark in "+=,;:/<>|"} | {r"\#": "#"} | {"-": "−", "*": "∗"}
OPERATORS |= _commands("""
    le ≤ ge ≥ ne ≠ in ∈ to → approx ≈ sim ∼ cdot · exists ∃ forall ∀ neg ¬ mid ∣ Rightarrow ⇒
""")
QUADS = ("1em", "2em")
OPENING = {"(": "(", "[": "[", r"\{": "{", r"\lceil": "⌈", r"\lfloor": "⌊"}
CLOSING = {")": ")", "]": "]", r"\}": "}", r"\rceil": "⌉", r"\rfloor": "⌋"}
FENCES = OPENING | CLOSING | {"|": "|", ".": ""}
NAMES = {rf"\{name}": name for name in ("log", "exp")}
WITH_LIMITS = {rf"\{name}": name for name in ("min", "max", "inf", "sup", "lim")}
WITH_LIMITS |= {r"\limsup": "lim sup", r"\argmax": "arg max"}
SUMS = {r"\sum": "∑", r"\prod": "∏"}
PRIME = '<mo class="prime">′</mo>'
ACCENTS = {r"\hat": "^", r"\tilde": "~"}


def to_mathml(tex: str) -> list[str]:
    r"""Return the lines of a formula, each as `<math>` elements between which a narrow page may break it.

    >>> to_mathml("x_i")
    ['<math displaystyle="true"><msub><mi>x</mi><mi>i</mi></msub></math>']
    """
    parser = _Parser(WORD.findall(_hide_text(tex)))
    lines = [parser.atoms()]
    while parser.takes(r"\\"):
        lines.append(parser.atoms())
    if parser.next:
        raise _unknown(parser.next)
    return [to_html(in_parts(line)) for line in lines]


def _hide_text(tex: str) -> str:
    r"""Turn `\text{a b}` into one that has no spaces to lose."""
    return re.sub(r"\\text\{([^{}]*)\}", lambda found: r"\text{" + found[1].replace(" ", "\u00a0") + "}", tex)


def _unknown(word: str) -> ParameterError:
    return ParameterError(f"a formula must be in the TeX that paper/mathml.py knows, got {word!r}; add it there")


class _Parser:
    """A parser by descent: each method takes what it reads from the front of the words."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._at = 0

    @property
    def next(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def take(self) -> str:
        word = self.next
        self._at += 1
        return word

    def takes(self, word: str) -> bool:
        if self.next != word:
            return False
        self._at += 1
        return True

    def must(self, word: str) -> None:
        found = self.take()
        if found != word:
            raise ParameterError(f"a formula must have {word!r} here, got {found!r}; mind the braces")

    def row(self) -> str:
        """Return all up to what ends it as one."""
        return markup_of(self.atoms())

    def atoms(self) -> list[Atom]:
        """Return all up to what ends it, piece by piece."""
        found = list[Atom]()
        while self.next and self.next not in ("}", r"\\", r"\right"):
            found.append(self._scripted(found[-1].kind if found else "open"))  # the start of a row is like a bracket
        return found

    def group(self) -> str:
        """Return what stands in braces, or one atom, as one element."""
        if not self.takes("{"):
            return self._atom("open").markup.replace(RIGHT, "0")
        inside = self.row()
        self.must("}")
        return f"<mrow>{inside}</mrow>" if inside.count("<m") != 1 else inside

    def _scripted(self, before: Kind) -> Atom:
        word, base = self.next, self._atom(before)
        below, above = "", ""
        while self.next in ("_", "^", "'"):
            mark = self.take()
            if mark == "_":
                below = self.group()
            elif mark == "'":
                above += PRIME
            else:
                above += self.group()
        if PRIME in above and above != PRIME:
            above = f"<mrow>{above}</mrow>"
        markup = base.markup
        if base.kind == "name":  # no space before a bracket that belongs to it
            markup = markup.replace(RIGHT, "0" if self.next in (*OPENING, r"\left", "", "}") else THIN)
        limits = word in SUMS or word in WITH_LIMITS
        if not (below or above):
            return base._replace(markup=markup)
        if below and above:
            kind = "munderover" if limits else "msubsup"
        else:
            kind = ("munder" if below else "mover") if limits else ("msub" if below else "msup")

        def scripted(element: str) -> str:
            return _element(kind, element, below, above)

        parts = base.parts and at_ends(base.parts, str, scripted)  # scripts stand at the closing fence
        return base._replace(markup=scripted(markup), parts=parts)

    def _atom(self, before: Kind) -> Atom:
        word = self.take()
        for table, make in _TABLES:
            if word in table:
                return make(table[word], before)
        if word == r"\left":
            return self._fenced()
        if word in _STRUCTURES:
            return Atom(_STRUCTURES[word](self), "letter")
        if re.fullmatch(r"[A-Za-z]", word):
            return Atom(f"<mi>{word}</mi>", "letter")
        if word[:1].isdigit():
            return Atom(f"<mn>{word}</mn>", "letter")
        if word == "{":
            self._at -= 1
            return Atom(self.group(), "letter")
        raise _unknown(word)

    def fraction(self) -> str:
        return _element("mfrac", self.group(), self.group())

    def root(self) -> str:
        return _element("msqrt", self.group())

    def text(self) -> str:
        self.must("{")
        words = []
        while self.next not in ("}", ""):
            words.append(self.take())
        self.must("}")
        return f"<mtext>{escape(''.join(words))}</mtext>"

    def _fenced(self) -> Atom:
        left = self._fence("prefix")
        atoms = self.atoms()
        self.must(r"\right")
        right, inside = self._fence("postfix"), markup_of(atoms)
        whole, parts = _element("mrow", left, inside, right), in_parts(atoms)
        if isinstance(parts, BreakableRow):
            # Each fence is as high as all that they enclose, of which only some stands beside it.
            height = f'<mpadded width="0"><mphantom>{inside}</mphantom></mpadded>'
            parts = at_ends(
                parts,
                lambda first: _element("mrow", left, height, first),
                lambda last: _element("mrow", last, height, right),
            )
        return Atom(whole, "letter", parts=parts if isinstance(parts, BreakableRow) else None)

    def _fence(self, form: str) -> str:
        word = self.take()
        if word not in FENCES:
            raise _unknown(word)
        return f'<mo form="{form}" stretchy="true">{FENCES[word]}</mo>' if FENCES[word] else ""


def _element(name: str, *parts: str) -> str:
    return f"<{name}>{''.join(parts)}</{name}>"


def _letter(sign: str, before: Kind) -> Atom:
    upright = ' mathvariant="normal"' if sign in "ΔΛΦΩ∞" else ""
    return Atom(f"<mi{upright}>{sign}</mi>", "letter")


def _operator(sign: str, before: Kind) -> Atom:
    look = ' lspace="0" rspace="0"' if sign in "/|" else ""
    if sign in "−+¬∃∀" and before in ("open", "operator"):
        look = ' form="prefix"'
    elif sign in f"{RELATIONS}−+":  # even where it starts a line
        look = ' form="infix"'
    return Atom(f"<mo{look}>{escape(sign)}</mo>", "operator", sign)


def _opening(sign: str, before: Kind) -> Atom:
    return Atom(f'<mo form="prefix" stretchy="false">{sign}</mo>', "open")


def _closing(sign: str, before: Kind) -> Atom:
    return Atom(f'<mo form="postfix" stretchy="false">{sign}</mo>', "close")


def _space(width: str, before: Kind) -> Atom:
    return Atom(f'<mspace width="{width}"></mspace>', "operator", QUAD if width in QUADS else "")


def _name(name: str, before: Kind) -> Atom:
    left = THIN if before in ("letter", "close") else "0"
    words = name.replace(" ", "\u2009")
    return Atom(
        f'<mo form="prefix" lspace="{left}" rspace="{RIGHT}" movablelimits="true">{words}</mo>', "name", APPLIED
    )


def _sum(sign: str, before: Kind) -> Atom:
    return Atom(f"<mo>{sign}</mo>", "operator", sign)


_TABLES: tuple[tuple[dict[str, str], Callable[[str, Kind], Atom]], ...] = (
    (LETTERS, _letter),
    (OPERATORS, _operator),
    (OPENING, _opening),
    (CLOSING, _closing),
    (SPACES, _space),
    (NAMES | WITH_LIMITS, _name),
    (SUMS | {r"\int": "∫"}, _sum),
)
_STRUCTURES: dict[str, Callable[[_Parser], str]] = {
    r"\frac": _Parser.fraction,
    r"\sqrt": _Parser.root,
    r"\text": _Parser.text,
    **{
        name: lambda parser, sign=sign: f'<mover accent="true">{parser.group()}<mo stretchy="false">{sign}</mo></mover>'  # type: ignore[misc]
        for name, sign in ACCENTS.items()
    },
}
