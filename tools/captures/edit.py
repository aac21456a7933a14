#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: edit.py MRC list
       edit.py MRC CAPTURE EDIT -o OUT [--flow N] [--place SHARE]

Breaks a capture in one place, as somebody would by hand: decode (mrc decode --json), change a field, encode again with
the ICRC mended (mrc encode). The edits have names and the sentence of docs/protocol that they break: edits.py.
It takes the flow that shows most of what the edit is about (retransmissions, trims, marks, answers), and a packet in
the middle of it, if it fits there.
Exit 3: no such edit, or the capture has no place for it."""
import argparse
import collections
import json
import subprocess
import sys
from pathlib import Path

PSNS = 1 << 24
PLACES = (0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1)  # how far into the capture, one after the other
DATA = range(0xC6, 0xCC)
FIRST, MIDDLE, LAST, LAST_IMM, ONLY, ONLY_IMM = DATA
ACK, REQUEST, RESPONSE, SACK, NACK, PROBE = 0xD1, 0xD8, 0xD9, 0xDC, 0xDD, 0xDE


class NoPlace(Exception):
    """The capture has nothing that this edit could break: at this place, or anywhere in this flow."""

    def __init__(self, why, anywhere=False):
        super().__init__(why)
        self.anywhere = anywhere


def the_first(packets, why):
    """The first one of them."""
    for packet in packets:
        return packet
    raise NoPlace(why)


def signed(number, bits=24):
    """The distance that `number` is, modulo 2^bits, around 0."""
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


class Packet:
    """A packet of `mrc decode --json`, with names for what edits ask."""

    def __init__(self, text):
        self.text, self.fields = text, json.loads(text)

    def __getattr__(self, header):  # packet.seth["m"]
        try:
            return self.fields[header]
        except KeyError:
            raise AttributeError(header) from None

    def has(self, header):
        return header in self.fields

    @property
    def opcode(self):
        return self.bth["opcode"] if self.has("bth") else -1

    @property
    def ip(self):
        return self.fields.get("ipv6") or self.fields.get("ipv4")

    @property
    def outer(self):
        return self.fields.get("outer_ipv6") or self.ip

    @property
    def trimmed(self):
        return self.fields.get("trimmed", False)

    @property
    def data(self):
        return self.opcode in DATA and not self.trimmed

    @property
    def new(self):
        return self.data and not self.bth["rtx"]

    @property
    def again(self):
        return self.data and self.bth["rtx"] == 1

    @property
    def psn(self):
        return self.bth["psn"]

    @property
    def flow(self):
        """Who sends to which QP: (source, destination, DQP)."""
        return self.ip["src"], self.ip["dst"], self.bth["dqp"]

    @property
    def ack_psn(self):
        return (self.seth["cack_psn"] + self.seth["ack_psn_offset"]) % PSNS

    def set_ev(self, ev):
        """Another entropy value: it stands in two fields."""
        self.fields["entropy"] = ev
        self.udp.pop("src_port", None)
        self.ip.pop("flow_label", None)

    def set_payload(self, payload):
        """`payload` as hexadecimal digits; lengths follow."""
        self.fields["payload"] = payload
        for header, key in (("udp", "length"), ("ipv6", "payload_length"), ("outer_ipv6", "payload_length"),
                            ("ipv4", "total_length"), ("bth", "pad_count")):
            self.fields.get(header, {}).pop(key, None)
        self.fields.pop("padding", None)

    def mend(self):
        """What was right before the edit is right again."""
        if self.has("icrc"):
            self.fields["icrc"]["ok"] = not self.icrc.pop("wrong", False)
        self.fields.pop("raw", None)

    def copy(self):
        return Packet(json.dumps(self.fields))


class Capture:
    """Packets in their order, and the conversation that is edited: data one way, answers the other."""

    def __init__(self, packets, flow, place=0.5):
        self.packets, self.flow, self.place = packets, flow, place
        self.dqp, self.back = flow[2], way_back(packets, flow)
        self.said_all = 0  # the place where SACKs have the highest cack_psn
        self.overtaken = set()  # by SACKs with a higher one
        cack = None
        for i, packet in enumerate(packets):
            if packet.opcode != SACK or packet.trimmed or packet.flow != self.back:
                continue
            ahead = 1 if cack is None else signed(packet.seth["cack_psn"] - cack)
            if ahead > 0:
                cack, self.said_all = packet.seth["cack_psn"], i
            elif ahead < 0:
                self.overtaken.add(i)
        self.newest = []  # of this flow's PSNs, before each packet
        newest = None
        for packet in packets:
            self.newest.append(newest)
            if packet.data and packet.flow == self.flow and (newest is None or signed(packet.psn - newest) > 0):
                newest = packet.psn

    def all(self, wanted=lambda p: True):
        """Places of this flow's data, in order, that are wanted."""
        return [i for i, p in enumerate(self.packets) if p.data and p.flow == self.flow and wanted(p)]

    def answers(self, opcode, wanted=lambda p: True):
        """Places of answers, as long as newer ones have more to say: what is said last nothing contradicts. Nor what is
        overtaken, if there are others."""
        places = [i for i, p in enumerate(self.packets)
                  if p.opcode == opcode and not p.trimmed and p.flow == self.back and wanted(p)]
        contradicted = [i for i in places if i < self.said_all]
        return [i for i in contradicted if i not in self.overtaken] or contradicted or places

    def pick(self, places):
        """One of them: so far into the list as was asked for."""
        if not places:
            raise NoPlace("the capture has no packet of that kind", anywhere=True)
        return places[min(int(len(places) * self.place), len(places) - 1)]

    def one(self, wanted=lambda p: True):
        return self.packets[self.pick(self.all(wanted))]

    def again(self, wanted=lambda p: True):
        """A retransmission of which the capture has the first transmission as well."""
        return self.packets[self.pick([i for i in again_of(self.packets, self.flow) if wanted(self.packets[i])])]

    def answer(self, opcode, wanted=lambda p: True):
        return self.packets[self.pick(self.answers(opcode, wanted))]

    def message(self, packet):
        """All packets of its message, retransmissions too."""
        return [self.packets[i] for i in self.all(lambda p: p.meth["msn"] == packet.meth["msn"])]

    def sent_before(self, place):
        """The newest PSN that was sent before that place of the capture as it came."""
        if self.newest[place] is None:
            raise NoPlace("nothing was sent before")
        return self.newest[place]

    def insert(self, place, packet, behind_ns=1):
        """Another packet behind that place."""
        packet.capture["time_ns"] = self.packets[place].capture["time_ns"] + behind_ns
        while place + 1 < len(self.packets) and \
                self.packets[place + 1].capture["time_ns"] <= packet.capture["time_ns"]:
            place += 1
        self.packets.insert(place + 1, packet)

    def remove(self, places):
        if not places:
            raise NoPlace("the capture has no packet of that kind", anywhere=True)
        gone = set(places)
        self.packets = [p for i, p in enumerate(self.packets) if i not in gone]


