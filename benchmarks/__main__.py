"""Run every benchmark and write its table to benchmarks/results/."""

from benchmarks import choose_and_learn, episode, gittins_table, peers, service

for module in (choose_and_learn, episode, gittins_table, peers, service):
    print(f"== {module.__name__.split('.')[-1]}")
    module.main()
    print()
