#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: bench_nic.sh MRC
# mrc bench nic as people use it: one row, the fields of its JSON, figures, exit codes.
set -euo pipefail
. "$(dirname -- "$(readlink -f -- "$0")")/../scratch.sh"
code() { exits "$1" bench nic --preset tiny --warm-up 6000 --cycles 15000 "${@:2}"; }

# One row of the RTL.
code 0 --payload 4096 --direction send --encapsulation srv6 --table rates --json row.json
[ "$(json row.json 'len(j["rows"]), j["complete"], len(j["latency"])')" = "1 True 0" ] || fail "row.json: $(cat row.json)"
/usr/bin/python3 - row.json <<'PY' || fail "fields of a row: $(cat row.json)"
import json, sys
row = json.load(open(sys.argv[1]))["rows"][0]
want = {"payload": 4096, "direction": "send", "encapsulation": "srv6", "messages": "long", "qps": 4, "complete": True}
for key, value in want.items():
    assert row[key] == value, key
for key in ("ratio", "ratio_without_control", "packets_per_second", "goodput_gbps", "limit_gbps", "control_share",
            "retransmitted_share", "plane_share_min", "plane_share_max", "offered_gbps"):
    assert isinstance(row[key], float), key
assert 0.99 < row["ratio"] < 1.01 and row["limit_gbps"] < 200
for boundary in ("tx_segment.pkt", "tx_path.path", "tx_header.hdr", "tx_fetch.rdreq"):
    assert 0 < row["occupancy"][boundary]["busy"] <= 1, boundary
    assert 0 <= row["occupancy"][boundary]["blocked"] <= 1, boundary
PY

# The model is the same machine: the same figures.
code 0 --payload 4096 --direction send --encapsulation srv6 --table rates --dut model --json model.json
[ "$(json row.json 'j["rows"]')" = "$(json model.json 'j["rows"]')" ] || fail "RTL and model measure differently"

# A host that is far away: a row for each latency. Beyond what 16 lines of 32 bytes cover, 41 ns, they set the rate: 512
# bytes in each latency and lane, 8.2 Gb/s of two lanes at 1 us, give or take the packets at the window's ends.
code 0 --payload 4096 --direction send --encapsulation srv6 --table rates --dut model --host-latency 20,1000 --json far.json
[ "$(json far.json '[r["host_read_ns"] for r in j["rows"]], j["rows"][0]["ratio"] > 0.99')" = "[20, 1000] True" ] ||
  fail "far.json: $(cat far.json)"
[ "$(json far.json '7 < j["rows"][1]["goodput_gbps"] < 10.5')" = True ] || fail "far.json: $(cat far.json)"

# Both directions, and latencies.
code 0 --payload 1024 --direction both --encapsulation stev --dut model --json both.json
/usr/bin/python3 - both.json <<'PY' || fail "both.json: $(cat both.json)"
import json, sys
j = json.load(open(sys.argv[1]))
row, = j["rows"]
assert row["ratio"] == min(row["send"]["ratio"], row["receive"]["ratio"])
assert {entry["name"] for entry in j["latency"]} == {
    "wqe_to_wire", "wire_to_memory", "wire_to_sack", "sack_to_window", "nack_to_retransmission"}
assert {entry["load"] for entry in j["latency"]} == {0, 0.95}
for entry in j["latency"]:
    assert 0 < entry["min"] <= entry["median"] <= entry["max"], entry
PY

# Required ratios: reached by large packets, not by lone small ones.
code 0 --payload 4096 --direction send --messages long --dut model --table rates --check
grep -q '^check: 2 of 2 rows reach the required ratio$' said || fail "check: $(cat said)"
code 1 --payload 64 --direction send --encapsulation srv6 --qps 1 --dut model --table rates --check
grep -q '^UNDER: 64 B, srv6, short messages, 1 QPs, send: ratio 0\.0[0-9]*, required 0\.980$' said || fail "check: $(cat said)"

# The window of a controller: more of it, more of the line.
code 3 --cc-rate 1600 --dut model
exits 0 bench nic --cc --cc-rate 1600 --payload 64 --encapsulation stev --messages short --direction send --dut model \
  --table rates --warm-up 150000 --json wide.json
/usr/bin/python3 - <<'PY' || fail "--cc-rate: $(cat wide.json)"
import json
wide = json.load(open("wide.json"))
assert wide["cc_rate"] == 1600 and wide["rows"][0]["ratio"] > 0.98
PY

# Figures: whole ones or none.
mkdir figures
if command -v gnuplot >/dev/null; then
  code 0 --payload 1024,4096 --encapsulation srv6 --direction send --dut model --svg figures
  [ "$(ls figures)" = "$(printf 'bench-nic-latencies.svg\nbench-nic-rates.svg')" ] || fail "figures: $(ls figures)"
  /usr/bin/python3 -c "import sys, xml.dom.minidom as x; [x.parse(f) for f in sys.argv[1:]]" figures/*.svg || fail "no SVG"
fi
got=0
PATH=$folder "$mrc" bench nic --preset tiny --dut model --svg figures >said 2>&1 || got=$?
[ "$got" = 3 ] && grep -q 'apt-get install --no-install-recommends gnuplot-nox' said || fail "without gnuplot: $got $(cat said)"

# Ctrl-C: the rows so far, marked.
"$mrc" bench nic --cycles 1000000 --json stopped.json >stopped.out 2>&1 &
pid=$!
sleep 2
kill -INT "$pid"
got=0
wait "$pid" || got=$?
[ "$got" = 5 ] || fail "stopped: exit $got"
grep -q '^INCOMPLETE' stopped.out || fail "stopped: $(cat stopped.out)"
[ "$(json stopped.json 'j["complete"], j["rows"][-1]["complete"] if j["rows"] else False')" = "False False" ] || fail "stopped.json"
