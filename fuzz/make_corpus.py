#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds for the fuzz targets: every kind of packet, made by 'mrc encode'; logs; scenarios, topologies, lists of events,
traces of the tests, and what the commands print.

usage: make_corpus.py MRC FOLDER
"""
import ctypes
import gzip
import json
import pathlib
import random
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/wire"))
sys.dont_write_bytecode = True
import check_tshark  # noqa: E402  (its packet maker)


TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests/cli"


def texts(mrc, folder):
    """Seeds of the readers of text."""
    def printed(*arguments):
        return subprocess.run([mrc, *arguments], check=True, capture_output=True, text=True).stdout

    def words(text, begin):
        """First words of the lines after the one that begins so."""
        lines = text.split(begin, 1)[1].splitlines()[1:]
        return [line.split()[0] for line in lines[:lines.index("") if "" in lines else len(lines)] if line.strip()]

    seeds = {name: {} for name in ("scenario", "fabric", "nscc", "trace", "device")}
    known = printed("cosim", "--scenario", "list")
    keys = "".join(f"{line.split()[0]} = {line.split()[1]}\n" for line in known.split("\nKeys ", 1)[1].splitlines()[1:]
                   if line.startswith("  "))
    seeds["scenario"]["keys"] = keys
    for name in words(known, "Scenarios:"):
        seeds["scenario"][name] = f'base = "{name}"\n'
    seeds["scenario"]["rules"] = ('base = "loss"\ndescription = "mine"\n[[rule]]\nplanes = [0, 2]\nev_share = 0.25\n'
                                  'to = "dut"\nfrom_us = 1\nuntil_us = 2.5e1\ntrim = 1\n')
    for name in words(printed("fabric", "--scenario", "list"), "Scenarios:"):
        seeds["fabric"][name] = "\1" + printed("fabric", "--print", "--scenario", name)
    for path in sorted((TESTS / "fabric").glob("*.toml")):
        seeds["fabric"][path.stem] = "\0" + path.read_text(encoding="utf-8")
        seeds["fabric"][path.stem + "1"] = "\1" + path.read_text(encoding="utf-8")
    for path in sorted((TESTS / "fabric").glob("*.csv")):
        seeds["trace"][path.stem] = path.read_text(encoding="utf-8")
    seeds["trace"]["htsim"] = ("Flow Uec_0_1 flowId 1 uecSrc 0 starting at 0\n"
                               "Flow Uec_0_1 flowId 1 uecSrc 0 finished at 17.5 total messages 1\n")
    for number, pattern in enumerate(("*.csv", "*.json", "*.toml")):
        for path in sorted((TESTS / "nscc").glob(pattern)):
            seeds["nscc"][path.name] = chr(number) + path.read_text(encoding="utf-8")
    for number, line in enumerate((TESTS / "nic" / "errors.out").read_text(encoding="utf-8").splitlines()):
        if line.startswith("> "):
            seeds["device"][f"{number:03}"] = line[2:]
    for target, files in seeds.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / target / name).write_text(text, encoding="utf-8")


def logs(mrc, folder):
    """Seeds of the readers of logs: a record of each kind, a whole file, a capture to be imported."""
    (folder / "log").mkdir(parents=True, exist_ok=True)
    (folder / "log_import").mkdir(parents=True, exist_ok=True)
    # Bytes of the fields of a record whose fields are all 0, by kind (docs/reference/log.md).
    fields = [2, 2, 6, 58, 6, 6, 8, 2, 8, 8, 1, 4, 2, 1, 2]
    records = [bytes([kind, 2 + size, 0, 0]) + bytes(size) for kind, size in enumerate(fields)]
    for kind, record in enumerate(records):
        (folder / "log" / f"{kind:02}").write_bytes(b"\1\0\1" + record)
    (folder / "log" / "all").write_bytes(bytes([1, 0, len(records)]) + b"".join(records))
    capture = (folder / "pcapng" / "seed").read_bytes()
    (folder / "log_import" / "seed").write_bytes(capture)
    subprocess.run([mrc, "log", "import", folder / "pcapng" / "seed", "-o", folder / "in.mrclog"], check=True,
                   capture_output=True)
    (folder / "log" / "file").write_bytes(b"\0\0\0" + (folder / "in.mrclog").read_bytes())


def captures(folder):
    """Seeds of the reader of any capture: each format, and packets of each link (docs/reference/wire.md)."""
    (folder / "capture").mkdir(parents=True, exist_ok=True)
    pcapng = (folder / "pcapng" / "seed").read_bytes()
    frame = (folder / "decode" / "008").read_bytes()[1:]
    head = struct.pack("<4I", 1, 2, len(frame), len(frame))
    pcap = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1) + head + frame
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compress.restype = ctypes.c_size_t
    packed = ctypes.create_string_buffer(2 * len(pcap))
    size = library.ZSTD_compress(packed, ctypes.c_size_t(len(packed)), pcap, ctypes.c_size_t(len(pcap)), 3)
    zstd = packed.raw[:size]
    seeds = {"pcapng": b"\0" + pcapng, "pcap": b"\0" + pcap, "gzip": b"\0" + gzip.compress(pcap), "zstd": b"\0" + zstd,
             "big": b"\0" + struct.pack(">IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 101) +
             struct.pack(">4I", 1, 2, len(frame) - 14, len(frame)) + frame[14:]}
    links = [b"", frame[14:], bytes(12) + frame[12:14] + frame[14:], frame[12:14] + bytes(18) + frame[14:], frame[14:],
             frame[14:], frame]
    links[0] = frame[:12] + bytes.fromhex("81000001") + frame[12:]
    for number in range(0x80, 0x80 + 2 * len(links)):
        seeds[f"link{number}"] = bytes([number]) + links[number % len(links)]
    for name, seed in seeds.items():
        (folder / "capture" / name).write_bytes(seed)


def conversations(folder):
    """A seed of the inference of QPs: data one way, SACKs that name them the other way (16 bytes each)."""
    (folder / "conversations").mkdir(parents=True, exist_ok=True)
    sent = b"".join(bytes([1, 2, 1, psn, 0, 0, 7] + [0] * 9) + bytes([4 + 16, 0, 2, psn, 0, 0, 9, 0, 7] + [0] * 7)
                    for psn in range(32))
    (folder / "conversations" / "seed").write_bytes(sent)


def records(folder):
    """A record of a board's pins, whole and cut, as both presets."""
    (folder / "record").mkdir(parents=True, exist_ok=True)
    record = (pathlib.Path(__file__).resolve().parent.parent / "tests/fpga/record/tiny.mrcx").read_bytes()
    for number in range(4):
        (folder / "record" / str(number)).write_bytes(bytes([number]) + record[:2000])


