"""The language server: findings, repairs, explanations and counts of programs, on the text as it is being typed.

``app`` speaks the protocol and holds no knowledge of jitlint; ``checks`` decides what to analyse and when, ``run`` is
one analysis, ``memory`` and ``users`` make the next one cheaper, ``documents`` holds the texts, ``diagnostics``,
``actions`` and ``lenses`` put results into the words of the protocol. pygls is an extra: only ``jitlint server``
imports this package.
"""
