# SPDX-License-Identifier: Apache-2.0
"""usage: runner.py [MRC]

The commands: list, run, lint, export, compile, and run.py alone in an empty folder; exit codes, results as JSON."""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile

from common import ROOT, holds, run_tests, same
from mrcscript import coverage
from mrcscript.errors import MrcError

LEGAL = f"{sys.executable} -c \"import sys; sys.path.insert(0, '{ROOT}/conformance'); sys.argv[1:1] = []; " \
        "from mrcscript.legal import main; sys.exit(main())\""
FAIR = "# SPDX-License-Identifier: Apache-2.0\nid T-1\npurpose p\nmark {mark}\ncite mrc.md 6\ncaps {caps}\n" \
       "msg m = write len 64\np0 < m[0] ackreq\n> sack trigger m[0] ooo {ooo} within rtt\n"


os.environ.pop("MRC_EXE", None)  # whoever runs the tests may have it; the words here are those without


def call(*words, code=0, cwd=None):
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=cwd, timeout=60)
    same(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def script(folder, name="t.mrc", mark="S2", caps="responder", ooo=0):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(FAIR.format(mark=mark, caps=caps, ooo=ooo))
    return path


def test_exit_codes():
    tool = ROOT + "/conformance/script.py"
    with tempfile.TemporaryDirectory() as folder:
        out, _ = call(tool, "run", script(folder), "--device", LEGAL)
        same(out, "1 pass\n", "words")
        out, _ = call(tool, "run", script(folder, ooo=3), "--device", LEGAL, code=1)
        holds("fail        T-1" in out and "purpose: p" in out and "trigger m[0]" in out, out)
        call(tool, "run", script(folder, mark="A", ooo=3), "--device", LEGAL)
        call(tool, "run", script(folder, mark="A", ooo=3), "--device", LEGAL, "--strict", code=1)
        call(tool, "run", script(folder, caps="requestor"), "--device", LEGAL, code=4)
        _, err = call(tool, "run", script(folder), "--device", "/no/such", code=3)
        call(tool, "run", folder + "/none.mrc", "--device", LEGAL, code=3)
        _, err = call(tool, "run", script(folder), code=3)
        same(err, "mrc script: no device is named.\n  Give its command: --device \"./mynic --json-lines\".\n", "words")
        _, err = call(tool, "run", code=3)
        holds("See mrc script run --help" in err, err)


def test_results():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r.json")
        call(ROOT + "/conformance/script.py", "run", script(folder, ooo=3), "--device", LEGAL, "--json", path, code=1)
        with open(path, encoding="utf-8") as stream:
            found = json.load(stream)["results"][0]
        for key in ("id", "disposition", "kind", "rules", "citation", "reason"):
            holds(key in found, f"{key} is missing")
        same((found["id"], found["disposition"], found["kind"]), ("T-1", "fail", "literal"), "result")


def test_outputs():
    """Whole or not there; a link stays a link, a pipe is written, not replaced; a full disk is told."""
    tool = ROOT + "/conformance/script.py"
    with tempfile.TemporaryDirectory() as folder:
        path, link, pipe = script(folder), os.path.join(folder, "link"), os.path.join(folder, "pipe")
        os.symlink("aim", link)
        call(tool, "compile", path, "-o", link)
        holds(os.path.islink(link) and os.path.isfile(os.path.join(folder, "aim")), "the link")
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
            call(tool, "compile", path, "-o", pipe)
            holds("T-1" in reader.communicate(timeout=30)[0], "the pipe")
        holds(stat.S_ISFIFO(os.stat(pipe).st_mode), "the pipe is there")
        _, err = call(tool, "compile", path, "-o", folder + "/no/x", code=3)
        holds("cannot write" in err and "Name a file" in err, err)
        same(sorted(os.listdir(folder)), ["aim", "link", "pipe", "t.mrc"], "nothing half-written")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([sys.executable, tool, "compile", path], stdout=full, stderr=subprocess.PIPE, text=True)
        same(done.returncode, 3, done.stderr)
        holds("cannot write standard output: No space left" in done.stderr, done.stderr)


def test_alone():
    """run.py and mrcscript in an empty folder, with the exported vectors."""
    with tempfile.TemporaryDirectory() as folder:
        call(ROOT + "/conformance/vectors.py", "export", "-o", folder + "/v.json")
        shutil.copy(ROOT + "/conformance/run.py", folder)
        shutil.copytree(ROOT + "/conformance/mrcscript", folder + "/mrcscript",
                        ignore=shutil.ignore_patterns("__pycache__"))
        out, _ = call("run.py", "--device", f"{sys.executable} -m mrcscript.legal", "v.json", "-v", "R-SACK-001",
                      "H-DROP-001", cwd=folder)
        same(out, "pass        H-DROP-001\npass        R-SACK-001\n2 pass\n", "words")
        out, _ = call("run.py", "--device", f"{sys.executable} -m mrcscript.legal", "v.json", "Q-NO-1", cwd=folder, code=5)
        holds("missing     Q-NO-1" in out, out)


def test_list_and_choice():
    out, _ = call(ROOT + "/conformance/vectors.py", "list", "--tier", "1")
    holds(len(out.splitlines()) >= 20 and all(line.split()[1] == "1" for line in out.splitlines()), out[:300])
    out, _ = call(ROOT + "/conformance/vectors.py", "list", "--kind", "derived")
    same(out, "", "none is derived")
    call(ROOT + "/conformance/vectors.py", "list", "X-1", code=3)


def test_lint_and_compile():
    with tempfile.TemporaryDirectory() as folder:
        out, _ = call(ROOT + "/conformance/script.py", "lint", script(folder))
        holds(out.startswith("1 vectors, 0 errors, 0 warnings"), out)
        out, _ = call(ROOT + "/conformance/script.py", "lint", script(folder, ooo=1), code=1)
        holds("the legal device 'plain' (answers at once), seed 1 breaks this expectation" in out, out)
        wrong = os.path.join(folder, "w.mrc")
        with open(wrong, "w", encoding="utf-8") as stream:
            stream.write("id T-1\nsettle 1.5\n")
        out, _ = call(ROOT + "/conformance/script.py", "lint", wrong, code=3)
        holds("w.mrc:2:8" in out, out)
        out, _ = call(ROOT + "/conformance/script.py", "compile", script(folder))
        same(json.loads(out)["vectors"][0]["id"], "T-1", "compiled")


def test_shipped_vectors_name_their_rules():
    with tempfile.TemporaryDirectory() as folder:
        script(folder)
        out, _ = call(ROOT + "/conformance/vectors.py", "lint", "--quick", "--folder", folder, code=1)
        holds("t.mrc:2:1: error: T-1: it names no rule that it asks" in out, out)


def test_holes():
    """A hole has a reason with words, and is about something that exists."""
    known = {"rules": ["wire.icrc"], "sections": ["1"], "assumptions": ["A-01"]}
    keep = coverage.HOLES
    with tempfile.TemporaryDirectory() as folder:
        coverage.HOLES = os.path.join(folder, "holes.json")
        for rules, part in (({"wire.icrc": "x"}, "which has no words"), ({"wire.crc": "why"}, "there is no 'wire.crc'"),
                            ({"wire.icrc": "why"}, None)):
            with open(coverage.HOLES, "w", encoding="utf-8") as stream:
                json.dump({"classes": {"why": "words"}, "rules": rules, "sections": {}, "assumptions": {}}, stream)
            try:
                coverage.holes(known)
                same(part, None, "taken")
            except MrcError as error:
                holds(part and part in error.sentence, error.sentence)
    coverage.HOLES = keep


def test_through_mrc():
    if len(sys.argv) < 2:
        return
    done = subprocess.run([sys.argv[1], "vectors", "run", "R-SACK-001", "-v"], capture_output=True, text=True,
                          env={**os.environ, "MRC_ROOT": ROOT}, timeout=60)
    same((done.returncode, done.stdout), (0, "pass        R-SACK-001\n1 pass\n"), done.stderr)


run_tests(globals())