def way_back(packets, flow):
    """The flow of the answers: that whose SACKs name most of this flow's packets. None: there is none."""
    source, destination, _ = flow
    sent = {(p.psn, p.entropy) for p in packets if p.data and p.flow == flow}
    votes = collections.Counter(p.bth["dqp"] for p in packets
                                if p.opcode == SACK and p.ip["src"] == destination and p.ip["dst"] == source and
                                (p.ack_psn, p.seth["entropy"]) in sent)
    return (destination, source, votes.most_common(1)[0][0]) if votes else None


def again_of(packets, flow):
    """Places of a flow's retransmissions of which the capture has the first transmission as well."""
    first, places = set(), []
    for i, packet in enumerate(packets):
        if packet.data and packet.flow == flow:
            if packet.new:
                first.add(packet.psn)
            elif packet.psn in first:
                places.append(i)
    return places


class Shown:
    """What a capture shows of each flow: how many packets there are of what edits are about. Trims and marks of a flow
    that leaves the ports where the capture was taken happen behind them, and nobody can judge them."""

    def __init__(self, packets):
        data = collections.Counter(p.flow for p in packets if p.data)
        came = {p.flow for p in packets if p.data and any("received by the device" in c for c in p.capture["comments"])}
        self.of = {}
        for flow, count in data.items():
            back = way_back(packets, flow)
            answers = [p for p in packets if back and p.flow == back and not p.trimmed]
            cut = {p.psn for p in packets if p.trimmed and p.opcode in DATA and p.flow == flow}
            marked = {(p.psn, p.entropy) for p in packets if p.data and p.flow == flow and p.outer["ecn"] == 3}
            shown = collections.Counter(data=count, answers=len(answers), again=len(again_of(packets, flow)))
            shown["trims"] = sum(p.opcode == NACK and p.neth["reason"] in (1, 2) and p.psn in cut for p in answers)
            shown["marks"] = sum(p.opcode == SACK and p.seth["m"] == 1 and (p.ack_psn, p.seth["entropy"]) in marked
                                 for p in answers)
            self.of[flow] = (flow in came or not came, shown)

    def flows(self, about):
        """Flows with something of it, with most of it first; of answers first those that come to the device."""
        def rank(flow):
            came, shown = self.of[flow]
            return not came and about in ("answers", "trims", "marks"), -shown[about], -shown["data"]
        return sorted((flow for flow in self.of if self.of[flow][1][about]), key=rank)


