#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: any_capture.py MRC

The same packets in every kind of capture are read alike by decode, check and import; what is not judged is counted by
its reason; the same packet at another place counts once; memory does not grow with the file. Other formats are those
that editcap writes."""
import ctypes
import gzip
import json
import resource
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

MRC = sys.argv[1]
FAILED = []
ETHERNET, RAW, SLL, SLL2 = 1, 101, 113, 276
ARP = bytes(12) + b"\x08\x06" + bytes(28)
OTHER_PORT = bytes(12) + b"\x86\xdd" + b"\x60" + bytes(3) + struct.pack(">HBB", 20, 17, 64) + bytes(32) + \
    struct.pack(">HHHH", 9, 53, 20, 0) + bytes(12)


def check(what, got, want=True):
    if got != want:
        print(f"FAILED {what}: {str(got)[:400]}, expected {str(want)[:400]}")
        FAILED.append(what)


def mrc(*arguments, code=(0,), stdin=None):
    done = subprocess.run([MRC, *map(str, arguments)], capture_output=True, check=False, timeout=120, input=stdin)
    check(f"{[str(a) for a in arguments]} ends well: {done.stderr.decode()}", done.returncode in code)
    return done.stdout.decode()


def judge(*captures, code=(0, 1), stdin=None):
    return json.loads(mrc("check", *captures, "--json", "-", code=code, stdin=stdin))


def tallies(result):
    """What the rules did; reasons for rest as well."""
    return {r["id"]: (r["checked"], r["broken"], r["rests"]) for r in result["rules"]}


def packets_of(capture):
    """(nanoseconds, bytes) of a pcap with nanoseconds, little endian."""
    data, at = capture.read_bytes(), 24
    while at < len(data):
        seconds, nano, size, _ = struct.unpack_from("<4I", data, at)
        yield seconds * 10**9 + nano, data[at + 16:at + 16 + size]
        at += 16 + size


def pcap(packets, link=ETHERNET, order="<", nano=True):
    out = [struct.pack(order + "IHHiIII", 0xa1b23c4d if nano else 0xa1b2c3d4, 2, 4, 0, 0, 262144, link)]
    for time, frame in packets:
        fraction = time % 10**9 // (1 if nano else 1000)
        out += [struct.pack(order + "4I", time // 10**9, fraction, len(frame), len(frame)), frame]
    return b"".join(out)


def zstd(data):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    size = library.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    packed = ctypes.create_string_buffer(size)
    size = library.ZSTD_compress(packed, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)), 3)
    return packed.raw[:size]


def forms(folder, plain):
    """(name, file) of the same packets."""
    packets = list(packets_of(plain))

    def write(name, data):
        (folder / name).write_bytes(data)
        return name, folder / name

    def behind(link, head):
        return pcap([(t, head(f) + f[14:]) for t, f in packets], link)

    yield write("big.pcap", pcap(packets, order=">"))
    yield write("packed.pcap.gz", gzip.compress(plain.read_bytes()))
    yield write("packed.pcap.zst", zstd(plain.read_bytes()))
    yield write("two.pcap.gz", gzip.compress(plain.read_bytes()[:5000]) + gzip.compress(plain.read_bytes()[5000:]))
    yield write("vlan.pcap", pcap([(t, f[:12] + b"\x81\x00\x00\x0a" + f[12:]) for t, f in packets]))
    yield write("qinq.pcap", pcap([(t, f[:12] + bytes.fromhex("88a80064 8100200a") + f[12:]) for t, f in packets]))
    yield write("raw.pcap", behind(RAW, lambda f: b""))
    yield write("sll.pcap", behind(SLL, lambda f: bytes.fromhex("0000 0001 0006") + f[6:12] + bytes(2) + f[12:14]))
    yield write("sll2.pcap", behind(SLL2, lambda f: f[12:14] + bytes.fromhex("0000 00000005 0001 0006") + f[6:12] + bytes(2)))
    subprocess.run(["editcap", "-F", "pcapng", plain, folder / "again.pcapng"], check=True)
    yield "again.pcapng", folder / "again.pcapng"


def alike(folder, plain):
    want = judge(plain)
    seen = decoded(plain)
    check("some packets", want["packets"] > 200 and len(seen) == want["captures"]["packets"])
    for name, capture in forms(folder, plain):
        got = judge(capture)
        check(f"{name}: rules", tallies(got), tallies(want))
        check(f"{name}: packets", got["packets"], want["packets"])
        check(f"{name}: decoded", decoded(capture), seen)
        mrc("check", capture, "--annotate", folder / "copies")
        copy, = (folder / "copies").iterdir()
        check(f"{name}: its copy is pcapng", copy.suffix, ".pcapng")
        check(f"{name}: its copy has the same packets", decoded(copy, link=True), decoded(capture, link=True))
        copy.unlink()
        check(f"{name}: from standard input", tallies(judge("-", stdin=capture.read_bytes())), tallies(want))
    # Times of microseconds are others, all else is not.
    micro = folder / "micro.pcap"
    micro.write_bytes(pcap(packets_of(plain), nano=False))
    check("microseconds", decoded(micro), seen)
    # import has the same reader.
    logs = []
    for capture in (plain, folder / "packed.pcap.gz"):
        mrc("log", "import", capture, "-o", folder / "x.mrclog")
        logs.append([line.split(" ", 1)[1] for line in mrc("log", "print", folder / "x.mrclog").splitlines()
                     if "capture 0 is" not in line])
    check("imported", logs[0], logs[1])
    check("vlan is told", '"vlan":[{"tpid":34984,"tci":100},{"tpid":33024,"tci":8202}]' in
          mrc("decode", "--json", folder / "qinq.pcap").replace(" ", "").splitlines()[0])


def decoded(capture, link=False):
    """Packets without what a link or a clock says of them, or with what a link says."""
    out = []
    for line in mrc("decode", "--json", capture).splitlines():
        packet = json.loads(line)
        capture = packet.pop("capture")
        check("numbers", capture["number"], len(out) + 1)
        if link:
            packet["link"] = [capture.get(key) for key in ("time_ns", "link", "port", "vlan")]
        else:
            packet.pop("eth", None)
        out.append(packet)
    return out


def left_out(folder, plain):
    """Snap lengths; what is no MRC; nothing at all."""
    packets = list(packets_of(plain))
    for snap in (60, 100, 128, 256):
        cut = folder / f"snap{snap}.pcap"
        subprocess.run(["editcap", "-F", "nsecpcap", "-s", str(snap), plain, cut], check=True)
        result = judge(cut, code=(0, 1, 5))
        counts = result["captures"]
        check(f"snap length {snap}: each packet counts once", counts["judged"] + counts["duplicates"] + counts["damaged"] +
              sum(counts["left_out"].values()), len(packets))
        few = snap < 256
        check(f"snap length {snap}: inconclusive", result["verdict"], "inconclusive" if few else "pass")
        check(f"snap length {snap}: the remedy", any("snap length of 256" in r for r in counts.get("remedies", [])), few)
        if not few:
            icrc = next(r for r in result["rules"] if r["id"] == "wire.icrc")
            check("ICRCs rest by name", icrc["rests"].get("the log does not hold the frame's bytes", 0) > 0)
    mixed = folder / "mixed.pcap"
    mixed.write_bytes(pcap([p for i, p in enumerate(packets) for p in [p] + [(p[0], ARP)] * (i < 12) +
                            [(p[0], OTHER_PORT)] * (i < 3)]))
    text = mrc("check", mixed)
    check("12 ARP, 3 others", "12 packets ARP" in text and "3 packets of other UDP ports (the first one: 53)" in text)
    check("they are no reason to doubt", judge(mixed)["verdict"], "pass")
    nothing = folder / "nothing.pcap"
    nothing.write_bytes(pcap([(1, ARP)] * 5))
    check("nothing of MRC", judge(nothing, code=(5,))["captures"]["left_out"], {"arp": 5})


def duplicates(folder, plain):
    once = judge(plain)
    packets = list(packets_of(plain))
    (folder / "copy.pcap").write_bytes(plain.read_bytes())

    def hop(frame):
        return frame[:21] + bytes([frame[21] - 1]) + frame[22:]

    mirror = folder / "mirror.pcap"
    mirror.write_bytes(pcap(sorted([p for t, f in packets for p in ((t, f), (t + 700, hop(f)))], key=lambda p: p[0])))
    late = folder / "late.pcap"
    late.write_bytes(pcap([(t + 5000, f) for t, f in packets]))
    for name, captures in (("the same file twice", (plain, plain)), ("a copy", (plain, folder / "copy.pcap")),
                           ("a mirror port behind a router", (mirror,)), ("both ends", (plain, late))):
        twice = judge(*captures)
        check(f"{name}: packets", twice["packets"], once["packets"])
        check(f"{name}: duplicates", twice["captures"]["duplicates"], once["packets"])
        check(f"{name}: rules", tallies(twice), tallies(once))


def memory(folder, plain):
    packets = list(packets_of(plain))
    large = folder / "large.pcap"
    large.write_bytes(pcap(packets * (40_000_000 // plain.stat().st_size)))
    with open("/dev/null", "wb") as null:
        subprocess.run([MRC, "decode", large], stdout=null, check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    check(f"decode of {large.stat().st_size >> 20} MB in {peak >> 10} MB", peak < 100 << 10)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mrc("cosim", "--preset", "tiny", "--dut", "model", "--scenario", "loss", "--packets", 300, "--pcap",
            folder / "run.pcapng")
        plain = folder / "plain.pcap"
        subprocess.run(["editcap", "-F", "nsecpcap", folder / "run.pcapng", plain], check=True)
        memory(folder, plain)
        alike(folder, plain)
        left_out(folder, plain)
        duplicates(folder, plain)
    return bool(FAILED)


if __name__ == "__main__":
    sys.exit(main())
