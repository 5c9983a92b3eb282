"""The commands and how they are called."""

from __future__ import annotations

from collections.abc import Sequence

from cyclopts import App, CycloptsError, Parameter

from ocucb import __version__
from ocucb.errors import ParameterError

# Each is loaded when it is called, so that help comes at once; its first words stand here too, therefore.
COMMANDS = {
    "compare": "Compare policies: regret with error bars, differences on the same rewards, figures, a report.",
    "run": "Run a study: an experiment, or one for every value of something that is swept.",
    "policies": "List the policies: rule, parameters, what they need and how they choose.",
    "bounds": "Print gaps, effective arms, and upper and lower bounds on regret.",
    "paper": "Execute the paper: check its theorems, lemmas and claims, and write a page with every verdict.",
}
DETAILS = {
    "compare": "Without options: six policies on ten arms with gaps 0, 0.1, 0.5 and 1, for 100,000 rounds. The same "
    "command again goes on where it was stopped, or shows what it has.",
    "run": "The same command again goes on where it was stopped, or shows what it has.",
    "bounds": "Theorem 1 is for subgaussian noise, Appendix A for Gaussian noise. Noise of scale σ is noise of scale 1 "
    "on means divided by σ.",
    "paper": "Without options: all claims at quick size, in less than two minutes on two cores. A statement that fails "
    "as printed is a finding, not an error; the exit code is 2 only if a check itself breaks down.",
}

app = App(
    name="ocucb",
    help="Regret experiments with OCUCB-n and its family. Start with: ocucb compare",
    version=__version__,
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
for place, (name, summary) in enumerate(COMMANDS.items()):
    text = f"{summary}\n\n{DETAILS.get(name, '')}"
    app.command(f"ocucb.cli.{name}:{name}", name=name, help=text, sort_key=place)


def call(tokens: Sequence[str]) -> None:
    """Call the command that the tokens name. Raises ParameterError if they make no sense."""
    try:
        app(tokens, exit_on_error=False, print_error=False, help_on_error=False)
    except CycloptsError as problem:
        see = f"ocucb {tokens[0]} --help" if tokens and tokens[0] in COMMANDS else "ocucb --help"
        text = str(problem)
        raise ParameterError(f"{text}{'' if text.endswith(('.', '?')) else '.'} See {see}") from None
