"""What an optimised placement would move, and what came of trying it: sentences and a table."""

from __future__ import annotations

from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.tables import Table, bytes_text, duration_text
from tfdist.session.placement_optimizer import OptimizedPlacement, Verdict
from tfdist.tracing.device_names import short_device

NAMED = 3  # nodes of a move
SECOND = 1e6  # microseconds


def moves_table(found: OptimizedPlacement) -> Table:
    """Return a row for each pair of devices between which nodes would move.

    Args:
      found: what `Session.optimize_placement` returned.
    """
    header = ("from", "to", "nodes", "computing", "if they stayed", "such as")
    cells = tuple(
        (
            short_device(move.source),
            short_device(move.target),
            str(len(move.nodes)),
            duration_text(move.cost_us),
            f"{duration_text(max(move.saved_us, 0.0))} longer",
            ", ".join(shorten(name, 24) for name in move.nodes[:NAMED]),
        )
        for move in found.moves()
    )
    return Table(header, cells, frozenset({2, 3, 4}), _crossing(found))


def _crossing(found: OptimizedPlacement) -> str:
    before, after = found.simulated()
    sizes = [bytes_text(each.transfer_bytes) for each in (before, after)]
    told = (
        f"{before.transfers} tensors ({sizes[0]}) cross between devices now, "
        f"{after.transfers} ({sizes[1]}) would"
    )
    probed = len(found.model.probed)
    if probed:
        links = "1 link that the step does" if probed == 1 else f"{probed} links that the step does"
        told += f"; {links} not use {'was' if probed == 1 else 'were'} probed"
    return told


def verdict_sentence(verdict: Verdict) -> str:
    """Return what running both placements in turn told."""
    before, after = (duration_text(each * SECOND) for each in (verdict.before_s, verdict.after_s))
    told = f"Run {verdict.runs} times in turn: {before} as it was, {after} as it was found"
    if verdict.is_better:
        return f"{told}, {verdict.speedup:.3g} times as fast."
    return f"{told}: it is not faster, so nothing is changed."
