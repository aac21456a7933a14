#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: lives.py

A legal NIC passes the vectors of lives.mrc; one whose reset forgets too little fails them: what its QPs had received, its
work, or what was on its way out and to the host; and one that does not come back. Each vector fails one of them at
least."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CONFORMANCE = os.path.join(HERE, "..", "..", "conformance")
sys.path.insert(0, CONFORMANCE)
from mrcscript import compiler, engine, legal_requestor  # noqa: E402


class Keeps(legal_requestor.LegalRequestor):
    """Its reset keeps what `what` says: responders, senders, pending. Or it does not come back (dead)."""

    def __init__(self, what):
        super().__init__(legal_requestor.WAYS[0], 1, ("A-66",))
        self.what, self.silent = what, False

    def packet(self, packet, plane):
        if not self.silent:
            super().packet(packet, plane)

    def _call_reset(self, message):
        qps, senders, heap, held, reads = self.qps, self.senders, self.heap, self.held, self.reads
        denied = {number: dict(sender.ev_state) for number, sender in senders.items()}
        states = {number: sender.state for number, sender in senders.items()}
        super()._call_reset(message)
        if self.what == "responders":
            self.qps = qps
        if self.what == "senders":
            self.qps, self.senders, self.heap, self.reads = qps, senders, heap, reads
            for number, sender in senders.items():
                sender.state, sender.ev_state = states[number], denied[number]
        self.silent = self.what == "dead"
        if self.what == "pending":
            self.heap, self.held = heap, held


def main():
    vectors = compiler.compile_source(compiler.read_file(os.path.join(CONFORMANCE, "vectors", "lives.mrc")))
    failed, wrong = set(), []
    for vector in vectors:
        result = engine.run_vector(legal_requestor.LegalRequestor(legal_requestor.WAYS[0], 1, vector["assumes"]), vector)
        if result.disposition != "pass":
            wrong.append(f"{vector['id']}: a legal NIC: {result.disposition}, {result.reason}")
        for what in ("responders", "senders", "pending", "dead"):
            if engine.run_vector(Keeps(what), vector).disposition in ("fail", "deviates"):
                failed.add(vector["id"])
    wrong += [f"{vector['id']}: no wrong NIC fails it" for vector in vectors if vector["id"] not in failed]
    for line in wrong:
        print(line)
    print(f"{len(vectors)} vectors, {len(failed)} failed by a NIC that remembers, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
