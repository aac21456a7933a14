#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of 'mrc cosim' say how to read them: 'mrc decode' and tshark, with no options, show every frame as it is.

usage: check_capture.py MRC LUA

The registers that decide how frames are read are drawn from the seed. The comment of a frame says what the link did to
it; the ICRC of every frame is computed here once more. So it is known of each frame what a reader must say.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

SEEDS = (1, 2, 4, 5, 8)
# Even seeds with many damaged, altered and trimmed frames.
ROUGH = 'base = "mixed"\ncorrupt = 0.05\nrogue = 0.05\ntrim = 0.05\nduplicate = 0.02\n'
FAILED = []


def fail(where, what):
    if len(FAILED) < 20:
        FAILED.append(f"{where}: {what}")


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def words_of(capture):
    """The options in the section header and in each interface, read without any code of the project."""
    data, at, section, interfaces = capture.read_bytes(), 0, [], []
    while at < len(data):
        kind, size = int.from_bytes(data[at:at + 4], "little"), int.from_bytes(data[at + 4:at + 8], "little")
        if kind in (0x0A0D0D0A, 1):
            option = at + (24 if kind != 1 else 16)
            while option < at + size - 4:
                code = int.from_bytes(data[option:option + 2], "little")
                length = int.from_bytes(data[option + 2:option + 4], "little")
                value = data[option + 4:option + 4 + length]
                if value.startswith(b"mrc decode ") and code == (1 if kind != 1 else 3):
                    (section if kind != 1 else interfaces).append(value.decode())
                option += 4 + (length + 3) // 4 * 4
                if code == 0:
                    break
        at += size
    return section, interfaces


def right_icrc(packet, frame, outer):
    """Of a frame in which 'mrc decode' has found an ICRC; None without one."""
    if "icrc" not in packet:
        return None
    end = len(frame) - len(packet.get("trailer", "")) // 2
    inner = 14 + (40 if "outer_ipv6" in packet else 0) + (24 if "srh" in packet else 0)
    masked = bytearray(frame[:end - 4])
    for header in ([14] if outer and inner > 14 else []) + [inner]:
        masked[header] |= 0x0F
        for at in (1, 2, 3, 7):
            masked[header + at] = 0xFF
    if outer and inner > 14:
        masked[14 + 24:14 + 40] = bytes([0xFF] * 16)
        if "srh" in packet:
            masked[14 + 43] = 0xFF
    masked[inner + 46] = masked[inner + 47] = masked[inner + 52] = 0xFF
    crc = zlib.crc32(bytes([0xFF] * 8) + masked[14 if outer else inner:])
    return crc == int.from_bytes(frame[end - 4:end], "little")


def tshark(lua, capture):
    """(error, ICRC is right, trimmed) of each frame as the dissector says; "" where it says nothing."""
    fields = ("frame.number", "mrc.error", "mrc.icrc.ok", "mrc.trimmed")
    out = run("tshark", "-X", f"lua_script:{lua}", "-n", "-r", capture, "-T", "fields",
              *(word for field in fields for word in ("-e", field)))
    return [tuple(line.split("\t")[1:]) for line in out.splitlines()]


def check_frame(where, packet, frame, theirs, outer, counts):
    what = packet["capture"]["comments"][0]
    error = packet.get("error", {}).get("name", "")
    fate = set(re.split(", |; link: ", what)[1:]) if what.startswith("received") else set()
    icrc = right_icrc(packet, frame, outer)
    if icrc is not None and packet["icrc"]["ok"] != icrc:
        fail(where, f"mrc says the ICRC is {packet['icrc']['ok']}, it is {icrc}")
    if "bits flipped" in fate:
        counts["flipped"] += 1
        if not error and not packet.get("trimmed") and not icrc:
            fail(where, "mrc sees nothing in a frame with flipped bits")
    elif "rogue copy" in fate:
        counts["rogue"] += 1
        if error == "bad_icrc":
            fail(where, "mrc sees a bad ICRC in a rogue copy, all of which have the right one")
    elif error or packet.get("trimmed", False) != ("trimmed" in fate) or icrc != (None if "trimmed" in fate else True):
        fail(where, f"mrc sees {error or packet.get('dscp_class')}, ICRC {icrc}")
    counts["trimmed"] += "trimmed" in fate
    counts["bad"] += error == "bad_icrc"
    ok = "" if icrc is None else str(int(icrc))
    # What stands in front of the BTH is Wireshark's own: frames that are wrong there may not reach the dissector, or it
    # reads a header that mrc refuses (a flipped bit of the SRH) and the dissector sees what is wrong with the rest.
    if error not in ("", "bad_icrc"):
        if theirs[0] not in ("", error, *(["bad_icrc"] if error == "bad_srh" and "bits flipped" in fate else [])):
            fail(where, f"tshark sees {theirs[0]}, mrc {error}")
    elif theirs != (error, ok, "1" if packet.get("trimmed") else ""):
        fail(where, f"tshark sees {theirs}, mrc {error or 'nothing wrong'}, ICRC {icrc}")


