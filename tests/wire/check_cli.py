#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""'mrc decode' and 'mrc encode' as a user calls them: outputs, exit codes, exact words for bad files.

usage: check_cli.py MRC
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

MRC = sys.argv[1]
FAILED = []

KNOWN = [  # the known answers of the ICRC: frame, ICRC, decoded as
    ("248a07a8fa22248a07a8fa22080045010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf1710"
     "4630818be28935d90e9a95505401be885e50000078f353f3", 0xF353F378, "ipv4"),
    ("248a07a8fa22248a07a8fa2286dd6e21face002c11ff2022000000000000000000000000102320230000000000000000000000001024"
     "c00012b7002ce7c52460ffff000000d300cf17104630818be28935d90e9a95505401be885e5000003e5b743b", 0x3B745B3E, "ipv6"),
    ("02000000000202000000000186dd6021234500381140fd000000000000000000000000000001fd0000000000000000000000000000"
     "02c12312b7003800000a40ffff0000012380fffffe0000123456789000cafe000100000010000102030405060708090a0b0c0d0e"
     "0fe383f529", 0x29F583E3, "ipv6"),
]
SACK = {"eth": {}, "outer_ipv6": {"dst": "2001:1000:100:200::"}, "ipv6": {"src": "fd00::1", "dst": "fd00::2"},
        "udp": {}, "bth": {"opcode": 220, "dqp": 16}, "seth": {"ack_psn_offset": -3}, "cc_state": {},
        "entropy": 0x12345678, "capture": {"interface": 5, "time_ns": 77, "comments": ["one", "two"]}}
ACK = {"eth": {}, "ipv4": {}, "udp": {}, "bth": {"opcode": 209}, "aeth": {"msn": 3}}


def run(*args, folder, stdin=b""):
    done = subprocess.run([MRC, *map(str, args)], capture_output=True, cwd=folder, check=False, input=stdin)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check(what, got, want):
    if got != want:
        FAILED.append(f"{what}:\n  got  {got!r}\n  want {want!r}")


def refused(folder, args, sentence):
    """Exit 3, one sentence, a remedy, nothing on stdout."""
    code, out, err = run(*args, folder=folder)
    lines = err.splitlines()
    check(f"{args} exit", code, 3)
    check(f"{args} stdout", out, "")
    check(f"{args} sentence", lines[:1], [sentence])
    if len(lines) != 2 or not lines[1].startswith("  ") or not lines[1].endswith("."):
        FAILED.append(f"{args}: no remedy in {err!r}")


def icrc_outer(frame):
    """Of a frame with an outer IPv6 header and no SRH, from that header on: the fields that count as ones by offset."""
    masked = bytearray(frame[14:-4])
    masked[0] |= 0x0F
    masked[40] |= 0x0F
    for at in (1, 2, 3, 7, *range(24, 40), 41, 42, 43, 47, 86, 87, 92):
        masked[at] = 0xFF
    return zlib.crc32(bytes([0xFF] * 8) + masked)


def standard_input(folder):
    """"-" reads it, and messages call it by name."""
    capture, text = (folder / "a.pcapng").read_bytes(), (folder / "in.json").read_bytes()
    check("decode -", run("decode", "-", folder=folder, stdin=capture), run("decode", "a.pcapng", folder=folder))
    check("encode -", run("encode", "-", folder=folder, stdin=text), run("encode", "in.json", folder=folder))
    refused(folder, ["decode", "-"], "mrc decode: standard input: byte 0: nothing stands in it.")
    refused(folder, ["encode", "-"], "mrc encode: standard input: byte 0: there is no packet in it.")


def choices_in_captures(folder):
    """What a capture says is used and told; an option wins; JSON carries it back."""
    encoded = run("encode", "in.json", "--icrc-outer", "--udp-port", "4791", "--pcapng", "drawn.pcapng", folder=folder)
    check("encode with choices", encoded, (0, "", ""))
    lines = run("decode", "drawn.pcapng", folder=folder)[1].splitlines()
    check("told", lines[0], "taken from the capture: --udp-port 4791 --icrc-outer")
    check("and used", lines[-1], "2 packets, 0 with an error")
    lines = run("decode", "drawn.pcapng", "--udp-port", "4791", "--icrc-outer=false", folder=folder)[1].splitlines()
    check("not told", lines[0].startswith("#1 "), True)
    check("not used", lines[-1], "2 packets, 1 with an error")
    check("nothing to tell", run("decode", "a.pcapng", folder=folder)[1].startswith("#1 "), True)
    out = run("decode", "drawn.pcapng", "--json", folder=folder)[1]
    check("one object per line", [json.loads(line)["capture"]["options"] for line in out.splitlines()],
          ["--udp-port 4791 --icrc-outer"] * 2)
    (folder / "drawn.json").write_text(out, encoding="utf-8")
    run("encode", "drawn.json", "--pcapng", "again.pcapng", folder=folder)
    check("back to the same capture", (folder / "again.pcapng").read_bytes(), (folder / "drawn.pcapng").read_bytes())
    wrong = (folder / "drawn.pcapng").read_bytes().replace(b"--icrc-outer", b"--icrc-otter", 1)
    (folder / "wrong.pcapng").write_bytes(wrong)
    refused(folder, ["decode", "wrong.pcapng"],
            "mrc decode: wrong.pcapng: byte 24: says how to read its frames, but '--icrc-otter' is no option of the wire "
            "format.")
    (folder / "two.json").write_text(out + run("decode", "a.pcapng", "--json", folder=folder)[1], encoding="utf-8")
    refused(folder, ["encode", "two.json", "--pcapng", "two.pcapng"],
            "mrc encode: packet 3 is made with other choices than packet 1: --udp-port 4971 --icrc-outer=false.")
    check("bytes of both", len(run("encode", "two.json", folder=folder)[1].split()), 4)


