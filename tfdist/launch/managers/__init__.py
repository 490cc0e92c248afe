"""Cluster managers: what starts the tasks of a cluster on other hosts, and knows how they fare.

tfdist has no scheduler of its own. `seam` tells what a manager has to be able to do, `on` finds the
one that somebody names, and each other module is one manager.
"""
