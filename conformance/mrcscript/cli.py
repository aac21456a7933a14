# SPDX-License-Identifier: Apache-2.0
"""The commands: mrc script lint|run|compile, mrc vectors list|show|run|lint|export|coverage, and run.py alone."""
import argparse
import difflib
import os
import re
import shlex
import sys

from . import compiler, runner
from .errors import MrcError
from .versions import versions

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VECTORS = os.path.join(HERE, "vectors")
NOTE = "Vectors of mrcnic, compiled from conformance/vectors. docs/reference/vectors.md says how to run them."


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
                        help="command of the device, a process (docs/reference/device.md; default: mrc nic --endpoint model)")
    parser.add_argument("--answer-seconds", type=_seconds, default=30.0, metavar="S",
                        help="the longest time the device takes for one answer (30)")
    parser.add_argument("--wall", type=_seconds, default=120.0, metavar="S", help="the longest time of one vector (120)")
    parser.add_argument("-j", "--jobs", type=_jobs, default=1, metavar="N", help="so many devices at the same time (1)")
    parser.add_argument("--json", metavar="FILE", nargs="?", const="-", help="results as JSON; without FILE or '-' to stdout")
    parser.add_argument("--junit", metavar="FILE", help="results as the XML that CI systems read")
    parser.add_argument("--trace", metavar="FILE", help="every line to ('>') and from ('<') the device")
    parser.add_argument("--give-up", type=_count, default=runner.GIVE_UP, metavar="N",
                        help="stop when the device broke in so many vectors one after the other (5; 0: never)")
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


_seconds, _jobs, _tier, _count = (_limited(float, 0.01, 86400), _limited(int, 1, 64), _limited(int, 1, 4),
                                  _limited(int, 0, 10 ** 6))


def choose(parser):
    parser.add_argument("--tier", type=_tier, metavar="N", help="of this tier only (1 to 4)")
    parser.add_argument("--kind", choices=("literal", "derived"), help="of this kind only")
    parser.add_argument("--rule", metavar="RULE", help="that check this rule (resp.bitmap), or all of a part (resp)")
    parser.add_argument("--section", type=_count, metavar="N", help="that cite this section of mrc.md")
    parser.add_argument("--assumption", metavar="A-NN", help="that belong to this assumption (A-12)")
    parser.add_argument("--cap", choices=compiler.CAPS, metavar="CAP", help="that need this capability (dyn_mpr)")
    parser.add_argument("--negative", action="store_true", help="in which the tester does something wrong")


def _exists(what, word, known):
    if word is not None and word not in known:
        near = difflib.get_close_matches(word, known, 3, 0.5)
        raise MrcError(f"no vector has the {what} '{word}'.", f"Near are {', '.join(near)}." if near else
                       "'list --json' shows what vectors have; COVERAGE.md shows what has none.")


def chosen(vectors, args, identifiers):
    """(vectors, ids that are not there)"""
    asked = {rule for vector in vectors for rule in vector["rules"]}
    _exists("rule", args.rule, asked | {rule.split(".")[0] for rule in asked})
    _exists("assumption", args.assumption, {name for vector in vectors for name in compiler.assumptions(vector)})
    known = {vector["id"] for vector in vectors}
    absent = [word for word in identifiers if word not in known]
    out = [vector for vector in vectors if (not identifiers or vector["id"] in identifiers)
           and (args.tier is None or vector["tier"] == args.tier)
           and (args.kind is None or vector["kind"] == args.kind)
           and (args.rule is None or any((rule + ".").startswith(args.rule + ".") for rule in vector["rules"]))
           and (args.section is None or any(re.fullmatch(rf"mrc\.md {args.section}\b.*", c) for c in vector["cite"]))
           and (args.assumption is None or args.assumption in compiler.assumptions(vector))
           and (args.cap is None or args.cap in vector["caps"]) and (not args.negative or vector["negative"])]
    return out, absent


def told_absent(name, absent, vectors):
    """Each id that is not there, with what is near."""
    for word in absent:
        near = difflib.get_close_matches(word.upper(), [vector["id"] for vector in vectors], 3, 0.7)
        print(f"{name}: there is no vector {word}{'; near are ' + ', '.join(near) if near else ''}.", file=sys.stderr)


def run(vectors, args, absent=()):
    if not args.device:
        raise MrcError("no device is named.", "Give its command: --device \"./mynic --json-lines\".")
    if args.json and compiler.ID.fullmatch(args.json):
        raise MrcError(f"--json {args.json}: that is an id, no file.", "Put --json behind the ids, or write --json=FILE.")
    progress = runner.Progress(len(vectors))
    results = runner.run_all(vectors, runner.process_maker(args.device, args.answer_seconds, args.trace), args.jobs,
                             args.wall, progress, args.give_up)
    progress.end()
    out = [result.as_json() for result in results] + [runner.missing(word) for word in absent]
    if args.json != "-":
        runner.tell(out, args.verbose)
    if args.json:
        runner.write_json(args.json, {"versions": versions(), "device": args.device, "results": out,
                                      "counts": runner.counts(out)})
    if args.junit:
        runner.write_text(args.junit, runner.junit(out))
    return runner.exit_code(out, args.strict)


def lint(paths, args, shipped=False):
    from . import lint as linter
    return linter.lint_files(paths, args.device, args.quick, shipped)


def lint_options(parser):
    parser.add_argument("--quick", action="store_true", help="look at the text only, run nothing")
    parser.add_argument("--device", metavar="CMD", help="hold the scripts against this device too")


