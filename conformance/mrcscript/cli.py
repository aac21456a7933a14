# SPDX-License-Identifier: Apache-2.0
"""The commands: mrc script lint|run|compile, mrc vectors list|run|lint|export, and run.py alone."""
import argparse
import os
import shlex
import sys

from . import runner
from .errors import MrcError

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VECTORS = os.path.join(HERE, "vectors")
NOTE = "Vectors of mrcnic, compiled from conformance/vectors. docs/vectors.md says how to run them."


class Parser(argparse.ArgumentParser):
    """Wrong use is exit code 3, as everywhere."""

    def error(self, message):
        print(f"{self.prog}: {message}.\n  See {self.prog} --help.", file=sys.stderr)
        sys.exit(3)


def default_device():
    """The model, if this was started by mrc."""
    exe = os.environ.get("MRC_EXE")
    return f"{shlex.quote(exe)} nic --endpoint model" if exe else None


def device_options(parser):
    parser.add_argument("--device", metavar="CMD", default=default_device(),
                        help="command of the device, a process as docs/device.md says (default: mrc nic --endpoint model)")
    parser.add_argument("--answer-seconds", type=_seconds, default=30.0, metavar="S",
                        help="the longest time the device takes for one answer (30)")
    parser.add_argument("--wall", type=_seconds, default=120.0, metavar="S", help="the longest time of one vector (120)")
    parser.add_argument("-j", "--jobs", type=_jobs, default=1, metavar="N", help="so many devices at the same time (1)")
    parser.add_argument("--json", metavar="FILE", help="results as JSON, '-' for stdout")
    parser.add_argument("--strict", action="store_true", help="deviations count as failures")
    parser.add_argument("-v", "--verbose", action="store_true", help="every vector, and which branches were taken")


def _limited(kind, low, high):
    """A number within limits, for argparse."""
    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise argparse.ArgumentTypeError(f"'{text[:20]}' is no number from {low} to {high}")
        return value
    return read


_seconds, _jobs, _tier = _limited(float, 0.01, 86400), _limited(int, 1, 64), _limited(int, 1, 4)


def choose(parser):
    parser.add_argument("--tier", type=_tier, metavar="N", help="of this tier only (1 to 4)")
    parser.add_argument("--kind", choices=("literal", "derived"), help="of this kind only")


def chosen(vectors, args, identifiers):
    """(vectors, ids that are not there)"""
    known = {vector["id"] for vector in vectors}
    absent = [word for word in identifiers if word not in known]
    out = [vector for vector in vectors if (not identifiers or vector["id"] in identifiers)
           and (args.tier is None or vector["tier"] == args.tier)
           and (args.kind is None or vector["kind"] == args.kind)]
    return out, absent


def run(vectors, args, absent=()):
    if not args.device:
        raise MrcError("no device is named.", "Give its command: --device \"./mynic --json-lines\".")
    progress = runner.Progress(len(vectors))
    results = runner.run_all(vectors, runner.process_maker(args.device, args.answer_seconds), args.jobs, args.wall,
                             progress)
    progress.end()
    out = [result.as_json() for result in results] + [runner.missing(word) for word in absent]
    if args.json != "-":
        runner.tell(out, args.verbose)
    if args.json:
        runner.write_json(args.json, {"results": out, "counts": runner.counts(out)})
    return runner.exit_code(out, args.strict)


def lint(paths, args, shipped=False):
    from . import lint as linter
    return linter.lint_files(paths, args.device, args.quick, shipped)


def lint_options(parser):
    parser.add_argument("--quick", action="store_true", help="look at the text only, run nothing")
    parser.add_argument("--device", metavar="CMD", help="hold the scripts against this device too")


