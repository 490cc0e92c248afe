"""`%cluster`: start, show, change and stop clusters."""

from __future__ import annotations

import json
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.jupyter import bundles, clusters
from tfdist.jupyter.arguments import (
    check_watch,
    gpus_option,
    meant,
    output_options,
    parse,
    positive,
    save_shown_option,
    unquoted,
    watch_options,
)
from tfdist.jupyter.bundles import Bundle
from tfdist.jupyter.census import ClusterPanel
from tfdist.jupyter.export import Export
from tfdist.jupyter.magics.noun import Noun, usage_errors
from tfdist.jupyter.panels import Panel, freeze_panels
from tfdist.jupyter.stream import StreamPanel
from tfdist.jupyter.watch import told_in_place
from tfdist.launch.attached_cluster import attach
from tfdist.launch.clusters import DEFAULT_NAME, LOG_LINES, Cluster, running_clusters
from tfdist.launch.disturbances import FORMS
from tfdist.launch.outcome import Outcome
from tfdist.launch.server_process import START_TIMEOUT
from tfdist.launch.start import start_cluster
from tfdist.plots.live.census import census as take_census
from tfdist.web.dashboard import close_dashboard, open_dashboard

CLUSTER_VERBS = (
    *("status", "start", "stop", "spec", "attach", "logs", "kill", "restart"),
    "stream",
    "dashboard",
    *FORMS,
    *("thaw", "heal", "faults"),
)
# What other programs call the verbs.
_OTHER_WORDS = {
    "list": "status", "ls": "status", "show": "status", "info": "status", "ps": "status",
    "up": "start", "run": "start", "create": "start", "new": "start", "down": "stop",
    "end": "stop", "shutdown": "stop", "delete": "stop", "rm": "stop", "log": "logs",
    "tail": "logs", "connect": "attach", "join": "attach", "web": "dashboard",
    "top": "stream", "tasks": "stream", "activity": "stream",
}  # fmt: skip