def check_seed(mrc, lua, folder, seed, counts):
    capture, scenario = folder / f"{seed}.pcapng", folder / "rough.toml"
    scenario.write_text(ROUGH, encoding="utf-8")
    run(mrc, "cosim", "--preset", "tiny", "--scenario", "mixed" if seed % 2 else scenario, "--packets", 1000,
        "--seed", seed, "--pcap", capture)
    section, interfaces = words_of(capture)
    if len(section) != 1 or interfaces != section * 2:
        fail(f"seed {seed}", f"the section says {section}, the interfaces {interfaces}")
        return
    counts["words"].add(section[0])
    packets = [json.loads(line) for line in run(mrc, "decode", capture, "--json").splitlines()]
    source = folder / "packets.json"
    source.write_text("\n".join(json.dumps(p) for p in packets), encoding="utf-8")
    frames = [bytes.fromhex(line) for line in run(mrc, "encode", source).splitlines()]
    theirs = tshark(lua, capture)
    if not len(packets) == len(frames) == len(theirs) > 1000:
        fail(f"seed {seed}", f"mrc decodes {len(packets)} frames, encodes {len(frames)}, tshark shows {len(theirs)}")
        return
    for number, (packet, frame, other) in enumerate(zip(packets, frames, theirs), 1):
        where = f"seed {seed}, frame {number} ({packet['capture']['comments'][0]})"
        check_frame(where, packet, frame, other, "--icrc-outer" in section[0], counts)
    counts["frames"] += len(packets)


def check_by_hand(mrc, lua, folder):
    """Options win over the capture; 'mergecap' keeps what each interface says."""
    captures = [folder / f"{seed}.pcapng" for seed in SEEDS[:3]]
    merged = folder / "merged.pcapng"
    run("mergecap", "-w", merged, *captures)
    apart = sum(len(run(mrc, "decode", c, "--json").splitlines()) for c in captures)
    packets = [json.loads(line) for line in run(mrc, "decode", merged, "--json").splitlines()]
    theirs = tshark(lua, merged)
    if not apart == len(packets) == len(theirs):
        fail("merged", f"{apart} packets apart, {len(packets)} together, tshark shows {len(theirs)}")
    for number, (packet, other) in enumerate(zip(packets, theirs), 1):
        what = packet["capture"]["comments"][0]
        for who, error in ("mrc", packet.get("error", {}).get("name")), ("tshark", other[0]):
            if error == "bad_icrc" and not (what.startswith("received") and "bits flipped" in what):
                fail(f"merged frame {number} ({what})", f"{who} sees a bad ICRC")
    text = run(mrc, "decode", captures[0])
    if not text.startswith("taken from the capture: --"):
        fail("text", f"begins {text[:80]!r}")
    port = json.loads(run(mrc, "decode", captures[0], "--json", "--udp-port", 9, "--udp-port-only").splitlines()[0])
    if port["error"]["name"] != "not_mrc":
        fail("options", f"--udp-port 9 --udp-port-only on a capture gives {port['error']}")


def main():
    mrc, lua = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    counts = {"frames": 0, "flipped": 0, "rogue": 0, "trimmed": 0, "bad": 0, "words": set()}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in SEEDS:
            check_seed(mrc, lua, folder, seed, counts)
        check_by_hand(mrc, lua, folder)
    words = counts.pop("words")
    drawn = {option for text in words for option in ("--udp-port-only", "--bth-se-first", "--ev-swap", "--eeth-op-high", "--icrc-outer",
                                                     "--dscp trimmed=12") if option in text}
    ports = {text.split("--udp-port ", 1)[1].split()[0] for text in words if "--udp-port " in text}
    print(f"{counts}, {len(words)} settings")
    if len(words) < 5 or len(drawn) < 6 or len(ports) < 2 or not ports & {"4791", "4971"} or all(
            "--dscp trimmed=12 " in w for w in words):
        fail("seeds", f"they draw too little: {words}")
    if min(counts.values()) < 50:
        fail("seeds", "too few frames of a kind")
    for failure in FAILED:
        print(failure)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
