"""Floor 8: pictures and their text twins, from plain data.

A folder for each picture, named after its magic: `graph`, `timeline`, `placement`, `player`, `live`
(census, queues, waits), `histogram`; `shared` has what several need, and `text` says in words what
they show. In each, `layout` decides where everything stands and returns plain data, and `figure`
draws that as matplotlib `Figure` objects, never through pyplot, whose global state belongs to the
user. matplotlib is imported when a picture is drawn. May import everything below api and plots, and
nothing here knows Jupyter.
"""
