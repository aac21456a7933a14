#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: twins_wrong.py

Gives tools/twins.py a small repository of two blocks in which all is in its place and expects silence, then with one
thing wrong each, and expects the sentence that tells it."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from samples import BESIDE, TOOLS, in_folder, run, told  # noqa: E402

GOOD = {
    "cmodel/spec/streams.yaml": "streams:\n  core:\n    - {name: host.wqe}\n    - {name: tx_path.path}\n"
                                "    - {name: tx_path.rec}\n  lane:\n    - {name: csr.evp}\n",
    "rtl/tx/mrc_tx_path.sv": "module mrc_tx_path\n", "rtl/tx/mrc_tx_path_pkg.sv": "", "rtl/mrc_nic.sv": "",
    "rtl/lib/mrc_fifo.sv": "", "rtl/ctl/mrc_csr.sv": "module mrc_csr (\n",
    "cmodel/pipeline/tx/tx_path.hpp": "class TxPath {\n", "cmodel/pipeline/tx/tx_path.cpp": "",
    "cmodel/pipeline/ctl/csr.hpp": "class Csr {\n", "cmodel/pipeline/lib/ram.hpp": "",
    "docs/design/blocks/tx/tx_path.md": "# tx_path: a value\n", "docs/design/blocks/ctl/csr.md": "# The block csr\n",
    "tests/pipeline/tx/tx_path_test.cpp": 'TEST_CASE("a")\n', "tests/pipeline/tx/tx_path_long_test.cpp": "",
    "tests/pipeline/ctl/csr_test.cpp": 'TEST_CASE("b")\n', "tests/pipeline/lib/ram_test.cpp": "",
}

# {what must be told: files that are other; None: not there}
MISTAKES = {
    "tx_path has no page docs/design/blocks/tx/tx_path.md": {"docs/design/blocks/tx/tx_path.md": None},
    "csr has no class cmodel/pipeline/ctl/csr.hpp": {"cmodel/pipeline/ctl/csr.hpp": None},
    "csr has no module mrc_csr.sv below rtl": {"rtl/ctl/mrc_csr.sv": None},
    "csr has no test tests/pipeline/ctl/csr_test.cpp": {"tests/pipeline/ctl/csr_test.cpp": None},
    "tx_path has no page docs/design/blocks/tx/tx_path.md; it is at docs/design/blocks/tx_path.md":
        {"docs/design/blocks/tx/tx_path.md": None, "docs/design/blocks/tx_path.md": "# tx_path\n"},
    "cmodel/pipeline/tx/tx_path.hpp: there is no line like ^class TxPath":
        {"cmodel/pipeline/tx/tx_path.hpp": "class TxPaths {\n"},
    "rtl/tx/mrc_tx_path.sv: there is no line like": {"rtl/tx/mrc_tx_path.sv": "module mrc_tx_paths\n"},
    "docs/design/blocks/ctl/csr.md: there is no line like": {"docs/design/blocks/ctl/csr.md": "# Registers\n"},
    "tests/pipeline/ctl/csr_test.cpp: there is no line like": {"tests/pipeline/ctl/csr_test.cpp": "\n"},
    "rtl/tx/mrc_other.sv belongs to no block at tx": {"rtl/tx/mrc_other.sv": ""},
    "cmodel/pipeline/ctl/tx_path_more.cpp belongs to no block at ctl": {"cmodel/pipeline/ctl/tx_path_more.cpp": ""},
    "docs/design/blocks/tx/csr.md belongs to no block at tx": {"docs/design/blocks/tx/csr.md": ""},
    "tests/pipeline/tx/chain_test.cpp belongs to no block at tx": {"tests/pipeline/tx/chain_test.cpp": ""},
}


def shared():
    """A copy of the tool that knows of a shared file, with and without it."""
    text, wrong = (TOOLS / "twins.py").read_text(), 0
    begin = text.index("\nSHARED = {")
    text = text[:begin] + '\nSHARED = {"rtl/tx/mrc_both_pkg.sv": "both"' + text[text.index("\n}\n", begin):]
    for code, words, files in [(0, "2 blocks, 0 complaints", {**GOOD, "rtl/tx/mrc_both_pkg.sv": ""}),
                               (1, "rtl/tx/mrc_both_pkg.sv of SHARED is not there", GOOD)]:
        with in_folder({**files, "tools/twins.py": text, **BESIDE}) as folder:
            wrong += told(code, *run(folder / "tools/twins.py"), [words])
    return wrong


def main():
    wrong = 0
    for sentence, changes in {"": {}, **MISTAKES}.items():
        files = {name: text for name, text in {**GOOD, **changes}.items() if text is not None}
        with in_folder(files) as folder:
            code, output = run(TOOLS / "twins.py", folder)
            wrong += told(1 if sentence else 0, code, output, [sentence])
    wrong += shared()
    print(f"{len(MISTAKES)} mistakes; {wrong} runs went otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
