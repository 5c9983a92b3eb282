"""`ocucb paper`: the paper, executed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ocucb.checks import whole
from ocucb.cli.console import new_console, print_paths
from ocucb.cli.options import Count, Place
from ocucb.errors import OcucbError

OUTPUT = Path("ocucb-paper")
PAGE_FILE = "paper.html"
Numbers = Annotated[tuple[Count, ...], Parameter(consume_multiple=True, metavar="NUMBER", show_default=False)]


def paper(
    *,
    full: Annotated[bool, Parameter(show_default=False)] = False,
    claim: Numbers = (),
    seed: Count = 0,
    output: Path = OUTPUT,
    executor: Place = None,
) -> None:
    """Execute the paper: check its theorems, lemmas and claims, and write a page with every conclusion.

    Without options: all claims at quick size, in less than two minutes on two cores. A statement that fails as printed
    is a finding, not an error; the exit code is 2 only if a check itself breaks down.

    Parameters
    ----------
    full
        Minutes for each check instead of seconds; under an hour on two cores. Uses an NVIDIA GPU if there is one.
    claim
        The number of a claim, as on the page; repeat it for more. All of them if not given.
    seed
        Another seed, other random numbers.
    output
        The folder for the page.
    """
    from ocucb.cli.output_folder import make_folder
    from ocucb.cli.paper_checks import execute_checks, print_results
    from ocucb.paper.claim import Effort
    from ocucb.paper.execute import select_claims
    from ocucb.paper.page import write_page

    claims = select_claims(claim)
    effort = Effort("full" if full else "quick", whole("seed", seed, 0, "give another"))
    make_folder(output)
    results = execute_checks(claims, effort, executor)
    console = new_console()
    print_results(console, results)
    write_page(results, effort, output / PAGE_FILE)
    print_paths(console, [output / PAGE_FILE])
    broken = [f"{result.name}: {result.error}" for result in results if result.finding is None]
    if broken:
        raise OcucbError(f"{len(broken)} of {len(results)} checks did not finish; {'; '.join(broken)}")
