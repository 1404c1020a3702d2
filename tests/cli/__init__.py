"""Tests of the command line, each through ``main`` as a user calls it."""
