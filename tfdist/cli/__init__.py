"""Floor 11: the command `tfdist`.

`main` has the parser of the command line and the commands that are a few lines; `serving` those
that are a task of a cluster or ask one; `hosts` those that write what other hosts need; `dashboard`
serves a page. What a command needs is imported when it runs.
"""
