"""Floor 12: what `%load_ext tfdist` adds to a notebook, and the only folder that knows IPython.

`magics` parses lines and calls plain functions: those of `trace` and `placement` here, and of
`launch`. `formatters` gives classes of the floors below a rich display; `bundles` and `html` make
what is displayed. Nothing below imports this folder.
"""
