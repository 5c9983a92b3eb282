"""Where the service keeps its log: the only SQL of the package."""

from ocucb.service.stores.store import Store, Transaction

__all__ = ["Store", "Transaction"]
