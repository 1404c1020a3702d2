"""The part of the recorder that runs inside the user's program.

It needs nothing but the standard library, imports jax only after the program did, and must never change what the
program computes, prints or returns. It can be loaded without the rest of jitlint (see ``jitlint/recorder/site``), so
its modules import one another relatively and nothing else of jitlint.

``startup`` is how ``jitlint trace`` gets in, ``instrument`` what is done to jax, and ``recorder`` the state.
"""
