"""Integrations with other libraries; each needs the extra of the same name."""
