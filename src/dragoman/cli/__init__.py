"""The command line: one file a command, each importing its heavy modules only when it runs."""
