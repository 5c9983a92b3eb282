"""The commands and how they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cyclopts import App, CycloptsError, Parameter

from ocucb import __version__
from ocucb.cli.commands.archive import archive
from ocucb.cli.commands.bounds import bounds
from ocucb.cli.commands.compare import compare
from ocucb.cli.commands.compile import compile_kernels
from ocucb.cli.commands.erase import erase
from ocucb.cli.commands.explain import explain
from ocucb.cli.commands.identify import identify
from ocucb.cli.commands.keys import keys
from ocucb.cli.commands.paper import paper
from ocucb.cli.commands.policies import policies
from ocucb.cli.commands.replay import replay
from ocucb.cli.commands.run import run
from ocucb.cli.commands.serve import serve
from ocucb.errors import ParameterError

app = App(
    name="ocucb",
    help="OCUCB-n and its family: regret experiments, and decisions as a service. Start with: ocucb compare, or "
    "ocucb serve --demo",
    version=__version__,
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
COMMANDS: dict[str, Callable[..., object]] = {  # as help lists them
    "compare": compare,
    "run": run,
    "identify": identify,
    "policies": policies,
    "bounds": bounds,
    "paper": paper,
    "explain": explain,
    "serve": serve,
    "replay": replay,
    "archive": archive,
    "erase": erase,
    "compile": compile_kernels,
}
for place, (name, command) in enumerate(COMMANDS.items()):
    app.command(command, name=name, sort_key=place)
app.command(keys)


def call(tokens: Sequence[str]) -> int:
    """Call the command that the tokens name, and return its exit code. Raises ParameterError if they make no sense."""
    try:
        code = app(tokens, exit_on_error=False, print_error=False, help_on_error=False)
        return code if isinstance(code, int) else 0
    except CycloptsError as problem:
        see = f"ocucb {tokens[0]} --help" if tokens and tokens[0] in command_names() else "ocucb --help"
        text = str(problem)
        raise ParameterError(f"{text}{'' if text.endswith(('.', '?')) else '.'} See {see}") from None


def command_names() -> list[str]:
    """Return the names of the commands."""
    return [name for name in app if not name.startswith("-")]
