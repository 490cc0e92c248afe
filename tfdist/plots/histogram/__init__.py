"""`%histograms`: how values are spread, over steps."""
