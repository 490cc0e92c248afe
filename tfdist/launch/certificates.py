"""`tfdist certificates`: folders with certificates, for a cluster that is started by hand.

One folder for each host, one for those who run graphs and one for those who only look. The
authority's own key stays beside them, so that a second call renews them all, or adds hosts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tfdist.errors import InvalidArgumentError
from tfdist.launch.authority import Authority, names_in, write_identity, write_private
from tfdist.wire.common.identity import CERTIFICATE

KEPT = "authority-key.pem"
_PEOPLE = {"run": "for those who run graphs", "look": "for those who look: why, census, traces"}
_HOST = "join", "for that host, whose tasks serve the cluster"


def certificates(folder: Path, cluster: str, hosts: Sequence[str], days: float) -> Iterator[str]:
    """Write certificates, and yield a line for each.

    Args:
      folder: for all of them; what is there already is renewed.
      cluster: its name; "" for that of the authority that is there.
      hosts: names and numbers of each further host, with commas between them; the first one is the
        name of its folder.
      days: that they hold.

    Raises:
      InvalidArgumentError: nothing says which cluster, the folder is another cluster's, or a
        host's name cannot be a folder's.
    """
    named = {**_known(folder), **dict(map(_named, hosts))}
    authority = _authority(folder, cluster)
    yield f"{folder / KEPT}: the authority of cluster {authority.cluster}; keep it to yourself"
    for name, names in {"run": [], "look": [], **named}.items():
        role, use = (name, _PEOPLE[name]) if name in _PEOPLE else _HOST
        identity = authority.identity(names, role, days)
        write_identity(folder / name, identity)
        until = datetime.fromtimestamp(identity.until, UTC)
        yield f"{folder / name}: {use}; role {role}, until {until:%Y-%m-%d}"


def _known(folder: Path) -> dict[str, list[str]]:
    """Return the hosts that have certificates, by folder."""
    found = {
        path.parent.name: list(names_in(path.read_bytes()).hosts)
        for path in sorted(folder.glob(f"*/{CERTIFICATE}"))
    }
    return {name: hosts for name, hosts in found.items() if name not in _PEOPLE}


def _named(host: str) -> tuple[str, list[str]]:
    names = [name.strip() for name in host.split(",") if name.strip()]
    if not names or "/" in host or names[0].startswith(".") or names[0] in _PEOPLE:
        taken = ", ".join(_PEOPLE)
        raise InvalidArgumentError(
            f"a host is NAME or NAME,NUMBER,..., and its folder has the first name, so not {host!r}"
            f" ({taken} are other folders)"
        )
    return names[0], names


def _authority(folder: Path, cluster: str) -> Authority:
    path = folder / KEPT
    if not path.exists() and not cluster:
        raise InvalidArgumentError(f"{folder} has no authority yet: name the cluster (--cluster)")
    authority = Authority(cluster, path.read_bytes() if path.exists() else b"")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(path, authority.kept)
    return authority
