"""Floor 11: what browsers get: the HTML of panels, scripts and style sheets, and the dashboard.

`browser` has the scripts and style sheets, `browser_parts` joins them; `cluster`, `queues` and
`stream` make a panel's HTML of what was seen, by the parts of `panel_html`; `dashboard` serves
panels as a page. Nothing here knows Jupyter: widgets and the command line show the same.
"""
