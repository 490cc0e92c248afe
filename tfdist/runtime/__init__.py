"""Floor 4: where things happen: devices, state in containers, rendezvous, steps, tasks.

The first floor with threads and a clock. A `Task` is one master and one worker; it reaches others
through `peers`. The tables (`queue_state`, the one in `rendezvous`) are pure; what stands around
them holds the locks. Kernels come from the registry, never from ops. `memory_guard` sees to it that
what others run here does not take all memory.
"""
