"""`ocucb policies`: which policies there are."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields

from ocucb.cli.console import new_console, new_table, titled
from ocucb.policies import POLICIES, Policy, Rule, Trend
from ocucb.registry import load_plugins

SAMPLE_HORIZON = 100  # to look at a rule that needs one; small, for Gittins computes a table

REMARK = (
    "A level L makes an index: the largest q with T d(mean, q) ≤ L, where d is the divergence of the noise. "
    "T: pulls of the arm, t: the round, n: the horizon, K: arms, k: effective arms. "
    "A lazy selector looks at few arms in a round, a scan at all."
)


def policies(name: str | None = None) -> None:
    """List the policies: rule, parameters, what they need and how they choose.

    Parameters
    ----------
    name
        Show this policy alone, with what its parameters mean.
    """
    from ocucb.lab.spec import find_named

    load_plugins()
    if name is None:
        _list_policies()
    else:
        _show_policy(find_named("policy", name, {key: key for key in POLICIES}))


def _list_policies() -> None:
    table = new_table()
    table.add_column("policy, parameters", no_wrap=True)
    table.add_column("level or rule")
    table.add_column("needs", no_wrap=True)
    table.add_column("selector", no_wrap=True)
    for name, policy in POLICIES.items():
        rule = _rule(name)
        named = "\n".join([name, *(f"  {parameter}" for parameter in _parameters(policy))])
        table.add_row(named, policy.formula, "\n".join(_needs(policy, rule)), _selector(rule))
    new_console().print(titled("Policies", table, REMARK))


def _show_policy(name: str) -> None:
    console, rule, policy = new_console(), _rule(name), POLICIES[name]
    console.print(f"{name}  ocucb.{policy.__name__}", style="bold", markup=False)
    console.print()
    console.print(inspect.getdoc(policy) or "", markup=False)
    console.print()
    given = ", ".join(_parameters(policy))
    needs = ", ".join(_needs(policy, rule))
    for key, fact in {"parameters": given or "none", "needs": needs, "selector": _selector(rule)}.items():
        console.print(f"{key + ':':12}{fact}", markup=False)
    text = f"{name}({given})" if given else name
    console.print(f'{"use:":12}ocucb compare --policy "{text}"', markup=False, soft_wrap=True)


def _rule(name: str) -> Rule:
    from ocucb.lab.spec import parse_policy

    return parse_policy(name, SAMPLE_HORIZON).rule()


def _parameters(policy: type[Policy]) -> list[str]:
    """Return parameters with their defaults; the horizon is told by the experiment."""
    return [f"{field.name}={field.default}".lower() for field in fields(policy) if field.name != "horizon"]


def _needs(policy: type[Policy], rule: Rule) -> list[str]:
    told = [field for field in fields(policy) if field.name == "horizon"]
    needs = ["horizon" if field.default is MISSING else "horizon or none" for field in told]
    if rule.rho is not None:
        needs.append("effective arms")
    return needs or ["nothing"]


def _selector(rule: Rule) -> str:
    return "scan" if rule.trend is Trend.NEITHER else "lazy"
