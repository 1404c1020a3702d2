"""How many of the faults that people really committed jitlint finds, and whether the findings go with the repair."""
