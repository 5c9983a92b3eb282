"""What a claim of the paper is, how it is checked, and what came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from ocucb.lab.chart import Chart
from ocucb.lab.study import Size

Option = TypeVar("Option")


class Nature(Enum):
    """What can come out of a check at all, where that is not both "holds" and "fails"."""

    USUAL = ""
    IDENTITY = "An identity or a definition: it holds by algebra; checked are its wording and the package's arithmetic."
    ONE_SIDED = "It may fail, or stay open; it can never hold, as it speaks of a limit, or of all that could be found."
    IMPOSSIBLE = "It can never hold, whatever the means are."


class Conclusion(Enum):
    """What a check says of its statement."""

    PROVED = "proved here"
    HOLDS = "holds"
    FAILS = "fails as printed"
    OPEN = "not decidable at this size"


@dataclass(frozen=True)
class Effort:
    """How much work a check may do, and the seed of all its random numbers.

    size : "quick" for some seconds of one core, "full" for some minutes.
    """

    size: Size = "quick"
    seed: int = 0

    def pick(self, quick: Option, full: Option) -> Option:
        """Return the first for a quick check, the second for a full one."""
        return quick if self.size == "quick" else full


@dataclass(frozen=True)
class Table:
    """A table of what came out; cells are text as it shall be read."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Finding:
    """What came out of a check.

    outcome : one to three sentences with the figures that decide.
    false_alarm : how likely a true statement would be found to fail, or a false one to hold, over all random
        numbers; 0 where nothing random decides.
    counterexample : where a statement fails, one instance of it, in numbers a reader can put into the formula.
    """

    conclusion: Conclusion
    outcome: str
    false_alarm: float = 0.0
    counterexample: str = ""
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()


@dataclass(frozen=True)
class Wrong:
    """A deliberately wrong version of a statement or an algorithm, which a check with any power must find to fail.

    says : what was made wrong.
    subject : the arguments of the check that make it so.
    """

    says: str
    subject: Mapping[str, Any]


@dataclass(frozen=True)
class Check:
    """One statement and the function that executes it: a pure function of the effort and of what it checks.

    name : short, unique in its claim.
    places : the labels of the paper's equations, theorems and lemmas that it executes.
    says : what the paper says.
    done : what is done to find out.
    run : (effort, **subject) -> Finding, with the paper's own statement and algorithm as defaults of the subject.
    wrong : shows the check's power; None only where the statement fails as printed.
    subject : arguments that differ from the defaults, as where a corrected statement is checked by the same function.
    corrects : the name of the check, in the same claim, whose failed statement this one puts right.
    nature : whether it can hold and fail, or only one of them.
    formula : the statement in mathematics, in the TeX that `mathml` knows; `table` puts it here, from formulas.toml.
    """

    name: str
    places: tuple[str, ...]
    says: str
    done: str
    run: Callable[..., Finding]
    wrong: Wrong | None
    subject: Mapping[str, Any] = field(default_factory=dict)
    corrects: str = ""
    nature: Nature = Nature.USUAL
    formula: str = ""

    def find(self, effort: Effort) -> Finding:
        """Execute the check."""
        return self.run(effort, **self.subject)

    def find_wrong(self, effort: Effort) -> Finding:
        """Execute the check on its deliberately wrong version."""
        wrong = self.wrong.subject if self.wrong else {}
        return self.run(effort, **{**self.subject, **wrong})


@dataclass(frozen=True)
class Claim:
    """Checks that belong together.

    ours : their statements are not the paper's, but of this project.
    """

    number: int
    title: str
    checks: tuple[Check, ...]
    ours: bool = False
