"""The dynamic mode: what static analysis claims is put to JAX, in the user's own interpreter.

``plan`` says what to trace and with which arguments, ``run`` starts the worker (``worker``) for each module and reads
what it saw (``protocol``), ``judge`` turns that into a verdict on every finding, ``variants`` counts what would be
compiled, and ``confirm`` puts it together for the command line.
"""
