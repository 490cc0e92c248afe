"""`%tfdist`: help on all magics, the doctor, the report, and the exercises of the course."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from tfdist.base.extras import installed
from tfdist.jupyter import bundles
from tfdist.jupyter.arguments import (
    meant,
    output_options,
    parse,
    positive,
    save_shown_option,
    unquoted,
)
from tfdist.jupyter.doctor import findings, findings_table
from tfdist.jupyter.exercises.answers import Answers
from tfdist.jupyter.listed import listed_bundle
from tfdist.jupyter.magics.noun import Noun, usage_errors
from tfdist.jupyter.reference import reference_table
from tfdist.jupyter.report import report_file, report_html
from tfdist.jupyter.settings import TFDist
from tfdist.jupyter.trace import recent
from tfdist.launch.clusters import running_clusters
from tfdist.launch.outcome import cause_of

VERBS = ("help", "version", "doctor", "report", "check")


@magics_class
class TfdistMagic(Noun):
    """What concerns all of it.

    Args:
      shell: IPython's.
      settings: of all nouns.
    """

    def __init__(self, shell: Any, settings: TFDist) -> None:
        super().__init__(shell, settings)
        self._answers = Answers()

    @magic_arguments()
    @argument("verb", nargs="?", default="help", help=", ".join(VERBS))
    @argument(
        "words",
        nargs="*",
        type=unquoted,
        help="report: the FILE.html to be written; check: an exercise, and your answer",
    )
    @argument(
        "--last", type=positive, metavar="N", help="report: the last N traces; all kept by default"
    )
    @argument(
        "--share",
        action="store_true",
        help="report: with step players and curves to explore, for anybody's browser",
    )
    @save_shown_option
    @output_options("the findings, the FILE, the verdict, or the table that is shown")
    @line_magic
    def tfdist(self, line: str) -> None:
        """Say which magics there are and if all can work here; write a report; check an answer.

        %tfdist                      all magics, with an example each
        %tfdist doctor               versions and what they mean, ports, clusters
        %tfdist report steps.html    what was traced, in one file that needs nothing else
        %tfdist report --share steps.html    the same, to be played with in any browser
        %tfdist check 22a 12ms       whether an answer to an exercise is right, and else a hint
        """
        arguments = parse(self.tfdist, line)
        if arguments is None:
            return
        if arguments.verb not in VERBS:
            near = meant(arguments.verb, VERBS)
            hint = f"did you mean %tfdist {near}? The" if near else "the"
            raise UsageError(f"%tfdist {arguments.verb}: {hint} verbs are {', '.join(VERBS)}")
        words = {"report": 1, "check": len(arguments.words)}.get(arguments.verb, 0)
        if len(arguments.words) > words:
            raise UsageError(f"%tfdist {arguments.verb}: what is {arguments.words[words]!r} for?")
        getattr(self, f"_tfdist_{arguments.verb}")(arguments)

    def _tfdist_help(self, arguments: Any) -> None:
        sentence = "Each magic says more after -h, as in %cluster -h."
        table = reference_table(self._magics())
        self.keep(arguments.output, table)
        self.show_and_save([bundles.table_bundle(table, sentence)], arguments)

    def _tfdist_version(self, arguments: Any) -> None:
        told = f"tfdist {installed('tfdist')}"
        self.keep(arguments.output, told)
        self.show_and_save([bundles.sentence_bundle(told)], arguments)

    def _tfdist_doctor(self, arguments: Any) -> None:
        found = list(findings(self.settings))
        self.keep(arguments.output, found)
        wrong = sum(each.is_wrong for each in found)
        sentence = f"{wrong} to be seen to." if wrong else "All can work here."
        self.show_and_save([bundles.table_bundle(findings_table(found), sentence)], arguments)

    def _tfdist_report(self, arguments: Any) -> None:
        if not arguments.words:
            raise UsageError("%tfdist report: which file? Try %tfdist report steps.html")
        file = usage_errors(report_file)(arguments.words[0])
        traces = list(recent)[-(arguments.last or len(recent)) :] if recent else []
        found = list(findings(self.settings))
        html = report_html(traces, running_clusters(), found, self.style(), arguments.share)
        try:
            file.write_text(html, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"%tfdist report: {cause_of(error)}") from None
        self.keep(arguments.output, file)
        count = f"{len(traces)} trace{'s' * (len(traces) != 1)}"
        told = f"wrote {file}: {count}, {len(html.encode()) / 1e6:.1f} MB"
        self.show_and_save([bundles.sentence_bundle(told)], arguments)

    def _tfdist_check(self, arguments: Any) -> None:
        if not arguments.words:
            table = self._answers.table()
            self.keep(arguments.output, table)
            told = self._answers.sentence()
            listed = listed_bundle(table, "exercises", self.style(), sentence=told, whole=True)
            self.show_and_save([listed], arguments)
            return
        name, *answer = arguments.words
        verdict = usage_errors(self._answers.check)(name, " ".join(answer), self.shell.user_ns)
        self.keep(arguments.output, verdict)
        self.show_and_save([bundles.lines_bundle(str(verdict))], arguments)

    def _magics(self) -> list[Any]:
        """Return tfdist's magics, whichever are loaded."""
        kinds = self.shell.magics_manager.magics
        found = {**kinds["cell"], **kinds["line"]}.values()
        return [each for each in found if isinstance(getattr(each, "__self__", None), Noun)]
