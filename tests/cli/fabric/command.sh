#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: command.sh MRC
# Exit codes of mrc fabric and mrc topo, and the files they leave: all of them whole, or none.
set -euo pipefail
. "$(dirname -- "$(readlink -f -- "$0")")/../../scratch.sh"
well_formed() { /usr/bin/python3 -c "import sys,xml.dom.minidom as m; [m.parse(f) for f in sys.argv[1:]]" "$@"; }

# A run with everything.
exits 0 fabric --scenario plane-loss --report report --json run.json --pcap nic0/3=nic.pcapng --pcap T0-3-0:T1-3-1=up.pcapng
[ "$(json run.json 'j["complete"], j["outcome"], j["totals"]["delivered_bytes"], len(j["events"]), len(j["plane_bytes"])')" = \
  "True done 200000000 2 8" ] || fail "run.json"
for file in index.html data.js page.js page.css fabric.js charts/uPlot.iife.min.js result.json series.csv flows.csv \
  ports.csv topology.svg; do
  [ -s "report/$file" ] || fail "report/$file is missing"
done
well_formed report/*.svg
grep -o '\(src\|href\)="[^"#]*"' report/index.html | sed 's/[^"]*"//; s/"//' | while read -r part; do
  [ -s "report/$part" ] || fail "index.html names $part, which is missing"
done
/usr/bin/python3 - <<'PY' || fail "series.csv"
import csv
rows = list(csv.DictReader(open("report/series.csv")))
assert len(rows) > 100 and len({len(r) for r in rows}) == 1
before = [float(r["plane3_gbps"]) for r in rows if 300 < float(r["time_us"]) < 495]
down = [float(r["plane3_gbps"]) for r in rows if 600 < float(r["time_us"]) < 1190]
others = [float(r["plane2_gbps"]) for r in rows if 600 < float(r["time_us"]) < 1190]
assert min(before) > 50 and max(down) == 0 and min(others) > 50, (min(before), max(down), min(others))
PY
exits 0 decode nic.pcapng
grep -q 'plane3' said && ! grep -q 'plane2' said || fail "the capture of nic0/3 has other planes"
grep -q 'comment.*nic0 to T0-3-0' said && grep -q 'comment.*T0-3-0 to nic0' said || fail "directions"
grep -q 'comment.*lost on this link' said || fail "what was lost is not marked"
! grep '^  icrc' said | grep -qv 'ok$' || fail "a frame with a bad ICRC"
[ "$(find . -name '*.part*' | wc -l)" = 0 ] || fail "left behind: $(find . -name '*.part*')"

# Trimmed frames in a capture.
printf 'base = "incast-victim"\n[[traffic]]\npattern = "incast"\nto = "nic0"\nnodes = 7\nfirst = 4\nbytes = 1_000_000\n' >trim.toml
exits 0 fabric --scenario trim.toml --pcap nic0/0=trim.pcapng
"$mrc" decode trim.pcapng >said || [ $? -le 1 ] || fail "trimmed frames cannot be read"
grep -q 'dscp=16' said || fail "no frame was trimmed at the last hop"

# Trace, with dependencies.
cp -- "$here"/trace.toml "$here"/trace.csv .
exits 0 fabric --scenario trace.toml --report trace
/usr/bin/python3 - <<'PY' || fail "trace"
import csv
a, b, c = csv.DictReader(open("trace/flows.csv"))
assert b["begun_us"] == a["delivered_us"] and c["begun_us"] == b["delivered_us"], (a, b, c)
PY

# NICs by the clock.
exits 0 fabric --scenario small --endpoint model --json clocked.json --pcap nic0/0=clocked.pcapng
[ "$(json clocked.json 'j["complete"], j["totals"]["delivered_bytes"]')" = "True 5500000" ] || fail "clocked.json"
"$mrc" decode clocked.pcapng >said || [ $? -le 1 ] || fail "frames of clocked NICs cannot be read"
! grep '^  icrc' said | grep -v 'trimmed' | grep -qv 'ok$' || fail "a clocked NIC sent a bad ICRC"
exits 0 fabric --scenario small --endpoint fast
exits 3 fabric --scenario small --endpoint none
# Losses that a NIC knows by ports, time and questions: the judge takes them for lawful, the NIC by the clock has none.
printf 'base = "loss-1"\n[[traffic]]\npattern = "flow"\nfrom = "nic0"\nto = "nic2"\nbytes = 10_000_000\n' >knows.toml
printf '[[event]]\nwhat = "link-loss"\nlink = "nic0/1"\nloss = 0.05\n' >>knows.toml
printf '[[event]]\nwhat = "link-down"\nlink = "nic0/2"\nat_us = 60\nfor_us = 50\n' >>knows.toml
exits 0 fabric --scenario knows.toml --json knows.json --record knows.mrclog
grep -Eq '^    lost        known by port [0-9]+.*time [0-9]+' said || fail "what found the losses: $(cat said)"
grep -Eq '^    slowest     nic0 to nic2, .* round trips over the bound' said || fail "the slowest flow: $(cat said)"
! grep -q 'not measured' said || fail "an event that measured nothing: $(cat said)"
[ "$(json knows.json 'j["totals"]["timeouts"], j["traffic"][0]["lost_known_by"]["timer"]')" = "0 0" ] || fail "timers"
[ "$(json knows.json 'j["traffic"][0]["lost_known_by"] == j["totals"]["lost_known_by"]')" = True ] || fail "sums"
[ "$(json knows.json 'len(j["traffic"][0]["slowest"]["last_back"])')" = 2 ] || fail "the slowest flow"
exits 0 check knows.mrclog
printf 'base = "small"\noverdue = 8\n' >overdue.toml
exits 3 fabric --scenario overdue.toml --endpoint model
grep -q 'overdue = 8 is neither 0 nor 6, as the NIC asic800 needs it' said || fail "not told: $(cat said)"
exits 3 fabric --scenario incast --endpoint model
grep -q 'the NIC asic800 has 8 planes, the topology 1' said || fail "planes: $(cat said)"

# Contrast.
exits 0 fabric --scenario flow --transport roce --json roce.json
[ "$(json roce.json 'j["transport"]')" = roce ] || fail "roce.json"

# Ended by the guards.
cp -- "$here"/dies.toml .
exits 2 fabric --scenario dies.toml --json dies.json --report dies
grep -Eq '^dies.toml: hang, ' said || fail "hang: $(cat said)"
[ "$(json dies.json 'j["complete"], j["outcome"]')" = "False hang" ] || fail "dies.json"
grep -q '"complete": false' dies/data.js || fail "the page does not know that it is incomplete"

# Ctrl-C: the results so far.
printf 'base = "permutation"\n[[traffic]]\npattern = "permutation"\nbytes = 1_000_000_000\n' >long.toml
"$mrc" fabric --scenario long.toml --json long.json --report long >said 2>&1 &
run=$!
sleep 2
kill -INT "$run"
got=0
wait "$run" || got=$?
[ "$got" = 5 ] || fail "Ctrl-C: exit $got: $(cat said)"
[ "$(json long.json 'j["complete"], j["outcome"], j["totals"]["delivered_bytes"] > 0')" = "False incomplete True" ] || fail "long.json"
grep -q '"complete": false' long/data.js || fail "the page of a stopped run does not know it"

# No room.
got=0
(trap '' XFSZ; ulimit -f 2; exec "$mrc" fabric --scenario flow --report full) >said 2>&1 || got=$?
[ "$got" = 3 ] && grep -q 'larger than allowed' said || fail "full disk: exit $got: $(cat said)"
[ "$(find full -name '*.part*' | wc -l)" = 0 ] || fail "left behind: $(find full -name '*.part*')"

# Drawings.
cp -- "$here"/small.toml .
exits 0 topo small.toml --svg small.svg
well_formed small.svg
[ "$(grep -c '<line' small.svg)" = 16 ] || fail "small.svg has $(grep -c '<line' small.svg) links"

# The curve of bench fabric --scale: a line for each number of threads.
exits 0 bench fabric --scale --largest 1024 --rounds 1 --threads 2 --svg scale.svg --json scale.json
well_formed scale.svg
[ "$(json scale.json '[r["threads"] for r in j["rows"]]')" = "[1, 2]" ] || fail "scale.json"
for words in '1 thread<' '2 threads<' '1024<' 'memory, GB'; do
  grep -q "$words" scale.svg || fail "scale.svg does not say $words"
done

# All shipped scenarios are listed, and print as a file that can be run.
exits 0 fabric --scenario list
names=$(sed -n '/^Scenarios/,/^$/s/^  \([^ ]*\) .*/\1/p' said)
[ "$(wc -l <<<"$names")" -ge 15 ] || fail "list: $names"
exits 0 fabric --scenario plane-loss --print
cp said printed.toml
exits 0 fabric --scenario printed.toml --json printed.json
[ "$(json printed.json 'j["traffic"][0]["end_us"]')" = "$(json run.json 'j["traffic"][0]["end_us"]')" ] || fail "printed.toml"
