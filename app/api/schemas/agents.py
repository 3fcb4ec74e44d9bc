"""Agents as JSON."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from app.api.schemas.fields import Flag, Json, Line, Strict, Text, WholeNumber
from app.api.schemas.injections import MAX_INJECTIONS, InjectionSchema
from app.api.schemas.pages import PageQuery
from app.domain.agents import MIDDLEWARES, Agent
from app.domain.catalogue import facts_for

MAX_PROMPT_CHARACTERS = 2_000_000
MAX_TOOLS = 256
STRATEGIES = ("checkpoint", "fold", "none")


class SystemPrompt(fields.Field[Any]):
    """One text, or a list of texts: one system block each."""

    def _deserialize(self, value: Any, *_args: Any, **_kwargs: Any) -> Any:
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or len(texts) > 64:
            raise ValidationError("Give a text, or a list of at most 64 texts.")
        return [self._text.deserialize(text) for text in texts]

    _text = Text(validate=validate.Length(max=MAX_PROMPT_CHARACTERS))


class MiddlewareSchema(Strict):
    """Which middlewares contribute to an agent's requests; those not named do."""

    todo = Flag()
    filesystem = Flag()
    subagents = Flag()
    memory = Flag()
    skills = Flag()


assert set(MiddlewareSchema._declared_fields) == set(MIDDLEWARES)  # noqa: S101


class StrategySchema(Strict):
    """When and how a long history is compacted; fractions are of what the window leaves."""

    name = fields.String(validate=validate.OneOf(STRATEGIES))
    trigger = fields.Float(validate=validate.Range(0.05, 1.0))
    target = fields.Float(validate=validate.Range(0.01, 1.0))

    @validates_schema
    def _target_is_below(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("target", 0) >= data.get("trigger", 1.01):
            raise ValidationError("Aim below the trigger.", "target")


class SubagentSchema(Strict):
    """A named helper that the `task` tool can run."""

    name = Line(longest=64, required=True)
    description = Text(required=True, validate=validate.Length(1, 4000))
    system_prompt = Text(required=True, validate=validate.Length(1, MAX_PROMPT_CHARACTERS))
    tools = fields.List(Text(validate=validate.Length(1, 128)), allow_none=True)


class AgentChangeSchema(Strict):
    """What of an agent can be changed; what is not named stays."""

    name = Line(longest=200)
    model = Line(longest=200)
    system_prompt = SystemPrompt()
    max_tokens = WholeNumber(validate=validate.Range(min=1))
    temperature = Json()
    tools = fields.List(Json(), validate=validate.Length(max=MAX_TOOLS))
    middleware = fields.Nested(MiddlewareSchema)
    subagents = fields.List(fields.Nested(SubagentSchema), validate=validate.Length(max=64))
    injections = fields.List(
        fields.Nested(InjectionSchema), validate=validate.Length(max=MAX_INJECTIONS)
    )
    strategy = fields.Nested(StrategySchema)
    shared = Flag()


class AgentCreateSchema(AgentChangeSchema):
    """A new agent."""

    name = Line(longest=200, required=True)


class AgentSchema(Strict):
    """An agent as clients read it."""

    id = fields.UUID()
    name = fields.String()
    model = fields.String()
    model_known = fields.Function(
        lambda agent: facts_for(agent.model).known,
        metadata={"type": "boolean", "description": "Whether the model catalogue has this model."},
    )
    system_prompt = fields.Method(
        "_system_prompt",
        metadata={"description": "A text; a list of texts where there are several system blocks."},
    )
    max_tokens = fields.Integer()
    tools = fields.List(Json())
    tool_choice = Json(allow_none=True)
    parameters = Json()
    middleware = fields.Method("_middleware", metadata={"type": "object"})
    subagents = fields.List(fields.Nested(SubagentSchema))
    injections = fields.List(fields.Nested(InjectionSchema))
    strategy = Json()
    shared = fields.Boolean()
    owner_id = fields.UUID()
    version = fields.Integer()
    created_at = fields.String()
    updated_at = fields.String()

    def _system_prompt(self, agent: Agent) -> Any:
        blocks = agent.system_blocks
        return list(blocks) if len(blocks) > 1 else "".join(blocks)

    def _middleware(self, agent: Agent) -> dict[str, bool]:
        return {name: agent.uses(name) for name in MIDDLEWARES}


class AgentPageSchema(Strict):
    """A page of agents."""

    items = fields.List(fields.Nested(AgentSchema))
    next = fields.String(allow_none=True)


class AgentQuery(PageQuery):
    """Filters of the list of agents."""

    query = fields.String(load_default=None, validate=validate.Length(1, 200))
