"""Every error that Almanac raises on purpose.

AlmanacError
├── InputError            what was given cannot be used; says where and what to change
│   ├── UsageError        a command that names what does not exist or cannot be; ends with 2
│   ├── ExpressionError   an expression document or infix text (carries the path to the node)
│   ├── UnitError         a unit string or a dimensional inconsistency
│   └── CardError         a card file that is not a card
├── ReleaseError          a release folder that is damaged, incomplete or not what it claims
├── WorkspaceError        no workspace, a workspace without git, a lock that is held
├── RunError              an evaluation run that cannot be found, read or continued
├── OwedCallError         a replayed stage needs a model reply that was never bought
├── SourceError           a source of papers or dates could not be asked, or did not answer usably
├── GatewayError          a language model could not be asked, or did not answer usably
└── CapError              a limit on cost that the user set has been reached

Expected ends are values (findings, an episode's ending), never exceptions. A message says what
happened, with the value, and what to do about it.
"""

from __future__ import annotations

from typing import Literal


class AlmanacError(Exception):
    """The root of all deliberate errors.

    Args:
        message: what happened, with the offending value.
        remedy: what the reader can do about it; may be empty where the message says it already.
    """

    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class InputError(AlmanacError):
    """Something that was given cannot be used."""


class UsageError(InputError):
    """A command that asks for something that does not exist or cannot be, as a wrong option does."""

    exit_code = 2


class ExpressionError(InputError):
    """An expression that cannot be read or evaluated; ``path`` leads to the offending node."""

    def __init__(self, message: str, remedy: str = "", *, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message, remedy)
        self.path = path


class UnitError(InputError):
    """A unit that cannot be read, or units that do not fit together.

    ``path`` leads to the offending node of an expression; ``check`` names the finding that the error
    becomes on a card: ``unit_syntax``, ``unit_dimension`` or ``unit_scale``.
    """

    def __init__(self, message: str, remedy: str = "", *, path: str = "", check: str = "unit_syntax") -> None:
        super().__init__(f"{path}: {message}" if path else message, remedy)
        self.path = path
        self.check = check


class CardError(InputError):
    """A file that does not hold a scientific card."""


class ReleaseError(AlmanacError):
    """A release that is damaged, incomplete or not what it claims to be."""


class WorkspaceError(AlmanacError):
    """A workspace that is missing, incomplete or in use."""


class RunError(AlmanacError):
    """A run of an evaluation that cannot be found, read or continued."""


class NoReleaseError(ReleaseError, UsageError):
    """There is no release of that version."""


class NoWorkspaceError(WorkspaceError, UsageError):
    """There is no workspace at that place."""


class NoRunError(RunError, UsageError):
    """There is no run of that name, or more than one."""


class OwedCallError(AlmanacError):
    """A replayed stage needs model replies that the call store does not hold."""

    exit_code = 3


class SourceError(AlmanacError):
    """A source of papers or dates that could not be asked, or gave no usable answer."""


GatewayReason = Literal[
    "unconfigured",
    "timeout",
    "connection",
    "rate_limited",
    "server",
    "denied",
    "request",
    "context",
    "malformed",
    "refused",
]


class GatewayError(AlmanacError):
    """A language model that could not be asked, or gave no usable answer; ``reason`` is for programs."""

    def __init__(self, message: str, remedy: str = "", *, reason: GatewayReason = "server") -> None:
        super().__init__(message, remedy)
        self.reason: GatewayReason = reason


class CapError(AlmanacError):
    """A cost limit set by the user has been reached."""

    exit_code = 4
