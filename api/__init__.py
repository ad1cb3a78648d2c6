"""Every door to the outside: command line, HTTP, workspace, the cut."""
