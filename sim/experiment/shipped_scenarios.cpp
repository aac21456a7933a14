// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/scenario.hpp"

namespace mrc::sim {
namespace {

const ShippedScenario kShipped[] = {
    {"flow", "one flow of 100 MB across two tiers, 800G", R"(
sample_us = 10
[topology]
leaves = 2
hosts_per_leaf = 4
spines = 4
[[traffic]]
pattern = "flow"
from = "nic0"
to = "nic4"
bytes = 100_000_000
)"},
    {"incast", "64 NICs send 1 MB each to one", R"(
[topology]
leaves = 8
hosts_per_leaf = 16
spines = 16
[[traffic]]
pattern = "incast"
to = "nic0"
nodes = 64
first = 1
bytes = 1_000_000
)"},
    {"permutation", "128 NICs, each sends 2 MB to one and gets 2 MB from one, 16 spines", R"(
[topology]
leaves = 8
hosts_per_leaf = 16
spines = 16
[[traffic]]
pattern = "permutation"
bytes = 2_000_000
)"},
    {"small", "8 NICs of 8 planes: a permutation of 500 KB, then a 3:1 incast; for --endpoint model or rtl", R"(
hang_us = 2000
[topology]
planes = 8
gbps = 100
leaves = 2
hosts_per_leaf = 4
spines = 4
[[traffic]]
pattern = "permutation"
bytes = 500_000
[[traffic]]
pattern = "incast"
to = "nic0"
nodes = 3
first = 3
bytes = 500_000
start_us = 20
)"},
    {"ring", "ring all-reduce of 16 MB over 16 NICs, each step waits for the one before", R"(
[topology]
planes = 4
gbps = 200
leaves = 4
hosts_per_leaf = 4
spines = 4
[[traffic]]
pattern = "ring"
bytes = 16_000_000
)"},
    {"alltoall", "16 NICs, each sends 1 MB to each other, two at a time", R"(
[topology]
planes = 4
gbps = 200
leaves = 4
hosts_per_leaf = 4
spines = 4
[[traffic]]
pattern = "alltoall"
bytes = 1_000_000
window = 2
)"},
    {"nccl", "a ring as a collectives library makes it: data, WRITEs of no bytes with immediate, a FIFO the other way",
     R"(
duration_us = 20_000
[topology]
profile = "spectrum"
planes = 4
gbps = 200
leaves = 4
hosts_per_leaf = 4
spines = 4
[[traffic]]
pattern = "nccl"
qps = 4
bytes = 16_744_448     # 4 KiB to 1 MiB on each of four QPs, twice
window = 4             # steps that the receiver has said a place for
class = 0
fifo_class = 1
[[event]]              # packets are lost: what an immediate says holds all the same
what = "link-loss"
link = "random-uplink"
at_us = 20
for_us = 100
count = 4
loss = 0.01
)"},
    {"training", "a training job: 64 ranks, ring all-reduce in two buckets beside compute, 10 steps", R"(
[topology]
planes = 8
gbps = 100
leaves = 8
hosts_per_leaf = 8
spines = 8
[[job]]
steps = 10
[[job.phase]]          # forwards: nothing is sent
compute_us = 50
jitter = 0.02
[[job.phase]]          # backwards: gradients are summed up as they are there
collective = "ring"
compute_us = 100
jitter = 0.02
bytes = 2_000_000
buckets = 2
)"},
    {"contrast", "a job of 64 ranks and failures at rates, 10 000 times life's: MRC in eight planes", R"(
sampling = false
duration_us = 300_000_000
hang_us = 5_000_000
[topology]
planes = 8
gbps = 100
leaves = 8
hosts_per_leaf = 8
spines = 8
evs = 64
backup_evs = 16
[[job]]
steps = 100
restart_us = 1_000_000 # RoCE: until QPs are set up anew; the step is done again
[[job.phase]]
collective = "ring"
compute_us = 20_000
jitter = 0.02
bytes = 1_000_000
[[event]]              # optics: from a flap to a second
what = "link-flap"
link = "random-nic"
per_hour = 10
for_us = 10
most_us = 1_000_000
[[event]]              # a cut bundle of fibres
what = "link-down"
link = "random-uplink"
bundle = 4
per_hour = 3
for_us = 1_000_000
[[event]]
what = "switch-reboot"
node = "random-T1"
per_hour = 3
for_us = 500_000
)"},
    {"contrast-no-trim", "the same with switches that drop what they cannot queue", R"(
base = "contrast"
[topology]
trim = false
)"},
    {"contrast-roce", "the same with RoCE: one port of 800 Gb/s, ECMP, routes that converge in 100 ms", R"(
base = "contrast"
transport = "roce"
roce_timeout_us = 4200
[topology]
planes = 1
gbps = 800
routing = "ecmp"
converge_us = 100_000
trim = false
evs = 16
backup_evs = 0
)"},
    {"contrast-three-tiers", "the same with RoCE in three tiers: 4 pods of 4 T0 and 4 T1, 16 T2", R"(
base = "contrast-roce"
[topology]
kind = "clos3"
leaves = 16
hosts_per_leaf = 4
spines = 4
pod_leaves = 4
cores = 16
)"},
    {"training-failures",
     "the same job while links flap and a T1 is lost now and then, 10 000 times as often as in life", R"(
base = "training"
[[event]]              # optics: from a flap to an exchange
what = "link-flap"
link = "random-nic"
per_hour = 10_000
for_us = 10
most_us = 3000
[[event]]              # a cut bundle of fibres
what = "link-down"
link = "random-uplink"
bundle = 4
per_hour = 3000
for_us = 1000
[[event]]
what = "switch-reboot"
node = "random-T1"
per_hour = 10_000
for_us = 200
)"},
    {"goodput-32k", "paper: WRITEs of 32 KB on 4 QPs, 800G in 8 planes", R"(
sample_us = 20
[topology]
planes = 8
gbps = 100
leaves = 2
hosts_per_leaf = 2
spines = 4
[[traffic]]
pattern = "flow"
from = "nic0"
to = "nic2"
bytes = 200_000_000
message = 32_768
qps = 4
outstanding = 64
)"},
    {"path-bypass", "paper: a link between T0 and T1 dies, and the switches do not notice", R"(
sample_us = 2
timeout = 4
reorder = 96
[topology]
planes = 2
gbps = 400
leaves = 2
hosts_per_leaf = 4
spines = 4
detect_us = 1_000_000
[[traffic]]
pattern = "permutation"
shift = 4
bytes = 100_000_000
[[event]]
what = "link-down"
link = "T0-0-0:T1-0-1"
at_us = 300
)"},
    {"plane-loss", "paper: one of the eight links of a NIC goes down, and comes back", R"(
sample_us = 5
[topology]
planes = 8
gbps = 100
leaves = 2
hosts_per_leaf = 2
spines = 2
detect_us = 5
[[traffic]]
pattern = "flow"
from = "nic0"
to = "nic2"
bytes = 200_000_000
message = 1_000_000
outstanding = 16
qps = 4
[[event]]
what = "link-down"
link = "nic0/3"
at_us = 500
for_us = 700
)"},
    {"plane-loss-4", "paper: four of the eight links of a NIC go down", R"(
base = "plane-loss"
[[event]]
what = "link-down"
link = "nic0/3"
at_us = 500
[[event]]
what = "link-down"
link = "nic0/0"
at_us = 500
[[event]]
what = "link-down"
link = "nic0/6"
at_us = 500
[[event]]
what = "link-down"
link = "nic0/5"
at_us = 500
)"},
    {"t0t1-links-down", "paper: 20 of 1024 links between T0 and T1 go down one after the other, unnoticed", R"(
sample_us = 10
timeout = 4
[topology]
planes = 8
gbps = 100
leaves = 8
hosts_per_leaf = 16
spines = 16
detect_us = 1_000_000
[[traffic]]
pattern = "permutation"
shift = 16
bytes = 100_000_000
[[event]]
what = "link-down"
link = "random-uplink"
at_us = 100
every_us = 40
count = 20
)"},
    {"bad-ev-20", "paper: one entropy value loses a fifth of its packets", R"(
sample_us = 5
[topology]
planes = 4
gbps = 100
leaves = 2
hosts_per_leaf = 2
spines = 4
evs = 32
backup_evs = 32
[[traffic]]
pattern = "flow"
from = "nic0"
to = "nic2"
bytes = 100_000_000
[[event]]
what = "bad-ev"
from = "nic0"
to = "nic2"
ev = 5
loss = 0.2
at_us = 300
)"},
    {"shared-ev",
     "paper: two flows that have an entropy value in common in each plane, whose link is too slow for both", R"(
sample_us = 10
common_evs = 1
[topology]
planes = 4
gbps = 100
uplink_gbps = 90
leaves = 2
hosts_per_leaf = 2
spines = 64
evs = 8
backup_evs = 0
[[traffic]]
pattern = "flow"
label = "first"
from = "nic0"
to = "nic2"
bytes = 50_000_000
[[traffic]]
pattern = "flow"
label = "second"
from = "nic1"
to = "nic3"
bytes = 50_000_000
)"},
    {"loss-0.1", "paper: one packet in a thousand is lost, 400G NIC", R"(
sample_us = 20
timeout = 5
[topology]
planes = 4
gbps = 100
leaves = 2
hosts_per_leaf = 2
spines = 4
[[traffic]]
pattern = "flow"
from = "nic0"
to = "nic2"
bytes = 100_000_000
message = 8_000_000
qps = 4
[[event]]
what = "link-loss"
link = "nic0/0"
loss = 0.001
[[event]]
what = "link-loss"
link = "nic0/1"
loss = 0.001
[[event]]
what = "link-loss"
link = "nic0/2"
loss = 0.001
[[event]]
what = "link-loss"
link = "nic0/3"
loss = 0.001
)"},
    {"loss-1", "paper: one packet in a hundred is lost, 400G NIC", R"(
base = "loss-0.1"
[[event]]
what = "link-loss"
link = "nic0/0"
loss = 0.01
[[event]]
what = "link-loss"
link = "nic0/1"
loss = 0.01
[[event]]
what = "link-loss"
link = "nic0/2"
loss = 0.01
[[event]]
what = "link-loss"
link = "nic0/3"
loss = 0.01
)"},
    {"incast-victim", "paper: seven NICs send to one, a neighbour of the receiver gets another flow", R"(
sample_us = 10
[topology]
planes = 4
gbps = 100
leaves = 4
hosts_per_leaf = 4
spines = 4
[[traffic]]
pattern = "incast"
to = "nic0"
nodes = 7
first = 4
victims = 1
victim_bytes = 60_000_000
bytes = 10_000_000
)"},
    {"permutation-400g", "paper: permutation of 32 NICs of 400G in 4 planes", R"(
[topology]
planes = 4
gbps = 100
leaves = 4
hosts_per_leaf = 8
spines = 8
[[traffic]]
pattern = "permutation"
bytes = 30_000_000
)"},
    {"roce-path-bypass", "contrast to path-bypass: NICs of one port, RoCE", R"(
base = "path-bypass"
transport = "roce"
[topology]
planes = 1
gbps = 800
routing = "ecmp"
)"},
    {"roce-plane-loss", "contrast to plane-loss: the only link of a NIC goes down, and comes back, RoCE", R"(
base = "plane-loss"
transport = "roce"
[topology]
planes = 1
gbps = 800
routing = "ecmp"
[[event]]
what = "link-down"
link = "nic0/0"
at_us = 500
for_us = 700
)"},
    {"roce-t0t1-links-down", "contrast to t0t1-links-down: the same share, 3 of 128 links, RoCE", R"(
base = "t0t1-links-down"
transport = "roce"
[topology]
planes = 1
gbps = 800
routing = "ecmp"
[[event]]
what = "link-down"
link = "random-uplink"
at_us = 100
every_us = 300
count = 3
)"},
    {"roce-bad-path-20", "contrast to bad-ev-20: the path loses a fifth of its packets, RoCE", R"(
base = "bad-ev-20"
transport = "roce"
[topology]
planes = 1
gbps = 400
routing = "ecmp"
spines = 1
uplink_gbps = 400
[[traffic]]
pattern = "flow"
from = "nic0"
to = "nic2"
bytes = 20_000_000
[[event]]
what = "link-loss"
link = "T0-0-0:T1-0-0"
loss = 0.2
at_us = 300
direction = "up"
)"},
    {"roce-shared-path", "contrast to shared-ev: two flows on one path of a NIC's rate, RoCE", R"(
base = "shared-ev"
transport = "roce"
[topology]
planes = 1
gbps = 400
uplink_gbps = 400
routing = "ecmp"
spines = 1
)"},
    {"roce-loss-0.1", "contrast to loss-0.1: RoCE", R"(
base = "loss-0.1"
transport = "roce"
[topology]
planes = 1
gbps = 400
routing = "ecmp"
[[event]]
what = "link-loss"
link = "nic0/0"
loss = 0.001
)"},
    {"roce-loss-1", "contrast to loss-1: RoCE", R"(
base = "roce-loss-0.1"
[[event]]
what = "link-loss"
link = "nic0/0"
loss = 0.01
)"},
    {"roce-incast-victim", "contrast to incast-victim: RoCE", R"(
base = "incast-victim"
transport = "roce"
[topology]
planes = 1
gbps = 400
routing = "ecmp"
ecn_to_nics = true
)"},
    {"roce-permutation-400g", "contrast to permutation-400g: RoCE", R"(
base = "permutation-400g"
transport = "roce"
[topology]
planes = 1
gbps = 400
routing = "ecmp"
ecn_to_nics = true
)"},
    {"mrc-131072", "the paper's fabric: 131 072 NICs of 8 x 100 Gb/s, four patterns, links, a plane and a T1 failing",
     R"(
sampling = false
duration_us = 100_000
[topology]             # 4096 T0 of 256 down and 256 up, 2048 T1 of 512 down
planes = 8
gbps = 100
leaves = 512
hosts_per_leaf = 256
spines = 256
evs = 64
backup_evs = 16
[[traffic]]
pattern = "permutation"
bytes = 200_000
[[traffic]]
label = "ring all-reduce in groups of 8"
pattern = "ring"
nodes = 8
groups = 0
stride = 2
bytes = 64_000
[[traffic]]
label = "all-to-all in groups of 8"
pattern = "alltoall"
nodes = 8
groups = 0
first = 1
stride = 16
bytes = 20_000
window = 2
[[traffic]]
label = "incast 16:1"
pattern = "incast"
nodes = 17
groups = 0
first = 3
stride = 60
bytes = 50_000
start_us = 2
[[event]]              # single NICs lose a plane
what = "link-down"
link = "random-nic"
at_us = 3
count = 20
every_us = 0.1
for_us = 200
[[event]]              # all of them do
what = "link-down"
link = "plane3"
at_us = 8
for_us = 10
[[event]]
what = "link-down"
link = "random-uplink"
at_us = 4
count = 20
every_us = 0.1
for_us = 200
[[event]]
what = "switch-reboot"
node = "random-T1"
at_us = 6
for_us = 20
)"},
    {"mrc-8192", "the same with 8192 NICs: T0 of 64 down and 64 up", R"(
base = "mrc-131072"
[topology]
leaves = 128
hosts_per_leaf = 64
spines = 64
)"},
    {"three-tiers", "the contrast to mrc-131072: 65 536 NICs of 800 Gb/s, RoCE, three tiers of 64-port switches", R"(
transport = "roce"
sampling = false
duration_us = 100_000
[topology]             # 64 pods of 32 T0 and 32 T1, 1024 T2: all that 64 ports allow
kind = "clos3"
routing = "ecmp"
radix = 64
trim = false
evs = 16
backup_evs = 0
[[traffic]]
pattern = "permutation"
bytes = 100_000
)"},
    {"mrc-1024", "the same with 1024 NICs: T0 of 32 down and 32 up", R"(
base = "mrc-131072"
[topology]
leaves = 32
hosts_per_leaf = 32
spines = 32
)"},
};

}  // namespace

std::span<const ShippedScenario> shipped_scenarios() { return kShipped; }

}  // namespace mrc::sim
