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
    "serve": "Serve decisions and rewards over HTTP, with a live page.",
    "replay": "Recompute every decision of an experiment from its log, and name the first that is wrong.",
}
GROUPS = {"keys": "Make, list and revoke the API keys of a service, where its database can be opened."}
DETAILS = {
    "compare": "Without options: six policies on ten arms with gaps 0, 0.1, 0.5 and 1, for 100,000 rounds. The same "
    "command again goes on where it was stopped, or shows what it has.",
    "run": "The same command again goes on where it was stopped, or shows what it has.",
    "bounds": "Theorem 1 is for subgaussian noise, Appendix A for Gaussian noise. Noise of scale σ is noise of scale 1 "
    "on means divided by σ.",
    "paper": "Without options: all claims at quick size, in less than two minutes on two cores. A statement that fails "
    "as printed is a finding, not an error; the exit code is 2 only if a check itself breaks down.",
    "serve": "Without options: an SQLite file in this folder, on 127.0.0.1:8000, and an admin key that is shown at the "
    "first start. A setting comes from its flag, else from the environment (OCUCB_PORT for --port), else from the "
    "file, where it is called as here, without dashes in front and with _ for -.",
    "replay": "The exit code is 0 if everything is verified, 1 if something is wrong, 2 after an error.",
}

app = App(
    name="ocucb",
    help="OCUCB-n and its family: regret experiments, and decisions as a service. Start with: ocucb compare, or "
    "ocucb serve --demo",
    version=__version__,
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
for place, (name, summary) in enumerate(COMMANDS.items()):
    text = f"{summary}\n\n{DETAILS.get(name, '')}"
    app.command(f"ocucb.cli.{name}:{name}", name=name, help=text, sort_key=place)
for name, summary in GROUPS.items():
    app.command(f"ocucb.cli.{name}:{name}", name=name, help=summary, sort_key=len(COMMANDS))


def call(tokens: Sequence[str]) -> int:
    """Call the command that the tokens name, and return its exit code. Raises ParameterError if they make no sense."""
    try:
        code = app(tokens, exit_on_error=False, print_error=False, help_on_error=False)
        return code if isinstance(code, int) else 0
    except CycloptsError as problem:
        see = f"ocucb {tokens[0]} --help" if tokens and tokens[0] in {*COMMANDS, *GROUPS} else "ocucb --help"
        text = str(problem)
        raise ParameterError(f"{text}{'' if text.endswith(('.', '?')) else '.'} See {see}") from None
