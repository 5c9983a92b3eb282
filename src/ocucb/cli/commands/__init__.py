"""The commands of `ocucb`, one module each.

All are imported for `ocucb --help`, in installations that have the packages of one of them alone. So a module imports
at its top only what every installation has; lab, paper, service and client are imported where a command begins.
"""
