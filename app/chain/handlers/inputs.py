"""Checks a tool call's input against the schema that the model was given, and says what is wrong.

No text quotes an input: it can be megabytes long, and the model knows what it sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from app.domain.previews import preview_text
from app.domain.text import clean_json
from app.domain.tools import ToolCall, ToolError, ToolHandler, ToolOutcome

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

CarryOut = Callable[..., "str | ToolOutcome"]
"""Carries out one call, with its input as keywords. Raises ToolError."""

_MOST_FAULTS = 5  # that one answer names
_LONGEST_NAME = 60
_WORDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "object": "an object",
    "string": "a text",
}


def checked(definition: Mapping[str, Any], carry_out: CarryOut) -> ToolHandler:
    """A handler that checks the input first, and tells the model what goes wrong."""

    def handle(call: ToolCall) -> ToolOutcome:
        try:
            outcome = carry_out(**checked_input(definition, call.input))
        except ToolError as error:
            return ToolOutcome(str(error), is_error=True)
        return outcome if isinstance(outcome, ToolOutcome) else ToolOutcome(outcome)

    return handle


def carried_out(by_name: Mapping[str, CarryOut]) -> Callable[[Mapping[str, Any]], ToolHandler]:
    """For each of these tools, by its definition, the handler that checks its input first."""
    return lambda definition: checked(definition, by_name[definition["name"]])


def checked_input(definition: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """The input, cleaned of what cannot be stored, when it is what the definition asks for.

    Stricter than JSON Schema in two things that hide a misunderstanding: 1.0 is no integer, and
    an input that the tool does not have is refused.

    Raises:
        ToolError: names what is wrong.
    """
    if not isinstance(given, Mapping):
        raise ToolError("Nothing was done: the input has to be an object.")
    try:
        values: dict[str, Any] = clean_json(given)
        faults = list(islice(_faults(definition["input_schema"], values), _MOST_FAULTS))
    except RecursionError:
        raise ToolError("Nothing was done: the input is nested too deeply.") from None
    if faults:
        raise ToolError(f"Nothing was done: {'; '.join(dict.fromkeys(faults))}.")
    return values


def _faults(schema: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[str]:
    known = schema.get("properties", {})
    for name in values:
        if name not in known:
            yield f"there is no input {_shown(name)}, only {', '.join(known)}"
    for error in _strict()(schema).iter_errors(values):
        yield from _sentences(error)


@cache
def _strict() -> type[Validator]:
    # Here, since many a process never carries out a tool, and this is a slow import.
    from jsonschema import Draft202012Validator, validators  # noqa: PLC0415

    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: _whole(value))
    strict: type[Validator] = validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, type_checker=types
    )
    return strict


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _sentences(error: ValidationError) -> Iterator[str]:
    at = _place(error)
    wanted: Any = error.validator_value
    instance: Any = error.instance
    if error.validator == "required":
        missing = [name for name in wanted if name not in instance]
        yield f"{', '.join(missing)} is missing" + (f" in {at}" if at else "")
    elif error.validator == "type":
        yield f"{at or 'the input'} has to be {_WORDS.get(str(wanted), wanted)}"
    elif error.validator == "enum":
        yield f"{at} has to be one of {', '.join(map(str, wanted))}"
    else:
        yield f"{at or 'the input'} does not keep to {error.validator}: {wanted}"


def _place(error: ValidationError) -> str:
    """Where it stands: "todos[2].status"; empty for the input itself."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    return "".join(steps).removeprefix(".")


def _shown(name: str) -> str:
    return preview_text(name, _LONGEST_NAME)
