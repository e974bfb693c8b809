"""`fault/inject`, `fault/list` and `fault/clear`: arm the failpoints of this process, look at them, disarm them.

Reached only in a daemon that was started for faults; dispatch refuses them otherwise.
"""

from runtime.api.handlers.pages import page_start
from runtime.api.requests_context import Handled, Request
from runtime.failpoints import failpoints
from runtime.refusal import Refusal
from runtime.wire import faults, replies
from supervisor.failpoints import Arming, BadArming, FailpointReport, UnknownFailpoint


def inject(request: Request[faults.FaultInjectParams]) -> Handled:
    """`fault/inject`: a name that there is not is refused with those that look like it."""
    params = request.params
    try:
        probability = 1.0 if params.probability is None else params.probability
        arming = Arming(params.action, params.on_pass, probability, params.delay_ms or 0)
        failpoints.arm(params.name, arming)
    except UnknownFailpoint as error:
        return _unknown(error)
    except BadArming as error:
        return Refusal("request.invalid", details={"path": "params", "problem": str(error)})
    request.sink.reply(
        faults.FaultInjectReply(
            failpoint=_view(failpoints.report(params.name)),
            commit_seq=request.services.writer.head_commit_seq,
        )
    )
    return None


def list_faults(request: Request[faults.FaultListParams]) -> Handled:
    """`fault/list`: all of them, armed or not, with how often each was passed and fired."""
    params, reports = request.params, failpoints.reports()
    start = page_start(params.cursor, len(reports))
    if isinstance(start, Refusal):
        return start
    end = start + params.limit
    request.sink.reply(
        faults.FaultListReply(
            items=tuple(_view(report) for report in reports[start:end]),
            next_cursor=str(end) if end < len(reports) else None,
            commit_seq=request.services.writer.head_commit_seq,
        )
    )
    return None


def clear(request: Request[faults.FaultClearParams]) -> Handled:
    """`fault/clear`: whoever is paused goes on. What is not armed stays so."""
    try:
        failpoints.clear(request.params.name)
    except UnknownFailpoint as error:
        return _unknown(error)
    request.sink.reply(replies.VoidReply(commit_seq=request.services.writer.head_commit_seq))
    return None


def _unknown(error: UnknownFailpoint) -> Refusal:
    problem = {"path": "params.name", "problem": "is no failpoint", "near": list(error.near)}
    return Refusal("request.invalid", details=problem)


def _view(report: FailpointReport) -> faults.FailpointView:
    arming = report.arming
    return faults.FailpointView(
        name=report.point.name,
        stands_for=report.point.stands_for,
        waits=report.point.place != "step",
        armed=None
        if arming is None
        else faults.ArmedFault(
            action=arming.action,
            on_pass=arming.on_pass,
            probability=arming.probability,
            delay_ms=arming.delay_ms,
        ),
        passes=report.passes,
        fired=report.fired,
        waiting=report.waiting,
    )
