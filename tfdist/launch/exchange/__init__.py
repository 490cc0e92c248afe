"""How the tasks of a cluster learn each other's addresses, when nobody knows them beforehand.

Each task binds a free port and tells it (`messages`); when all have, whoever started them tells all
of them the cluster (`gathering`), and they serve (`member`). After that it renews a lease, moves
tasks that came back at another address, and asks for the end; a task whose lease runs out ends by
itself. Messages travel over standard input and output, or over files of a shared folder
(`streams`, `shared_folder`); a cluster manager may have ways of its own.
"""
