"""The command `camshaft`. main.py lists the subcommands, each a module of this folder."""
