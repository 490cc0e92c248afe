"""Clusters whose tasks a SLURM job runs: one step, which the notebook submits and cancels."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence

from tfdist.errors import NotFoundError, UnavailableError
from tfdist.launch.managers.folder_manager import FolderManager
from tfdist.launch.managers.seam import Wanted
from tfdist.launch.server_process import last_lines, own_environment

SCRIPT = """\
#!/bin/sh
#SBATCH --job-name={name}
#SBATCH --ntasks={ntasks}
#SBATCH --output={log}
#SBATCH --no-requeue
export SRUN_CPUS_PER_TASK="${{SLURM_CPUS_PER_TASK:-1}}"
exec srun --kill-on-bad-exit=0 {command}
"""
QUEUED = ("PENDING", "CONFIGURING", "REQUEUED")
RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING")
# Reasons of a job that waits for what the partition does not have: it would wait for ever.
HOPELESS = (
    "BadConstraints", "InvalidAccount", "InvalidQOS", "PartitionConfig", "PartitionNodeLimit",
    "PartitionTimeLimit",
)  # fmt: skip
_LOG, _SCRIPT_FILE = "job.log", "job.sh"
_ANSWER = 20.0  # seconds that a command of SLURM's may take
_PATIENCE = 10.0  # seconds that a cancelled job may take to end before nobody waits for it
_STEP = 0  # the script's only one


class SlurmManager(FolderManager):
    """Starts tasks as a step of a SLURM job.

    Args:
      options: of `sbatch`, as one types them: "--partition=debug --time=10 --gpus-per-task=1"; and
        --folder=SHARED.

    Attributes:
      job: number of the job, as text; "" before it is submitted.
    """

    name = "SLURM"
    source = "slurm"
    remedy = (
        "`sinfo` and `squeue --me` tell what there is; --on 'slurm:OPTIONS' gives sbatch options"
    )

    def __init__(self, options: str = "") -> None:
        super().__init__(options)
        self.job = ""
        self._state, self._reason = QUEUED[0], ""

    def _begin(self, command: Sequence[str], wanted: Wanted) -> None:
        if shutil.which("sbatch") is None:
            raise NotFoundError(
                "there is no program sbatch here: start the notebook where one submits jobs to "
                "SLURM, or start the cluster there: srun -n 3 tfdist serve --from slurm"
            )
        script = self.folder / _SCRIPT_FILE
        script.write_text(SCRIPT.format(
            name=f"tfdist-{wanted.cluster}".replace(" ", "-"), ntasks=len(wanted.tasks),
            log=self.folder / _LOG, command=shlex.join(command),
        ))  # fmt: skip
        code, told = _asked("sbatch", "--parsable", *self._options, str(script))
        if code:
            raise UnavailableError(f"SLURM takes no such job: {told}")
        self.job = told.rpartition("; ")[2].partition(";")[0]

    @property
    def is_queued(self) -> bool:
        """Return whether the job waits for nodes."""
        return self._state in QUEUED

    def progress(self) -> str:
        """See `ClusterManager.progress`."""
        reason = f" ({self._reason})" if self._reason not in ("", "None") else ""
        return f"job {self.job} {self._state}{reason}"

    def _look(self) -> None:
        """Ask how the job is; what was known stays where SLURM does not answer."""
        code, told = _asked(
            "squeue", "--noheader", "--states=all", f"--jobs={self.job}", "--format=%T|%r"
        )
        if code == 0 and told:
            self._state, _, self._reason = told.rpartition("; ")[2].partition("|")
        elif "Invalid job id" in told:  # it ended long ago
            self._state, self._reason = "GONE", ""

    def _why_ended(self) -> str:
        self._look()
        if self._reason in HOPELESS:
            return f"SLURM {self.progress()}: its partition never has what this job asks for"
        if self._state in (*QUEUED, *RUNNING):
            return ""
        told = " ".join(last_lines(self.folder / _LOG, 3))
        return f"SLURM {self.progress()}" + (f": {told}" if told else "")

    def _end(self) -> None:
        if not self.job:
            return
        _asked("scancel", self.job)
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            self._look()
            if self._state not in (*QUEUED, *RUNNING):
                return
            time.sleep(0.1)

    def _id(self, task: str) -> str:
        return f"{self.job}.{_STEP}"


def _asked(*command: str) -> tuple[int, str]:
    """Return exit code and output of a command of SLURM's."""
    try:
        found = subprocess.run(
            command, env=own_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=_ANSWER, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 1, f"{command[0]} did not answer in {_ANSWER:g} s"
    lines = (line.removeprefix(f"{command[0]}: ") for line in found.stdout.splitlines())
    return found.returncode, "; ".join(line.strip() for line in lines if line.strip())
