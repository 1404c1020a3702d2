"""What jitlint says about packages that other people wrote, and how much of it is right."""