def checks(mrc, folder):
    """Seeds of the judge: the first records of runs, as they stand in a block."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    (folder / "check").mkdir(parents=True, exist_ok=True)
    for name in ("clean", "mixed", "loss", "trim", "immediate", "link-flap", "qp-error", "probe-revive"):
        log = folder / f"{name}.mrclog"
        scenario = folder / f"{name}.toml"
        scenario.write_text(f'base = "{name}"\nqps = 1\n', encoding="utf-8")
        subprocess.run([mrc, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", scenario, "--packets", "30",
                        "--record", log], check=False, capture_output=True)
        data = log.read_bytes()
        stored, plain = struct.unpack_from("<II", data, 20)
        records = ctypes.create_string_buffer(plain)
        zstd.ZSTD_decompress(records, ctypes.c_size_t(plain), data[36:36 + stored], ctypes.c_size_t(stored))
        for size in (2000, 8000, 16000):
            (folder / "check" / f"{name}{size}").write_bytes(b"\1" + records.raw[:size])


def main():
    mrc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rng = random.Random(1)
    packets = [check_tshark.packet(rng, opcode, encapsulation, timestamp)
               for opcode in check_tshark.SPEC["opcodes"] for encapsulation in ("ipv4", "ipv6", "srv6", "srv6_srh")
               for timestamp in (False, True)]
    for p in packets:
        if "payload" in p:
            p["payload"] = p["payload"][:16]
    for name in ("decode", "pcapng", "json"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    source, capture = folder / "in.json", folder / "pcapng" / "seed"
    for number, p in enumerate(packets):
        (folder / "json" / f"{number:03}").write_text(json.dumps(p), encoding="utf-8")
        p["capture"] = {"interface": number % 8, "time_ns": 1000 * number, "comments": [f"packet {number}"]}
    source.write_text("\n".join(json.dumps(p) for p in packets), encoding="utf-8")
    lines = subprocess.run([mrc, "encode", source, "--hex"], check=True, capture_output=True, text=True).stdout
    for number, line in enumerate(lines.split()):
        (folder / "decode" / f"{number:03}").write_bytes(bytes([number % 4 * 8]) + bytes.fromhex(line))
        outer = 34 if "ipv4" in packets[number] else 54
        cut = check_tshark.trim(rng, bytes.fromhex(line), outer, "srh" in packets[number],
                                "outer_ipv6" in packets[number])
        (folder / "decode" / f"{number:03}trimmed").write_bytes(bytes([number % 4 * 8]) + cut)
    source.write_text("\n".join(json.dumps(p) for p in packets[:6]), encoding="utf-8")
    subprocess.run([mrc, "encode", source, "--pcapng", capture], check=True)
    texts(mrc, folder)
    logs(mrc, folder)
    captures(folder)
    conversations(folder)
    records(folder)
    checks(mrc, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
