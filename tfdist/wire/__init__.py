"""Floor 5: how processes reach each other; the only folder that knows gRPC.

`server.Server` holds a port, an `endpoint` takes calls there, and a `link` is the way to somebody
else's. What may be asked stands in the services (master, worker, inspection, health) and, from the
other side, in `remote_master` and `remote_peers`: a session and a task call these as they would
call one of this process. The protocol is TensorFlow's own, so its clients and servers take part.

Two transports carry the same calls (`calls`) with the same bytes (`codec`, `status`): gRPC to
everybody, and the side path, unix sockets and shared memory, between tfdist processes of one user
on one host. By side path, what a loop sends is followed besides (`transfers`): that takes no call
for each value. Everything that arrives is called on one thread (`loop`), every wait for others has
a bound (`bounds`), `security` says who may call at all, and `keeper` closes the sessions of clients
that are gone. Nothing that arrives is unpickled or evaluated.
"""
