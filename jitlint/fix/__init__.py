"""Repairs: apply the edits of findings to texts, and build the edits that rules attach."""
