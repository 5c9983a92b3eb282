"""The nodes that serve, as rows: each counts up its own heartbeat, so no two clocks are ever compared."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import delete, insert, select, update

from ocucb.service.stores.dialects import insert_new
from ocucb.service.stores.store import Transaction
from ocucb.service.stores.tables import nodes


class NodeRecord(NamedTuple):
    """A node: its name, the address at which others reach it, and how many heartbeats it has written."""

    name: str
    address: str
    heartbeat: int


def beat(transaction: Transaction, node: NodeRecord) -> None:
    """Write that a node is there."""
    changed = transaction.connection.execute(
        update(nodes).where(nodes.c.name == node.name).values(heartbeat=node.heartbeat, address=node.address)
    )
    if not changed.rowcount:
        transaction.connection.execute(insert_new(transaction.connection, nodes).values(node._asdict()))


def check_writing(transaction: Transaction) -> None:
    """Write something that nobody will see, so that the transaction fails if nothing can be written: on a full disk."""
    transaction.connection.execute(insert(nodes).values(name="", address="", heartbeat=0))
    transaction.connection.execute(delete(nodes).where(nodes.c.name == ""))


def list_nodes(transaction: Transaction) -> list[NodeRecord]:
    """Return all nodes, also those that serve no more, in order of name."""
    query = select(*(nodes.c[name] for name in NodeRecord._fields)).order_by(nodes.c.name)
    return [NodeRecord(*row) for row in transaction.connection.execute(query)]


def remove_node(transaction: Transaction, node: NodeRecord) -> None:
    """Remove a node, unless it has written a heartbeat since."""
    query = delete(nodes).where(nodes.c.name == node.name, nodes.c.heartbeat == node.heartbeat)
    transaction.connection.execute(query)
