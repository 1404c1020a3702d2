"""Repairs: apply the edits of findings to texts, and build the edits that rules attach.

``apply``, ``imports``, ``text`` and ``files`` work on text and need no libcst. ``static_args``, ``updates``,
``literals``, ``debug_print`` and ``elementwise`` build the text of a repair from libcst nodes or source; they know
nothing of rules, and give None (or a reason) where the code is not of the shape they can keep the meaning of.
"""