def read(mrc, path):
    """Packets of a capture."""
    done = subprocess.run([mrc, "decode", path, "--json"], capture_output=True, text=True, check=True)
    return [Packet(line) for line in done.stdout.splitlines()]


def write(mrc, packets, path):
    text = "\n".join(p.text for p in packets)
    subprocess.run([mrc, "encode", "-", "--pcapng", path], input=text, text=True, check=True)


def apply(packets, edit, flow=None, place=None, shown=None):
    """The packets with the edit in them; says what it did. `flow`: the one with most data but so many, None: that which
    shows most of what the edit is about. `place`: None: in the middle, or where it fits. Raises NoPlace."""
    shown = shown or Shown(packets)
    flows = shown.flows(edit.about)
    if flow is not None:
        flows = sorted(shown.of, key=lambda f: -shown.of[f][1]["data"])[flow:flow + 1]
    why = NoPlace(f"no flow has {edit.about}")
    for one in flows:
        for share in PLACES if place is None else (place,):
            capture = Capture([Packet(p.text) for p in packets], one, share)
            mine = list(capture.packets)  # alive, so that their ids are nobody else's
            before = {id(own): p.fields for own, p in zip(mine, packets, strict=True)}
            try:
                what = edit.change(capture)
            except NoPlace as none:
                why = none
                if none.anywhere:
                    break
                continue
            for packet in capture.packets:
                if packet.fields != before.get(id(packet)):
                    packet.mend()
                    packet.text = json.dumps(packet.fields)
            return capture.packets, what
    raise why


def main():
    from edits import EDITS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrc")
    parser.add_argument("capture")
    parser.add_argument("edit", nargs="?")
    parser.add_argument("-o", "--output")
    parser.add_argument("--flow", type=int, help="0: the flow with most data, 1: the next, ...; else one that fits")
    parser.add_argument("--place", type=float, help="how far into the capture, 0 to 1; else where it fits")
    o = parser.parse_args()
    if o.capture == "list":
        for edit in EDITS:
            print(f"{edit.name:<20} {edit.cite:<10} {edit.sentence}")
        return 0
    edit = next((e for e in EDITS if e.name == o.edit), None)
    if edit is None or o.output is None:
        print(f"edit.py: no edit '{o.edit}', or no -o OUT.\n  edit.py MRC list names all edits.", file=sys.stderr)
        return 3
    try:
        packets, what = apply(read(o.mrc, o.capture), edit, o.flow, o.place)
    except NoPlace as none:
        print(f"edit.py: {o.edit}: {none}.\n  Take a capture that has one.", file=sys.stderr)
        return 3
    write(o.mrc, packets, o.output)
    print(what)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    sys.modules["edit"] = sys.modules["__main__"]
    sys.exit(main())
