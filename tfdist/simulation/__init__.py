"""What would happen if: models of training that run without a cluster, in a moment.

`training` simulates synchronous and asynchronous training by workers and parameter servers,
`scaling` asks it over numbers of workers and of spare replicas, `calibration` takes its numbers
from traced steps. Pure: chance comes in as a generator, and there is no clock. For whoever plans
a cluster before renting it; the magic `%whatif` draws what is computed here.
"""
