"""The judge: runs fixtures under JAX and under jitlint, and compares both with the marks in their comments.

``marks`` reads the comments, ``execute`` runs one program under JAX, ``pool`` does so in forked processes,
``verdict`` compares, ``lint`` asks jitlint, ``fixtures`` finds the files. ``python -m tests.judge FILE…`` judges
files by hand.
"""
