"""The recorder: what really compiled, where, and why.

``runtime`` runs inside the user's program and needs the standard library only; everything else here runs in jitlint's
own process and reads the record that it leaves: one file of JSON lines per process.
"""
