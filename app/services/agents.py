"""Agents: named configurations that could be sent to their model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import msgspec

from app.chain.prompts import definitions_of
from app.domain.agents import BUILT_IN_TOOLS, MIDDLEWARES, Agent, Subagent, tool_name
from app.domain.audit import Action
from app.domain.catalogue import ModelFacts, facts_for
from app.domain.ids import new_id
from app.domain.injections import Hook, Injection, Retrieval
from app.domain.jobs import Job
from app.domain.outside import missing
from app.domain.text import clean_json
from app.domain.validity import check_tool
from app.errors import BadBody, Fault, ToolRefused, UnsupportedByModel
from app.store.transaction import Transaction
from app.tokens.estimator import estimator_for

DEFAULT_MAX_TOKENS = 8192


def create(tx: Transaction, wanted: Mapping[str, Any], *, default_model: str) -> Agent:
    """Store a new agent of the principal's.

    Raises:
        ToolRefused, UnsupportedByModel, BadBody: its requests could never be sent.
    """
    model = wanted.get("model", default_model)
    changes = _changes(wanted, facts_for(model))
    largest = facts_for(model).max_output
    values: dict[str, Any] = {
        "system_blocks": (),
        "max_tokens": min(DEFAULT_MAX_TOKENS, largest),
        **changes,
        "model": model,
    }
    principal = tx.principal
    agent = Agent(id=new_id(), tenant_id=principal.tenant_id, owner_id=principal.user_id, **values)
    check_sendable(agent, registered(tx, agent))
    stored = add(tx, agent)
    _keep_headers(tx, agent, wanted, had_some=False)
    return stored


def add(tx: Transaction, agent: Agent) -> Agent:
    """Store a checked agent, with its audit row."""
    stored = tx.agents.add(agent)
    tx.audit.add(Action.AGENT_CREATE, "agent", agent.id, {"model": agent.model})
    return stored


def lock(tx: Transaction, agent_id: UUID) -> Agent:
    """The agent, kept from change by others until the transaction ends.

    Raises:
        NotFound: it is not the principal's to change.
    """
    return tx.agents.lock(agent_id)


def change(tx: Transaction, agent: Agent, wanted: Mapping[str, Any]) -> Agent:
    """Store what is different about a locked agent.

    A model of another tokenizer family makes the stored counts of its sessions' messages stale:
    until a worker has counted them again, inspect counts them as it goes.

    Raises:
        ToolRefused, UnsupportedByModel, BadBody: its requests could never be sent.
    """
    changes = _changes(wanted, facts_for(wanted.get("model", agent.model)), agent.parameters)
    wanted_agent = replace(agent, **changes)
    # Names that it had before stay good: what was removed since is not sent, and inspect says so.
    check_sendable(wanted_agent, {*_outside_names(agent), *registered(tx, wanted_agent)})
    if not changes:
        return agent
    if "injections" in wanted:
        had_some = any(isinstance(each, Hook) and each.header_names for each in agent.injections)
        _keep_headers(tx, agent, wanted, had_some=had_some)
    changed = tx.agents.update(agent.id, changes)
    tx.audit.add(Action.AGENT_UPDATE, "agent", agent.id, {"fields": sorted(changes)})
    if estimator_for(changed.model).id != estimator_for(agent.model).id:
        tx.enqueue(Job.RECOUNT_MESSAGES, str(agent.id))
    return changed


def delete(tx: Transaction, agent: Agent) -> None:
    """Remove a locked agent with its memory and skills.

    Raises:
        InUse: it has sessions.
    """
    tx.agents.delete(agent.id)
    tx.audit.add(Action.AGENT_DELETE, "agent", agent.id, {})


def registered(tx: Transaction, agent: Agent) -> set[str]:
    """Those of the names of tools, the agent's and its helpers', that its tenant has registered."""
    names = _outside_names(agent)
    found = tx.sources.outside(names) if names else ()
    return set(names).difference(missing(names, found))


def check_sendable(agent: Agent, outside: Collection[str] = ()) -> None:
    """Check what no single field shows: limits of the model, and names of tools.

    `outside`: names of tools from outside that the agent may have.

    Raises:
        BadBody, ToolRefused
    """
    largest = facts_for(agent.model).max_output
    if agent.max_tokens > largest:
        raise BadBody(
            faults=[Fault("max_tokens", "above_model_limit", f"{agent.model}: at most {largest}.")]
        )
    if faults := list(_tool_faults(agent, outside)):
        raise ToolRefused(faults=faults)
    if faults := [*_helper_faults(agent, outside), *_injection_faults(agent)]:
        raise BadBody(faults=faults)


def _outside_names(agent: Agent) -> list[str]:
    of_helpers = (name for helper in agent.subagents for name in helper.tools or ())
    others = (name for name in of_helpers if name not in BUILT_IN_TOOLS)
    return list(dict.fromkeys([*agent.outside_names, *others]))


def tools_of(middlewares: Sequence[str]) -> frozenset[str]:
    """The names of the built-in tools that these middlewares contribute."""
    contributing = [name for name in middlewares if name != "memory"]
    return frozenset(tool["name"] for name in contributing for tool in definitions_of(name))


def _tool_faults(agent: Agent, outside: Collection[str]) -> Iterator[Fault]:
    reserved = tools_of([name for name in MIDDLEWARES if agent.uses(name)])
    names: Counter[str] = Counter()
    for index, tool in enumerate(agent.tools):
        at = f"tools[{index}]"
        name = tool if isinstance(tool, str) else tool_name(tool)
        if isinstance(tool, str):
            if name not in BUILT_IN_TOOLS and name not in outside:
                yield Fault(at, "unknown_tool", _UNKNOWN + _known())
        else:
            yield from check_tool(tool, at)
            if name in reserved:
                advice = "A built-in tool has this name: rename it, or turn its middleware off."
                yield Fault(at, "name_reserved", advice)
        names[name] += 1
        if names[name] == 2:
            yield Fault(at, "name_twice", "Another tool of this agent has the same name.")


_UNKNOWN = (
    "No tool of this name is registered. GET /v1/tools lists those that are; an admin adds one by "
    "PUT /v1/tools/{name} or PUT /v1/mcp-servers/{name}. The built-in tools are: "
)


def _known() -> str:
    return ", ".join(sorted(BUILT_IN_TOOLS))


def _helper_faults(agent: Agent, outside: Collection[str]) -> Iterator[Fault]:
    """What `task` could not tell apart, and tools that a helper would never get."""
    known = {*BUILT_IN_TOOLS, *outside, *(tool_name(tool) for tool in agent.custom_tools)}
    names: Counter[str] = Counter()
    for index, helper in enumerate(agent.subagents):
        names[helper.name] += 1
        if names[helper.name] == 2:
            advice = "Another helper of this agent has the same name."
            yield Fault(f"subagents[{index}].name", "name_twice", advice)
        for place, name in enumerate(helper.tools or ()):
            if name not in known:
                advice = "Name a built-in tool, one that is registered, or one of the agent's own."
                yield Fault(f"subagents[{index}].tools[{place}]", "unknown_tool", advice)


def _injection_faults(agent: Agent) -> Iterator[Fault]:
    names: Counter[str] = Counter()
    for index, each in enumerate(agent.injections):
        names[each.name] += 1
        if names[each.name] == 2:
            advice = "Another injection of this agent has the same name."
            yield Fault(f"injections[{index}].name", "name_twice", advice)
        if isinstance(each, Retrieval) and "memory" in each.over and agent.uses("memory"):
            advice = (
                "The memory middleware sends every file as a whole: turn it off, or leave memory "
                "out of `over`."
            )
            yield Fault(f"injections[{index}].over", "memory_is_sent_whole", advice)


def _changes(
    wanted: Mapping[str, Any], facts: ModelFacts, parameters: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """The fields of an agent that the body speaks of, as the agent keeps them."""
    direct = ("name", "model", "max_tokens", "shared", "strategy", "middleware")
    changes = {name: wanted[name] for name in direct if name in wanted}
    if "system_prompt" in wanted:
        changes["system_blocks"] = tuple(wanted["system_prompt"])
    if "tools" in wanted:
        changes["tools"] = tuple(_tools(wanted["tools"]))
    if "subagents" in wanted:
        changes["subagents"] = tuple(_subagent(each) for each in wanted["subagents"])
    if "injections" in wanted:
        changes["injections"] = tuple(_injection(each) for each in wanted["injections"])
    if "temperature" in wanted:
        changes["parameters"] = {**parameters, "temperature": _temperature(wanted, facts)}
    return changes


def _tools(given: Sequence[Any]) -> Iterator[Mapping[str, Any] | str]:
    for index, tool in enumerate(given):
        if not isinstance(tool, (str, dict)):
            advice = "A tool is a definition, or the name of one."
            raise ToolRefused(faults=[Fault(f"tools[{index}]", "invalid", advice)])
        yield clean_json(tool)


def _subagent(given: Mapping[str, Any]) -> Subagent:
    tools = given.get("tools")
    return Subagent(
        name=given["name"],
        description=given["description"],
        system_prompt=given["system_prompt"],
        tools=None if tools is None else tuple(tools),
    )


def _injection(given: Mapping[str, Any]) -> Injection:
    named = {"header_names": tuple(given["headers"])} if given.get("headers") else {}
    injection: Injection = msgspec.convert({**given, **named}, Injection)
    return injection


def _keep_headers(
    tx: Transaction, agent: Agent, wanted: Mapping[str, Any], *, had_some: bool
) -> None:
    """Seal the values of the hooks' headers; null keeps what the hook of that name has.

    Raises:
        BadBody: nothing is stored that could be kept.
        SecretsUnavailable: there are some, and the deployment has no key.
    """
    headers: dict[str, dict[str, str]] = {}
    injections = wanted.get("injections", ())
    # Opened only for what is kept: all values can be given anew when the key is lost.
    keeps = any(value is None for each in injections for value in each.get("headers", {}).values())
    kept = tx.hook_headers.of(agent.id) if had_some and keeps else {}
    for index, given in enumerate(injections):
        own, before = {}, kept.get(given["name"], {})
        for header, value in given.get("headers", {}).items():
            if value is None and header not in before:
                advice = "null keeps the stored value, and there is none: give one."
                at = f"injections[{index}].headers.{header}"
                raise BadBody(faults=[Fault(at, "nothing_stored", advice)])
            own[header] = before[header] if value is None else value
        headers[given["name"]] = own
    if any(headers.values()) or had_some:
        tx.hook_headers.put(agent.id, headers)


def _temperature(wanted: Mapping[str, Any], facts: ModelFacts) -> float:
    value = wanted["temperature"]
    if not facts.takes_temperature:
        advice = "This model takes no temperature: leave it out."
        raise UnsupportedByModel(faults=[Fault("temperature", "unsupported_by_model", advice)])
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise BadBody(faults=[Fault("temperature", "invalid", "A number from 0 to 1.")])
    return float(value)
