"""Session files of Claude Code: records → chain → branch → turns; subagents apart."""