def foreign_text(folder):
    """Comments do not write to the terminal what they like."""
    packet = {"capture": {"comments": ["one\ntwo \x1b[31mred\x9b \u20ac"]}, "raw": "00"}
    (folder / "foreign.json").write_text(json.dumps(packet), encoding="utf-8")
    run("encode", "foreign.json", "--pcapng", "foreign.pcapng", folder=folder)
    lines = run("decode", "foreign.pcapng", folder=folder)[1].splitlines()
    check("comment", [line for line in lines if "comment" in line],
          ["  comment    one\\ntwo \\x1b[31mred\\xc2\\x9b \u20ac"])


def limits(folder):
    """Interfaces above 255, frames above 65535 bytes, comments above 65535 bytes go both ways."""
    large = {"capture": {"interface": 300, "time_ns": 5, "comments": ["c" * 70000]}, "raw": "01" * 70000}
    (folder / "large.json").write_text(json.dumps(large), encoding="utf-8")
    check("encode large", run("encode", "large.json", "--pcapng", "large.pcapng", folder=folder), (0, "", ""))
    out = run("decode", "large.pcapng", "--json", folder=folder)[1]
    packet = json.loads(out)
    check("interface", packet["capture"]["interface"], 300)
    check("comments", [len(c) for c in packet["capture"]["comments"]], [65535, 70000 - 65535])
    check("frame", packet["raw"], large["raw"])
    (folder / "large.json").write_text(out, encoding="utf-8")
    run("encode", "large.json", "--pcapng", "again.pcapng", folder=folder)
    check("the same large capture", (folder / "again.pcapng").read_bytes(), (folder / "large.pcapng").read_bytes())


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for frame, icrc, ip in KNOWN:
            code, out, _ = run("decode", "--hex", frame, "--json", folder=folder)
            packet = json.loads(out)
            check("exit", code, 0)
            check("icrc", packet["icrc"], {"value": icrc, "ok": True})
            check("ip", ip in packet, True)
            check("error", packet["error"]["name"], "unknown_opcode")
            wrong = frame[:-1] + ("0" if frame[-1] != "0" else "1")
            check("wrong icrc", json.loads(run("decode", "--hex", wrong, "--json", folder=folder)[1])["icrc"]["ok"], False)

        (folder / "in.json").write_text(json.dumps(SACK) + "\n" + json.dumps(ACK), encoding="utf-8")
        code, out, _ = run("encode", "in.json", folder=folder)
        frames = out.split()
        check("encode", (code, len(frames)), (0, 2))
        check("encode to capture", run("encode", "in.json", "--pcapng", "a.pcapng", folder=folder), (0, "", ""))
        code, out, _ = run("decode", "a.pcapng", "--json", folder=folder)
        packets = [json.loads(line) for line in out.splitlines()]
        check("capture", packets[0]["capture"], {"number": 1, **SACK["capture"]})
        check("offset", packets[0]["seth"]["ack_psn_offset"], -3)
        check("entropy", packets[0]["entropy"], 0x12345678)
        (folder / "again.json").write_text(out, encoding="utf-8")
        check("the same bytes", run("encode", "again.json", "--hex", folder=folder)[1].split(), frames)
        run("encode", "again.json", "--pcapng", "b.pcapng", folder=folder)
        check("the same capture", (folder / "b.pcapng").read_bytes(), (folder / "a.pcapng").read_bytes())
        for i in range(2):
            check("hex of one", json.loads(run("decode", "--hex", frames[i], "--json", folder=folder)[1])["bth"],
                  packets[i]["bth"])
        text = run("decode", "a.pcapng", folder=folder)[1]
        for words in ("#1 plane5 77 ns: Reliability SACK", "ack_psn_offset=-3", "comment    two", "2 packets, 0 with"):
            check(words, words in text, True)
        trimmed = frames[0][:2 * 14] + "6310" + frames[0][2 * 16:2 * 120]
        back = frames[0][:2 * 14] + "62d0" + frames[0][2 * 16:2 * 120]  # code point 11
        seen = json.loads(run("decode", "--hex", back, "--json", "--dscp", "returned=11", folder=folder)[1])
        check("sent back", (seen["dscp_class"], seen.get("trimmed"), "error" in seen), ("RETURNED", True, False))
        check("another code point", json.loads(run("decode", "--hex", trimmed, "--json", "--dscp", "trimmed=12",
                                                   folder=folder)[1]).get("trimmed"), True)
        check("not that one", json.loads(run("decode", "--hex", trimmed, "--json", "--dscp", "trimmed=13",
                                             folder=folder)[1])["error"]["name"], "bad_length")
        outer = run("encode", "in.json", "--icrc-outer", folder=folder)[1].split()
        check("another start of the ICRC changes SRv6 alone", (outer[0][:-8], outer[0][-8:] != frames[0][-8:], outer[1]),
              (frames[0][:-8], True, frames[1]))
        check("SRv6 frame, ICRC by hand", int.from_bytes(bytes.fromhex(outer[0][-8:]), "little"),
              icrc_outer(bytes.fromhex(outer[0])))
        for option, right in (["--icrc-outer"], True), ([], False):
            check("decode " + str(option), json.loads(run("decode", "--hex", outer[0], "--json", *option,
                                                          folder=folder)[1])["icrc"]["ok"], right)
        check("another port", "error" in json.loads(run("decode", "--hex", frames[1], "--json", "--udp-port", "4791",
                                                        folder=folder)[1]), False)
        check("that port only", json.loads(run("decode", "--hex", frames[1], "--json", "--udp-port", "4791",
                                               "--udp-port-only", folder=folder)[1])["error"], {
                                                 "name": "not_mrc", "offset": 36,
                                                 "message": "UDP destination port 4971, MRC is on 4791"})

        capture = (folder / "a.pcapng").read_bytes()
        (folder / "cut.pcapng").write_bytes(capture[:-5])
        (folder / "text.pcapng").write_text("no capture at all", encoding="utf-8")
        (folder / "empty.pcapng").write_bytes(b"")
        (folder / "bad.json").write_text('{"eth": {}, "ipv6": {}, "udp": {}, "bth": {"opcode": 209}}', encoding="utf-8")
        (folder / "half.json").write_text('{"eth": {}', encoding="utf-8")
        (folder / "range.json").write_text(json.dumps({**ACK, "bth": {"opcode": 209, "psn": 1 << 24}}), encoding="utf-8")
        refused(folder, ["decode", "text.pcapng"],
                "mrc decode: text.pcapng: byte 0: no capture: neither pcapng nor pcap.")
        refused(folder, ["decode", "empty.pcapng"], "mrc decode: empty.pcapng: byte 0: nothing stands in it.")
        code, out, err = run("decode", "cut.pcapng", folder=folder)
        check("cut", (code, err.splitlines()[0]),
              (3, f"mrc decode: cut.pcapng: byte {len(capture) - 96 + 4}: block length 96 is beyond the end of the file, "
                  "91 bytes are left."))
        check("cut: what stands before", [line.split()[0] for line in out.splitlines() if line.startswith("#")], ["#1"])
        refused(folder, ["decode", "."], "mrc decode: .: cannot read the capture: it is a folder.")
        refused(folder, ["decode", "--hex", "00", "--dscp", "trimmed=64"],
                "mrc decode: code point in --dscp trimmed=64 is not a number of 6 bits.")
        refused(folder, ["decode", "--hex", "00", "--dscp", "cut=1"],
                "mrc decode: 'cut=1' in --dscp does not name a class and its code point.")
        for more in ([], ["--pcapng", "out.pcapng"]):
            refused(folder, ["encode", "bad.json", *more],
                    "mrc encode: bad.json:1:1: packet 1: header aeth is missing for opcode 0xd1 (Acknowledge).")
            refused(folder, ["encode", "half.json", *more], "mrc encode: half.json:1:11: not valid JSON: the end instead of a comma or }.")
            refused(folder, ["encode", "range.json", *more],
                    "mrc encode: range.json:1:66: packet 1: bth.psn = 16777216 is out of range.")
        before = {p.name for p in folder.iterdir()}
        refused(folder, ["encode", "in.json", "--pcapng", "no/such/folder.pcapng"],
                "mrc encode: cannot write --pcapng no/such/folder.pcapng: there is no such folder.")
        refused(folder, ["encode", "bad.json", "--pcapng", "a.pcapng"],
                "mrc encode: bad.json:1:1: packet 1: header aeth is missing for opcode 0xd1 (Acknowledge).")
        check("an old capture stays", (folder / "a.pcapng").read_bytes(), capture)
        check("no new files", {p.name for p in folder.iterdir()}, before)
        standard_input(folder)
        choices_in_captures(folder)
        foreign_text(folder)
        limits(folder)
        # the examples of the document
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/reference/wire.md").read_text(encoding="utf-8")
        examples = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
        check("examples in docs/reference/wire.md", len(examples), 2)
        for example in examples:
            (folder / "example.json").write_text(example, encoding="utf-8")
            code, out, err = run("encode", "example.json", folder=folder)
            check(f"example {example}", (code, err), (0, ""))
            decoded = json.loads(run("decode", "--json", "--hex", out.strip(), folder=folder)[1])
            check("example decodes", "error" in decoded, False)
    for failure in FAILED:
        print(failure)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
