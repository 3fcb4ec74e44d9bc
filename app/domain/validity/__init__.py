"""What the provider demands of blocks, histories, tools and whole requests.

The doors use `check_blocks`, `check_appended` and `check_tool`: they refuse what could never be
sent, and let in what the chain repairs in each request. `check_request` refuses both.
"""

from app.domain.validity.content import check_blocks
from app.domain.validity.history import HistoryCheck, check_appended, check_history

__all__ = ["HistoryCheck", "check_appended", "check_blocks", "check_history"]
