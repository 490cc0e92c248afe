"""Floor 4: where things happen: devices, state in containers, rendezvous, steps, tasks.

The first floor with threads and a clock. Its folders are floors themselves: `devices`, `resources`
(state that outlives steps), `disturbances` (what is wrong on purpose), `step` (one run of a plan),
`task`. A `Task` is one master and one
worker; it reaches others through `task.peers`. Where state is waited for, the table
(`resources.queue_state`, the one in `step.rendezvous`) is pure, and what stands around it holds the
lock. Kernels come from the registry, never from ops. `task.memory_guard` sees to it that what
others run here does not take all memory.

What every step gives, in whatever way it runs and wherever, is tested by the contracts
`tests/runtime/test_contract.py` and `test_control_flow.py`.
"""
