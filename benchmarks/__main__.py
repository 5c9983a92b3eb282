"""Run every benchmark and write its table to benchmarks/results/."""

from benchmarks import (
    changes_of_arms,
    choose_among,
    choose_and_learn,
    client_import,
    coverage,
    episode,
    gittins_table,
    memory,
    migration,
    peers,
    service,
    unknown_scale,
    verdicts,
)

MODULES = (
    choose_and_learn,
    choose_among,
    changes_of_arms,
    client_import,
    episode,
    gittins_table,
    memory,
    migration,
    peers,
    service,
    unknown_scale,
    verdicts,
    coverage,
)

for module in MODULES:
    print(f"== {module.__name__.split('.')[-1]}")
    module.main()
    print()