def script_main(argv=None):
    parser = Parser(prog="mrc script", description="Scripts that test a NIC against MRC (docs/reference/vectors.md).",
                    epilog="Example: mrc script run conformance/vectors/responder.mrc --device \"mrc nic --endpoint rtl\"",
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    one = commands.add_parser("lint", help="find errors in scripts, by their text and on legal devices")
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
    parser = Parser(prog="mrc vectors", description="The vectors of conformance/vectors (docs/reference/vectors.md).",
                    epilog="Example: mrc vectors run --device \"mrc nic --endpoint model\" --tier 1 --json results.json",
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    one = commands.add_parser("list", help="id, tier, kind, marks, purpose")
    one.add_argument("id", nargs="*")
    one.add_argument("--json", action="store_true", help="as JSON, with rules, citation, capabilities, settings")
    choose(one)
    show = commands.add_parser("show", help="all of a vector: what it checks, by which text, statement by statement")
    show.add_argument("id", nargs="+")
    two = commands.add_parser("run", help="run vectors against a device")
    two.add_argument("id", nargs="*")
    device_options(two)
    choose(two)
    three = commands.add_parser("lint", help="find errors in them")
    lint_options(three)
    four = commands.add_parser("export", help="write all as one JSON file for conformance/run.py")
    four.add_argument("-o", "--output", default="-", metavar="FILE")
    five = commands.add_parser("coverage", help="write conformance/COVERAGE.md")
    five.add_argument("--check", action="store_true", help="write nothing, exit 1 when it is stale")
    for sub in (one, show, two, three, four, five):
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
        if args.command == "show":
            known = {vector["id"]: vector for vector in vectors}
            print("\n".join(shown(known[word]) for word in args.id if word in known), end="")
            absent = [word for word in args.id if word not in known]
        else:
            some, absent = chosen(vectors, args, args.id)
            if args.command == "run":
                return run(some, args, absent)
            listed(some, args.json)
        told_absent("mrc vectors", absent, vectors)
        return 3 if absent else 0
    return guarded("mrc vectors", act)


def listed(vectors, as_json):
    if as_json:
        keys = ("id", "tier", "kind", "negative", "marks", "assumes", "rules", "cite", "caps", "planes", "settings",
                "version", "purpose", "file", "line")
        runner.write_json("-", {"vectors": [{key: vector[key] for key in keys} for vector in vectors]})
        return
    for vector in vectors:
        print(f"{vector['id']:<16} {vector['tier']} {vector['kind']:<8} {'negative' if vector['negative'] else '':<9}"
              f"{','.join(vector['marks']):<8} {vector['purpose']}")


def shown(vector):
    """A vector in words; statements as the script has them, without tables."""
    out = [f"{vector['id']}  {vector['purpose']}"]
    rows = (("where", f"{vector['file']}:{vector['line']}, tier {vector['tier']}, {vector['kind']}, version {vector['version']}"
             + (", negative" if vector["negative"] else "")), ("marks", ", ".join(vector["marks"] + vector["assumes"])),
            ("cite", "; ".join(vector["cite"])), ("rules", " ".join(vector["rules"])), ("needs", " ".join(vector["caps"])),
            ("settings", " ".join(f"{name}={value}" for name, value in vector["settings"].items())),
            ("QP", " ".join(f"{name} {value}" for name, value in vector["profile"].items())),
            ("ports", f"{vector['planes']}, {vector['evs']} EVs, {vector['encap']}"))
    out += [f"  {word:<9}{text}" for word, text in rows if text]
    return "\n".join(out + [f"    {line}" for line in _statements(vector["steps"])]) + "\n"


def _statements(steps):
    """Their lines, inner ones indented."""
    for step in steps:
        blocks = [block for block in (*step.get("branches", ()), step.get("steps"), step.get("else")) if block]
        if not blocks:
            yield step["src"]
            continue
        head = step["src"].split("{")[0].strip()
        for number, block in enumerate(blocks):
            yield head + " {" if number == 0 else "} or {" if "branches" in step else "} else {"
            yield from ("  " + line for line in _statements(block))
        whole = "}" in step["src"] and not step["src"].endswith("...")  # long ones are cut
        yield ("} " + step["src"].rsplit("}", 1)[1].strip()).rstrip() if whole else "}"


def alone_main(argv=None):
    """conformance/run.py: vectors from a JSON file, without the rest of the project."""
    parser = Parser(prog="run.py",
                    description="Run vectors (mrc vectors export) against a device (docs/reference/device.md).",
                    epilog="Example: python3 run.py --device \"./mynic\" vectors.json R-SACK-001")
    parser.add_argument("file", nargs="?", help="vectors: a JSON file, a script, or a folder of scripts (vectors, beside "
                        "run.py)")
    parser.add_argument("id", nargs="*", help="these alone")
    device_options(parser)
    choose(parser)
    args = parser.parse_intermixed_args(argv)

    def act():
        if args.file and compiler.ID.fullmatch(args.file) and not os.path.exists(args.file):
            args.id, args.file = [args.file] + args.id, None
        path = args.file or VECTORS
        if not args.file and not os.path.isdir(VECTORS):
            raise MrcError("no vectors are named.", "Give a JSON file (mrc vectors export -o vectors.json) or a script.")
        vectors = runner.load(runner.scripts_of(path) if os.path.isdir(path) else [path])
        some, absent = chosen(vectors, args, args.id)
        return run(some, args, absent)
    return guarded("run.py", act)


def guarded(name, act):
    """Named errors are two lines and exit code 3."""
    try:
        return act()
    except MrcError as error:
        print(f"{name}: {runner.report(error)}", file=sys.stderr)
        return 3
