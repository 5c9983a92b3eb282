"""Formulas as MathML: by hand for each piece of TeX that is known, and all statements of the paper."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from xml.etree import ElementTree

import pytest

from ocucb.errors import ParameterError
from ocucb.paper.mathml import PRIME, THIN, to_mathml
from ocucb.paper.table import CLAIMS

FENCE = '<mo form="{}" stretchy="true">|</mo>'
CHILDREN = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}


def pieces(line: str) -> list[str]:
    """What stands in each `<math>` of a line."""
    return re.findall(r"<math[^>]*>(.*?)</math>", line)


def inside(tex: str) -> str:
    """The pieces of a formula of one line."""
    (line,) = to_mathml(tex)
    return " ".join(pieces(line))


def shown(tex: str) -> str:
    """A line as text: | where it may be broken, round brackets around what is broken only if it must be."""
    (line,) = to_mathml(tex)
    line = re.sub("<mpadded.*?</mpadded>", "", line)  # what is there for its height only
    for markup, sign in (('<span class="quad"> </span>', " "), ("<wbr>", "|"), ("<span>", "⟨"), ("</span>", "⟩")):
        line = line.replace(markup, sign)
    return re.sub("<.*?>", "", line)


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"\frac{1}{x}", "<mfrac><mn>1</mn><mi>x</mi></mfrac>"),
        (r"\sqrt{2n}", "<msqrt><mrow><mn>2</mn><mi>n</mi></mrow></msqrt>"),
        (r"x_i^2", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
        (r"x^{a_1}", "<msup><mi>x</mi><mrow><msub><mi>a</mi><mn>1</mn></msub></mrow></msup>"),
        (r"\Delta'_j", f'<msubsup><mi mathvariant="normal">Δ</mi><mi>j</mi>{PRIME}</msubsup>'),
        (r"x'^2", f"<msup><mi>x</mi><mrow>{PRIME}<mn>2</mn></mrow></msup>"),
        (r"\sum_{j}^K", "<munderover><mo>∑</mo><mi>j</mi><mi>K</mi></munderover>"),
        (r"\int_0^1", "<msubsup><mo>∫</mo><mn>0</mn><mn>1</mn></msubsup>"),
        (r"\hat\mu", '<mover accent="true"><mi>μ</mi><mo stretchy="false">^</mo></mover>'),
        (r"\text{for all } x", "<mtext>for\u00a0all\u00a0</mtext><mi>x</mi>"),
        ("0.05", "<mn>0.05</mn>"),
        ("-x", '<mo form="prefix">−</mo><mi>x</mi>'),
        ("n-1", '<mi>n</mi> <mo form="infix">−</mo><mn>1</mn>'),
        (r"\left|x\right|", f"<mrow>{FENCE.format('prefix')}<mi>x</mi>{FENCE.format('postfix')}</mrow>"),
    ],
)
def test_each_piece_by_hand(tex: str, expected: str) -> None:
    assert inside(tex) == expected


def test_a_name_is_apart_from_letters_and_close_to_brackets() -> None:
    assert inside(r"t\log t").count(f'lspace="{THIN}" rspace="{THIN}"') == 1
    assert inside(r"\log(t)").count('lspace="0" rspace="0"') == 1
    assert inside(r"\max_i x").startswith('<munder><mo form="prefix"')


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"f(n) \le g(n) = c", "f(n)|≤g(n)|=c"),
        ("x = f(n)", "x=f(n)"),  # what is short stays with its relation
        (r"f\{x\} \quad f(n) = y", "f{x} ⟨f(n)|=y⟩"),
        (r"\frac{a = b + c}{d}", "a=b+cd"),
        (r"a \in \Phi,\; f(n) \le 2 \Rightarrow y", "⟨a∈Φ,|⟨f(n)|≤2⟩⟩|⇒y"),
        ("f(n) = a + b c", "f(n)|⟨=a|+bc⟩"),
        ("-a - (b - c)", "−a|−(b−c)"),  # not at a minus that belongs to what follows, nor in brackets
        (r"f(n) \le C \sum_i \left(a + b\right)^2 d", "f(n)|⟨≤C∑i(a|+b)2d⟩"),
        (r"\left(a + b\right) \min\left\{c,\, d\right\}", "⟨(a|+b)⟩|⟨min{c,|d}⟩"),
        (r"f(n) \le a \cdot b \log n", "f(n)|⟨≤a|·b|logn⟩"),
        (r"f(a, b) = f(b, c, a + 1)", "f(a,b)|⟨=f(b,|c,|a+1)⟩"),  # in brackets if there is nothing else
        (r"\left(x\right)", "(x)"),
    ],
)
def test_a_line_may_be_broken_where_a_reader_would_and_outside_first(tex: str, expected: str) -> None:
    assert shown(tex) == expected


def test_a_fence_is_as_high_as_all_that_it_encloses() -> None:
    opening, closing = pieces(to_mathml(r"\left(\frac{1}{x} + y\right)")[0])
    whole = '<mfrac><mn>1</mn><mi>x</mi></mfrac><mo form="infix">+</mo><mi>y</mi>'
    assert opening.count(f"<mphantom>{whole}</mphantom>") == closing.count(f"<mphantom>{whole}</mphantom>") == 1


def test_lines_are_apart() -> None:
    assert len(to_mathml(r"a \\ b")) == 2


@pytest.mark.parametrize("tex", [r"\unknown", "x}", r"\frac{1}", r"\left(x", r"\left? x\right)", "x_", r"\text x", "é"])
def test_what_is_not_known_is_an_error(tex: str) -> None:
    with pytest.raises(ParameterError, match="a formula must"):
        to_mathml(tex)


def test_text_is_escaped() -> None:
    assert inside("a < b") == '<mi>a</mi><mo form="infix">&lt;</mo><mi>b</mi>'
    assert inside(r"\text{<b>}") == "<mtext>&lt;b&gt;</mtext>"


def test_every_check_has_a_formula_and_every_formula_a_check() -> None:
    found = tomllib.loads(files("ocucb.paper").joinpath("formulas.toml").read_text(encoding="utf-8"))
    assert {number: set(formulas) for number, formulas in found.items()} == {
        str(claim.number): {check.name for check in claim.checks} for claim in CLAIMS
    }


def test_every_statement_is_whole_mathml() -> None:
    for check in (check for claim in CLAIMS for check in claim.checks):
        for piece in (f"<math>{piece}</math>" for line in to_mathml(check.formula) for piece in pieces(line)):
            for element in ElementTree.fromstring(piece).iter():
                assert len(element) == CHILDREN.get(element.tag, len(element)), check.name
                assert "(right)" not in element.attrib.values()
