"""What the provider demands of blocks, histories, tools and whole requests.

The doors use `check_blocks`, `check_appended` and `check_tool`: they refuse what could never be
sent, and let in what the chain repairs in each request. `check_request` refuses both.
"""

from app.domain.validity.content import check_blocks
from app.domain.validity.history import HistoryCheck, check_appended, check_history
from app.domain.validity.model_rules import betas_for
from app.domain.validity.request import check_request
from app.domain.validity.tools import check_tool, check_tools, is_tool_name

__all__ = [
    "HistoryCheck",
    "betas_for",
    "check_appended",
    "check_blocks",
    "check_history",
    "check_request",
    "check_tool",
    "check_tools",
    "is_tool_name",
]
