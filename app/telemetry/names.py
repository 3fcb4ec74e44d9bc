"""Every span, attribute, event and metric of hango's own. docs/reference/telemetry.md lists them.

The GenAI conventions are in development, and names there still change: they stand here alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Spans
CONTEXT_INSPECT = "agent.context_inspect"
CONTEXT_TRY = "context_try"
RUN = "invoke_agent"
CHAT = "chat"  # followed by the model
TOOL = "execute_tool"  # followed by the tool
SEND = "send"  # followed by the job
PROCESS = "process"  # followed by the job

SPANS = {
    CONTEXT_INSPECT: "An inspect request: the next call of a session, assembled and not made.",
    CONTEXT_TRY: "A try, in the worker. Its model call stands under it.",
    RUN: "A run, from its claim to its ending or to the death of its worker.",
    f"{CHAT} <model>": "A model call, its retries included.",
    f"{TOOL} <tool>": "A tool call. A name that the agent has no tool of is left out.",
    f"{SEND} <job>": "A job is put into its queue.",
    f"{PROCESS} <job>": "A worker does a job.",
}

# Events
STALE = "agent.context_override_stale"
PAIRED = "agent.context_override_paired"
SUSPENDED = "agent.context_overrides_suspended"

EVENTS = {
    STALE: "An override names a part that is not there.",
    PAIRED: "A message is left out together with the other half of its tool call.",
    SUSPENDED: "The session's overrides would make the request invalid, and were left out.",
}

# Attributes
PART = "hango.context.part"
REASON = "hango.context.reason"
OVERRIDES = "hango.context.overrides"
EXCLUDED_TOKENS = "hango.context.excluded_tokens"
TRY = "hango.context.try"
PARTS_SYSTEM = "hango.context.parts.system"
PARTS_TOOLS = "hango.context.parts.tools"
PARTS_MESSAGES = "hango.context.parts.messages"
TOKENS_BEFORE = "hango.context.tokens.before"
TOKENS_AFTER = "hango.context.tokens.after"
WOULD_COMPACT = "hango.context.would_compact"
TRY_ID = "hango.try.id"
RUN_ID = "hango.run.id"
TURNS = "hango.run.turns"
TENANT = "hango.tenant.id"
PURPOSE = "hango.purpose"
COST = "hango.cost.micro_dollars"
ATTEMPTS = "hango.attempts"
THINKING_LEFT_OUT = "hango.context.thinking_left_out"
REQUEST_SHA256 = "hango.request.sha256"
OUTCOME = "outcome"
ERROR = "error.type"
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
AGENT = "gen_ai.agent.id"
CONVERSATION = "gen_ai.conversation.id"
MODEL = "gen_ai.request.model"
MAX_TOKENS = "gen_ai.request.max_tokens"
TEMPERATURE = "gen_ai.request.temperature"
STREAM = "gen_ai.request.stream"
RESPONSE_ID = "gen_ai.response.id"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE = "gen_ai.usage.cache_write.input_tokens"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 (no secret)
TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL_ID = "gen_ai.tool.call.id"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
MESSAGING_SYSTEM = "messaging.system"
QUEUE = "messaging.destination.name"
JOB = "messaging.operation.name"
# Only where the tenant turned trace_llm_content on
INSTRUCTIONS = "gen_ai.system_instructions"
INPUT = "gen_ai.input.messages"
OUTPUT = "gen_ai.output.messages"
DEFINITIONS = "gen_ai.tool.definitions"
# Only with HANGO_LANGFUSE
LANGFUSE_TYPE = "langfuse.observation.type"
LANGFUSE_USAGE = "langfuse.observation.usage_details"
LANGFUSE_COST = "langfuse.observation.cost_details"
LANGFUSE_INPUT = "langfuse.observation.input"
LANGFUSE_OUTPUT = "langfuse.observation.output"
LANGFUSE_SESSION = "session.id"

ATTRIBUTES = {
    PART: "The part, without a name that somebody chose: `message:12`, `system:memory`, `tool`.",
    REASON: "Why: the code of the first fault.",
    OVERRIDES: "Active overrides of the request.",
    EXCLUDED_TOKENS: "What the parts that overrides leave out would have cost.",
    TRY: "True on the call of a try.",
    PARTS_SYSTEM: "System blocks, left out ones included.",
    PARTS_TOOLS: "Tool definitions, left out ones included.",
    PARTS_MESSAGES: "Messages, left out ones included.",
    TOKENS_BEFORE: "The request without overrides, by the estimator.",
    TOKENS_AFTER: "The request as it is sent, by the estimator.",
    WOULD_COMPACT: "Whether the request is past its trigger.",
    TRY_ID: "The try.",
    RUN_ID: "The run.",
    TURNS: "Model calls that the run has made.",
    TENANT: "The tenant.",
    PURPOSE: "What the call is made for: `turn`, `subagent`, `context_try` …",
    COST: "What the call cost, in millionths of a US dollar, where a price is known.",
    ATTEMPTS: "How often the request was sent.",
    THINKING_LEFT_OUT: "Blocks of thinking that the provider has not taken back, where any.",
    REQUEST_SHA256: "The fingerprint of the request, as inspect shows it.",
    OUTCOME: "How it ended: a status of the API.",
    ERROR: "The code of the failure.",
    OPERATION: "`chat`, `execute_tool` or `invoke_agent`.",
    PROVIDER: "`anthropic`, or `offline`.",
    AGENT: "The agent's id.",
    CONVERSATION: "The session's id.",
    MODEL: "The model that was asked for.",
    MAX_TOKENS: "The most that the answer may have.",
    TEMPERATURE: "The temperature, where the agent sets one.",
    STREAM: "Always true.",
    RESPONSE_ID: "The provider's id of the answer.",
    RESPONSE_MODEL: "The model as the provider names it.",
    FINISH_REASONS: "Why the model stopped.",
    FIRST_CHUNK: "Seconds to the first event of the answer.",
    INPUT_TOKENS: "The whole input, tokens read from and written to the cache included.",
    OUTPUT_TOKENS: "The answer.",
    CACHE_READ: "Read from the prompt cache.",
    CACHE_WRITE: "Written to the prompt cache.",
    TOKEN_TYPE: "`input` or `output`.",
    TOOL_NAME: "The tool, where the agent has one of this name.",
    TOOL_CALL_ID: "The provider's id of the tool call.",
    SERVER_ADDRESS: "The provider's host.",
    SERVER_PORT: "The provider's port.",
    MESSAGING_SYSTEM: "`redis`.",
    QUEUE: "The queue.",
    JOB: "The job.",
    INSTRUCTIONS: "Content: the system prompt.",
    INPUT: "Content: the messages of the request.",
    OUTPUT: "Content: the answer.",
    DEFINITIONS: "Content: the tool definitions.",
    LANGFUSE_TYPE: "Langfuse: `generation`, `agent` or `tool`.",
    LANGFUSE_USAGE: "Langfuse: token figures that add up.",
    LANGFUSE_COST: "Langfuse: the cost in US dollars.",
    LANGFUSE_INPUT: "Langfuse, content: the request.",
    LANGFUSE_OUTPUT: "Langfuse, content: the answer.",
    LANGFUSE_SESSION: "Langfuse: the session's id.",
}


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of hango's own."""

    kind: Literal["counter", "histogram", "gauge"]
    unit: str
    about: str
    attributes: tuple[str, ...] = ()


# Metrics
INSPECT_DURATION = "hango.context.inspect.duration"
TRIES = "hango.context.try"
OVERRIDES_ACTIVE = "hango.context.overrides.active"
RUNS = "hango.run"
CALL_DURATION = "gen_ai.client.operation.duration"
CALL_TOKENS = "gen_ai.client.token.usage"

_OF_CALLS = (OPERATION, PROVIDER, MODEL, PURPOSE, ERROR)

METRICS = {
    INSPECT_DURATION: Metric("histogram", "s", "How long inspect requests take."),
    TRIES: Metric("counter", "{try}", "Tries that have ended.", (OUTCOME,)),
    OVERRIDES_ACTIVE: Metric(
        "gauge", "{override}", "Overrides that are in force, by tenant.", (TENANT,)
    ),
    RUNS: Metric("counter", "{run}", "Runs that have ended.", (OUTCOME,)),
    CALL_DURATION: Metric("histogram", "s", "How long model calls take.", _OF_CALLS),
    CALL_TOKENS: Metric("histogram", "{token}", "Tokens of model calls.", (*_OF_CALLS, TOKEN_TYPE)),
}