def script_main(argv=None):
    parser = Parser(prog="mrc script", description="Scripts that hold a NIC against MRC (docs/vectors.md).",
                    epilog="Example: mrc script run conformance/vectors/responder.mrc --device \"mrc nic --endpoint rtl\"",
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    one = commands.add_parser("lint", help="find what is wrong with scripts, by their text and on legal devices")
    one.add_argument("file", nargs="+")
    lint_options(one)
    two = commands.add_parser("run", help="run scripts against a device")
    two.add_argument("file", nargs="+")
    device_options(two)
    three = commands.add_parser("compile", help="write scripts as vectors in JSON")
    three.add_argument("file", nargs="+")
    three.add_argument("-o", "--output", default="-", metavar="FILE")
    args = parser.parse_args(argv)

    def act():
        if args.command == "lint":
            return lint(args.file, args)
        vectors = runner.load(args.file)
        if args.command == "compile":
            runner.write_json(args.output, {"license": "SPDX-License-Identifier: Apache-2.0", "vectors": vectors})
            return 0
        return run(vectors, args)
    return guarded("mrc script", act)


def vectors_main(argv=None):
    parser = Parser(prog="mrc vectors", description="The vectors of conformance/vectors (docs/vectors.md).",
                    epilog="Example: mrc vectors run --device \"./mynic\" --tier 1 --json results.json",
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    one = commands.add_parser("list", help="id, tier, kind, marks, purpose")
    one.add_argument("id", nargs="*")
    choose(one)
    two = commands.add_parser("run", help="run vectors against a device")
    two.add_argument("id", nargs="*")
    device_options(two)
    choose(two)
    three = commands.add_parser("lint", help="find what is wrong with them")
    lint_options(three)
    four = commands.add_parser("export", help="write all as one JSON file for conformance/run.py")
    four.add_argument("-o", "--output", default="-", metavar="FILE")
    five = commands.add_parser("coverage", help="write conformance/COVERAGE.md")
    five.add_argument("--check", action="store_true", help="write nothing, exit 1 when it is stale")
    for sub in (one, two, three, four, five):
        sub.add_argument("--folder", default=VECTORS, help="folder of the scripts (conformance/vectors)")
    args = parser.parse_args(argv)

    def act():
        if not os.path.isdir(args.folder):
            raise MrcError(f"there is no folder {args.folder}.", "Check --folder.")
        paths = runner.scripts_of(args.folder)
        if args.command == "lint":
            return lint(paths, args, shipped=True)
        vectors = runner.load(paths)
        if args.command == "export":
            runner.write_json(args.output, {"license": "SPDX-License-Identifier: Apache-2.0", "note": NOTE,
                                            "vectors": vectors})
            return 0
        if args.command == "coverage":
            from . import coverage
            return coverage.command(vectors, args.check)
        some, absent = chosen(vectors, args, args.id)
        if args.command == "run":
            return run(some, args, absent)
        for vector in some:
            print(f"{vector['id']:<16} {vector['tier']} {vector['kind']:<8} {'negative' if vector['negative'] else '':<9}"
                  f"{','.join(vector['marks']):<8} {vector['purpose']}")
        for word in absent:
            print(f"mrc vectors: there is no vector {word}.", file=sys.stderr)
        return 3 if absent else 0
    return guarded("mrc vectors", act)


def alone_main(argv=None):
    """conformance/run.py: vectors from a JSON file, without the rest of the project."""
    parser = Parser(prog="run.py", description="Run vectors (mrc vectors export) against a device (docs/device.md).",
                    epilog="Example: python3 run.py --device \"./mynic\" vectors.json R-SACK-001")
    parser.add_argument("file", help="vectors: a JSON file, or a script")
    parser.add_argument("id", nargs="*")
    device_options(parser)
    choose(parser)
    args = parser.parse_intermixed_args(argv)

    def act():
        some, absent = chosen(runner.load([args.file]), args, args.id)
        return run(some, args, absent)
    return guarded("run.py", act)


def guarded(name, act):
    """Named errors are two lines and exit code 3; an end by the keyboard is 130."""
    try:
        code = act()
        sys.stdout.flush()
        return code
    except MrcError as error:
        print(f"{name}: {runner.report(error)}", file=sys.stderr)
        return 3
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 3
    except OSError as error:  # of files the commands tell themselves: this is standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        print(f"{name}: cannot write standard output: {error.strerror}.\n  Free some space, or send it elsewhere.",
              file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print(f"{name}: interrupted.", file=sys.stderr)
        return 130
