"""Which nodes serve, as this one sees it, and which of them is the home of an experiment."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from ocucb.service.text import clean_text
from ocucb.service.web.app_state import Context
from ocucb.service.web.documents import errors

router = APIRouter(tags=["operation"])


class ServingNode(BaseModel):
    """A node that serves."""

    name: Annotated[str, Field(description="A random name, another one after each start.")]
    address: Annotated[str, Field(description="Where other nodes reach it: its `--advertise`.")]
    answers: Annotated[bool, Field(description="Whether it is the node that answers this request.")]


class ServingNodes(BaseModel):
    """The nodes that serve, in order of address."""

    nodes: Annotated[list[ServingNode], Field(description="Empty for a node without `--advertise`.")]
    home: Annotated[str | None, Field(description="The name of the home of the experiment, if one was named.")]


@router.get("/v1/nodes", summary="Which nodes serve", responses=errors("GET /v1/nodes"))
async def list_serving_nodes(
    context: Context,
    experiment: Annotated[str | None, Query(max_length=200, description="Whose home is asked for.")] = None,
) -> ServingNodes:
    """Return the nodes whose heartbeats this one sees, and the one to which it passes on what an experiment is asked.

    An experiment need not exist to have a home. It says what the node knows, also while the database is away.
    """
    if experiment is not None:
        clean_text("experiment", experiment)
    directory = context.app_state.service.directory
    if directory is None:
        return ServingNodes(nodes=[], home=None)
    nodes = [
        ServingNode(name=node.name, address=node.address, answers=node.name == directory.name)
        for node in sorted(directory.nodes, key=lambda node: (node.address, node.name))
    ]
    return ServingNodes(nodes=nodes, home=None if experiment is None else directory.home_name(experiment))
