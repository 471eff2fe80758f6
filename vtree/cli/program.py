"""`program`: the group of commands, and what becomes of an error.

A user's mistake is one message on stderr and exit code 2. With `--json`, stdout holds exactly
one JSON document whatever happens.
"""

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from vtree import __version__
from vtree.cli.bench import bench
from vtree.cli.demo import demo
from vtree.cli.fit import fit
from vtree.cli.predict import predict
from vtree.cli.report import print_json
from vtree.cli.show import show
from vtree.cli.usable import backends
from vtree.errors import VTreeError


class Commands(click.Group):
    """A group that turns errors into messages and exit codes."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run the command that `args` name and exit."""
        words = list(sys.argv[1:] if args is None else args)
        wants_json = "--json" in words
        try:
            code = super().main(words, prog_name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            error.show()
            _fail(error.format_message(), error, 2, wants_json)
        except (VTreeError, OSError) as error:
            click.echo(f"Error: {_message(error)}", err=True)
            _fail(_message(error), error, 2, wants_json)
        except click.Abort as error:
            _fail("interrupted", error, 1, wants_json)
        except Exception as error:  # a fault of vtree's own: the traceback goes to stderr
            if wants_json:
                print_json(_document(str(error), error))
            raise
        sys.exit(code if isinstance(code, int) else 0)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"  # without Python's "[Errno 2]"
    return str(error)


def _fail(message: str, error: BaseException, code: int, wants_json: bool) -> NoReturn:
    if wants_json:
        print_json(_document(message, error))
    sys.exit(code)


def _document(message: str, error: BaseException) -> dict[str, Any]:
    return {"error": {"type": type(error).__name__, "message": message}}


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="vtree", message="%(prog)s %(version)s")
def program() -> None:
    """Decision trees: one builder for every classic system, on any array backend."""


for command in (demo, fit, predict, show, bench, backends):
    program.add_command(command)
