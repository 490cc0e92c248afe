"""Floor 8: pictures and their text twins, from plain data.

`layout_timeline` and `layout_placement` decide where everything stands and return plain data
(`cuts` leaves out time, `blocks` knows loops and conds, `machinery` what makes them go);
`rpcs`, `comparison` and `devices` show calls, two steps and many runs;
`timeline` and `placement` draw that as matplotlib `Figure` objects, never through pyplot, whose
global state belongs to the user; `tables` and `text` say the same in words. matplotlib is imported
when a picture is drawn. May import everything below api and plots, and nothing here knows Jupyter.
"""