@magics_class
class ClusterMagic(Noun):
    """Clusters of servers."""

    @magic_arguments()
    @argument("verb", nargs="?", default="status", help=", ".join(CLUSTER_VERBS))
    @argument(
        "words",
        nargs="*",
        type=unquoted,
        help="start: JOB=N; attach: NAME, FILE.json, grpc://HOST:PORT or worker=HOST:PORT; logs, "
        "kill and restart: TASK, such as worker:1; disturbances: TASK (worker: all of a job, *: "
        "all), the way from TASK to TASK, how much; heal: what of them; others: NAME",
    )
    @argument("--ps", type=int, metavar="N", help="the same as ps=N")
    @argument("--worker", type=int, metavar="N", help="the same as worker=N")
    @argument("--name", type=unquoted, help='name of the cluster; "main" by default')
    @argument("--port", type=int, help="port of the first task; free ports by default")
    @argument(
        "--host",
        metavar="NAME",
        type=unquoted,
        help="dashboard: under which a proxy is asked for it, such as hub.example.org",
    )
    @argument("--devices", type=unquoted, help="devices of each task; cpu:1 by default")
    @gpus_option
    @argument("--processes", action="store_true", help="give each server a process of its own")
    @argument(
        "--on",
        metavar="WHERE",
        default="kernel",
        type=unquoted,
        help="kernel, processes, or what starts tasks on other hosts: dask://HOST:PORT, slurm, "
        "mpi, ssh:HOSTS.txt, or a variable with a manager, such as DaskManager(...)",
    )
    @argument("--keep", action="store_true", help="tasks on Dask stay when this kernel ends")
    @argument(
        "--engine",
        metavar="ENGINE",
        action="append",
        default=[],
        type=unquoted,
        help="tensorflow: servers of TensorFlow itself, in processes; or JOB=tensorflow",
    )
    @argument(
        "--python",
        metavar="PATH",
        type=unquoted,
        help="an interpreter that has TensorFlow; TFDIST_TENSORFLOW or this one by default",
    )
    @argument(
        "--trust-network",
        action="store_true",
        help="let TensorFlow's servers listen on all interfaces, open to all",
    )
    @argument(
        "--timeout", type=float, default=START_TIMEOUT, help="seconds to start; 30 by default"
    )
    @argument(
        "--local",
        action="store_true",
        help="start: a cluster of other machines (FILE.json, a variable, TF_CONFIG) on this one",
    )
    @argument("--replace", action="store_true", help="stop a cluster of that name first")
    @argument("--lines", type=positive, default=LOG_LINES, help="logs: of each task; 20 by default")
    @argument("-f", "--follow", action="store_true", help="logs: and what comes, until Ctrl-C")
    @argument("--grep", metavar="PATTERN", type=unquoted, help="logs: lines that match it")
    @argument("--all", action="store_true", help="stop all clusters")
    @watch_options
    @save_shown_option
    @argument("--json", action="store_true", help="spec: print it as JSON")
    @output_options("the cluster (by default: cluster), the ClusterSpec, or the list of faults")
    @line_magic
    def cluster(self, line: str) -> None:
        """Start, show or stop a cluster of servers, or use one that another kernel started.

        %cluster start ps=1 worker=2     (then: tf.Session(cluster.target()))
        %cluster start --processes       (servers that can crash one by one)
        %cluster start --on dask://scheduler:8786   (or slurm, mpi, ssh:hosts.txt: other hosts)
        %cluster start --engine worker=tensorflow
        %cluster start spec.json --local (a cluster of other machines, on ports of this one)
        %cluster                         (one line per task)
        %cluster --watch                 (what tasks do, while they do it; --for 10: ten seconds)
        %cluster stream                  (who computes, moves, waits, over time; --for 10)
        %cluster dashboard               (a page with the panels, on this machine; close: closed)
        %cluster logs worker:1
        %cluster logs -f --grep error    (and what comes, of all tasks; --for 10: ten seconds)
        %cluster kill worker:1           (as a fault would)
        %cluster restart worker:1
        %cluster spec
        %cluster stop
        %cluster attach                  (in another notebook)

        Disturb a cluster that was started here, to see what happens then:

        %cluster slow worker:1 3         (what it computes takes three times as long)
        %cluster freeze worker:1         (nothing goes on there; %cluster thaw worker:1)
        %cluster delay worker:1 ps:0 30ms   (what worker:1 sends to ps:0 comes later)
        %cluster rate worker:1 ps:0 10MB/s  (it goes at that rate)
        %cluster drop worker:1 ps:0 5%   (some of it is lost; without a share, all)
        %cluster cut worker:1|ps:0       (nothing goes either way; cut worker:1: off from all)
        %cluster faults                  (what is disturbed)
        %cluster heal                    (all; or: heal delay, heal worker:1)
        """
        arguments = parse(self.cluster, line)
        if arguments is None:
            return
        if arguments.verb not in CLUSTER_VERBS:
            near = meant(arguments.verb, CLUSTER_VERBS, _OTHER_WORDS)
            hint = f"did you mean %cluster {near}? The" if near else "the"
            raise UsageError(
                f"%cluster {arguments.verb}: {hint} verbs are {', '.join(CLUSTER_VERBS)}; "
                "try %cluster start ps=1 worker=2"
            )
        if arguments.verb == "stream":
            arguments.watch = True  # it is nothing but that
        check_watch(arguments, "%cluster stream" if arguments.verb == "stream" else "%cluster")
        if arguments.watch and arguments.verb not in ("status", "stream"):
            raise UsageError(f"%cluster {arguments.verb}: --watch is for %cluster [status] [NAME]")
        if arguments.verb == "start":
            self._cluster_start(arguments, line)
        elif arguments.verb in FORMS:
            self._disturb(arguments)
        else:
            getattr(self, f"_cluster_{arguments.verb}")(arguments)

    def _cluster_status(self, arguments: Any) -> None:
        name = _name(arguments)
        if arguments.watch:
            self._watch(clusters.named_cluster(name), ClusterPanel, arguments)
            return
        found = [clusters.named_cluster(name)] if name else running_clusters()
        shown = [clusters.cluster_bundle(each) for each in found]
        shown = shown or [bundles.sentence_bundle(clusters.NO_CLUSTER)]
        draw = take_census(found[-1]).figure if arguments.save and found else None
        self.show_and_save(shown, arguments, draw)

    def _cluster_stream(self, arguments: Any) -> None:
        self._watch(clusters.named_cluster(_name(arguments)), StreamPanel, arguments)

    def _watch(self, cluster: Cluster, kind: type[Panel], arguments: Any) -> None:
        freeze_panels(cluster, kind)  # of the same cell, run again
        panel = kind(cluster, arguments.interval, self.settings.live)
        self.keep(arguments.output or "panel", panel)
        panel.show(arguments.seconds, arguments.quiet)
        export = Export(panel.figure, shown=panel.bundles(self.style()))
        self.save(arguments.save, export, arguments.quiet)

    def _cluster_start(self, arguments: Any, line: str) -> None:
        engine = clusters.engine_of(arguments.engine)
        with told_in_place(self.settings.live != "off" and not arguments.quiet) as progress:
            foreign, jobs = None, {}
            if arguments.local:
                foreign = clusters.foreign_of(arguments.words, self.shell.user_ns)
                jobs = {job: foreign.num_tasks(job) for job in foreign.jobs}
            outcome = usage_errors(start_cluster)(
                jobs or clusters.jobs_of(arguments),
                arguments.name or DEFAULT_NAME,
                arguments.port,
                clusters.cpus_of(arguments.devices),
                arguments.replace,
                arguments.processes,
                arguments.timeout,
                engine,
                arguments.python,
                arguments.trust_network,
                progress,
                arguments.gpus,
                foreign,
                clusters.on_of(arguments.on, self.shell.user_ns),
                arguments.keep,
            )
        self._keep_cluster(clusters.with_replacement(outcome, line), arguments)

    def _cluster_attach(self, arguments: Any) -> None:
        what = next(iter(arguments.words), None)
        self._keep_cluster(usage_errors(attach)(what, arguments.name), arguments)

    def _keep_cluster(self, outcome: Outcome, arguments: Any) -> None:
        found = clusters.started(outcome, arguments.verb)
        variable = arguments.output or "cluster"
        self.shell.push({variable: found})
        sentence = outcome.told(f", in the variable {variable}")
        self.show_and_save([clusters.cluster_bundle(found, sentence)], arguments)

    def _cluster_logs(self, arguments: Any) -> None:
        found = clusters.named_cluster(arguments.name)
        task, wanted = next(iter(arguments.words), None), clusters.pattern(arguments.grep)
        if arguments.follow:
            tail = clusters.log_tail(found, task, arguments.lines)
            clusters.follow(tail, wanted, arguments.seconds, lambda: found.is_running)
            return
        lines = clusters.logs_of(found, task, arguments.lines)
        self.show_and_save([clusters.logs_bundle(list(filter(wanted, lines)))], arguments)

    def _cluster_kill(self, arguments: Any) -> None:
        found = clusters.named_cluster(arguments.name)
        sentence = clusters.kill(found, next(iter(arguments.words), None))
        self.show_and_save([clusters.cluster_bundle(found, sentence)], arguments)

    def _cluster_restart(self, arguments: Any) -> None:
        found = clusters.named_cluster(arguments.name)
        sentence = clusters.restart(found, next(iter(arguments.words), None))
        self.show_and_save([clusters.cluster_bundle(found, sentence)], arguments)

    def _disturb(self, arguments: Any) -> None:
        found = clusters.named_cluster(arguments.name)
        sentence = clusters.disturb(found, " ".join([arguments.verb, *arguments.words]))
        self.show_and_save([bundles.sentence_bundle(sentence)], arguments)

    def _cluster_thaw(self, arguments: Any) -> None:
        arguments.words = ["freeze", *arguments.words]
        self._cluster_heal(arguments)

    def _cluster_heal(self, arguments: Any) -> None:
        found = clusters.named_cluster(arguments.name)
        sentence = clusters.heal(found, arguments.verb, " ".join(arguments.words))
        self.show_and_save([bundles.sentence_bundle(sentence)], arguments)

    def _cluster_faults(self, arguments: Any) -> None:
        name = _name(arguments)
        found = [clusters.named_cluster(name)] if name else running_clusters()
        self.keep(arguments.output, [each for cluster in found for each in cluster.disturbances])
        self.show_and_save([clusters.faults_bundle(found)], arguments)

    def _cluster_dashboard(self, arguments: Any) -> None:
        words = [each for each in arguments.words if each not in ("close", "open")]
        cluster = clusters.named_cluster(arguments.name or next(iter(words), None))
        if "close" in arguments.words:
            was_open = close_dashboard(cluster)
            told = "the dashboard is closed" if was_open else "no dashboard was open"
        else:
            hosts = [arguments.host] if arguments.host else []
            found = usage_errors(open_dashboard)(cluster, arguments.port or 0, hosts)
            self.keep(arguments.output, found)
            told = f"{found.told}; %cluster dashboard close ends that"
        self.show_and_save([bundles.sentence_bundle(told)], arguments)

    def _cluster_stop(self, arguments: Any) -> None:
        one = None if arguments.all else clusters.named_cluster(_name(arguments))
        found = running_clusters() if one is None else [one]
        for each in found:
            freeze_panels(each)
            close_dashboard(each)
            each.stop()
        sentences = [clusters.stop_sentence(each) for each in found] or [clusters.NO_CLUSTER]
        self.show_and_save([*map(bundles.sentence_bundle, sentences)], arguments)

    def _cluster_spec(self, arguments: Any) -> None:
        found = clusters.named_cluster(_name(arguments))
        self.keep(arguments.output, found.spec)
        if arguments.json:
            shown = Bundle({"text/plain": json.dumps(found.spec.as_dict(), indent=1)})
        else:
            shown = bundles.spec_bundle(found.spec)
        self.show_and_save([shown], arguments)


def _name(arguments: Any) -> str | None:
    return arguments.name or next(iter(arguments.words), None)
