"""Floor 5: how processes reach each other; the only folder that knows gRPC.

`server.Server` holds a port; a `services.endpoint` takes calls there. `services` says what may be
asked (master, worker, inspection, health), `peers` asks it: a `link` is the way to another process,
and a session and a task call `remote_master` and `remote_peers` as they would call one of this
process. The protocol is TensorFlow's own, so its clients and servers take part.

Two transports carry the same calls (`common.calls`) with the same bytes (`codec`): `grpc` to
everybody, and `frames` between tfdist processes, by unix sockets and shared memory on one host, by
TCP between hosts. By frames, what a loop sends is streamed besides (`codec.transfers`): that takes
no call for each value. Everything that arrives is called on one thread (`common.loop`), every wait
for others has a bound (`common.timeouts`), `common.security` and `common.same_user` say who may
call at all, and `services.session_reaper` closes the sessions of clients that are gone. Nothing
that arrives is unpickled or evaluated.

What both transports promise is tested by `tests/wire/test_transports.py`, what all services do by
`tests/wire/test_service_methods.py`.
"""
