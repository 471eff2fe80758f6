"""`vtree` and `python -m vtree`: the command line, or one line that says how to install it."""

import io
import sys


def main() -> None:
    """Run the command line; the exit code is 0, 1 (a check failed) or 2 (a user's mistake)."""
    try:
        from vtree.cli.program import program
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in {"click", "rich"}:
            raise
        print(f"The command line needs {error.name}: pip install 'vtree[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A pipe or a terminal that cannot show a character of the data gets a "?" instead.
            stream.reconfigure(errors="replace")
    program(prog_name="vtree")


if __name__ == "__main__":
    main()
