// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/bugs.hpp"

#include <string>

namespace mrc::tb {
namespace {

constexpr Bug kBugs[] = {
    {1, "tx-window-plus-one", "tx_segment", "the window accepts one PSN too many before it stops", "asic800", "window"},
    {2, "retx-without-rtx", "tx_segment", "retransmissions do not say so", "tiny", "loss"},
    {3, "wrong-row", "tx_segment", "the second row of a burst is the first one's again", "tiny", "mixed"},
    {4, "walk-key-stuck", "tx_path", "the walk over the EVs is the same in every pass", "tiny", "clean"},
    {5, "skip-ignored", "tx_path", "an EV in SKIP is used at once", "tiny", "ecn"},
    {6, "ev-stuck", "tx_path", "the walk forgets which planes of a group were used", "tiny", "clean"},
    {7, "second-row-ignored", "tx_inflight", "a SACK's second block of 16 PSNs is ignored", "tiny", "long"},
    {8, "nack-plus-one", "tx_inflight", "a NACK marks the PSN after the one it names", "tiny", "trim"},
    {9, "no-reorder-tolerance", "tx_inflight", "any gap below the highest PSN counts as lost", "tiny", "long"},
    {10, "una-off-by-one", "tx_inflight", "the oldest unacknowledged PSN is one too small", "tiny", "clean"},
    {11, "icrc-mask", "tx_header", "BTH byte 4 counts as 0 in the ICRC", "tiny", "clean"},
    {12, "rtx-bit-missing", "tx_header", "the rtx bit of the BTH is never set", "tiny", "loss"},
    {13, "pad-in-crc", "tx_lane", "pad bytes count as 0xFF in the ICRC", "tiny", "mixed"},
    {14, "line-used-twice", "tx_lane", "the last host line stays when a packet ends at its end", "tiny", "clean"},
    {15, "rx-buffer-overflow", "rx_lane", "the receive buffer takes a packet that does not fit", "tiny", "slow-host"},
    {16, "icrc-24-bits", "rx_lane", "the ICRC's top byte is not compared", "tiny", "corrupt"},
    {17, "ce-lost", "rx_lane", "ECN marks are not seen", "tiny", "ecn"},
    {18, "done-too-early", "rx_reorder", "data count as written before the host took them", "tiny", "slow-host"},
    {58, "done-out-of-turn", "rx_place", "a packet without data is done before the one ahead of it", "tiny",
     "late-data"},
    {19, "bounds-first-byte", "rx_check", "only the first byte of a packet is checked against its region", "tiny",
     "refused"},
    {20, "pkey-unchecked", "rx_check", "foreign P_Keys are accepted", "tiny", "corrupt"},
    {21, "rx-window-plus-one", "rx_track", "the responder's window is one PSN too large", "fpga100", "window"},
    {22, "duplicate-unchecked", "rx_track", "a packet above cack_psn is taken again", "tiny", "corrupt"},
    {23, "bitmap-shifted", "rx_track", "SACK bitmaps are shifted by one", "tiny", "reorder"},
    {24, "timestamp-zero", "rx_track", "the time stamp is not reflected", "tiny", "mixed"},
    {25, "cack-short", "rx_track", "cack_psn stops before the end of a row", "tiny", "reorder"},
    {26, "immediate-overtakes", "rx_reorder", "an immediate is delivered before earlier data", "tiny", "immediate"},
    {27, "sack-base", "ack_gen", "the SACK bitmap base is one too small", "tiny", "clean"},
    {28, "rcvd-bytes-down", "ack_gen", "rcvd_bytes is rounded down", "tiny", "mixed"},
    {29, "backup-of-next-plane", "tx_path", "a bad EV is replaced by a backup of the next plane", "tiny", "bad-ev"},
    {30, "probe-count-kept", "tx_probe", "a failed probe does not start the count again", "tiny", "bad-ev"},
    {31, "probe-on-plane-0", "tx_probe", "probes go out on plane 0", "tiny", "bad-ev"},
    {32, "flush-stops-early", "tx_segment", "the last work request of a failed QP is not flushed", "tiny", "refused"},
    {33, "retry-not-reset", "tx_inflight", "progress does not reset the retry counter", "tiny", "rto"},
    {34, "refused-qp-sends", "tx_segment", "a QP that congestion control refuses sends all the same", "tiny",
     "incast-trim"},
    {35, "wake-forgotten", "tx_sched", "a wake that overtakes the refused QP is forgotten", "tiny", "penalty"},
    {36, "refused-rtx-forgotten", "tx_inflight", "a retransmission that congestion control refuses is forgotten",
     "tiny", "incast-trim"},
    {37, "nack-keeps-flight", "tx_inflight", "a refused packet's bytes stay in flight", "tiny", "incast-trim"},
    {38, "same-ev-any", "tx_inflight", "any EV's later packet tells a loss, not only the same EV's", "tiny",
     "many-peers"},
    {39, "no-buffer-no-resource", "rx_lane", "want of buffer is told as want of another resource", "tiny", "slow-host"},
    {40, "error-state-receives", "rx_check", "a QP in ERROR receives as in RTS", "tiny", "qp-error"},
    {41, "no-bitmap-as-oor", "rx_track", "what a shrunk window refuses is told as out of the window", "fpga100",
     "dynamic-mpr"},
    {42, "mpr-never-shrinks", "rx_track", "the responder's window does not shrink", "fpga100", "dynamic-mpr"},
    {43, "wimm-plus-one", "rx_reorder", "one immediate more than max_wimm_dest is accepted", "tiny", "qp-error"},
    {44, "peer-ports-ignored", "tx_path", "ports that the peer has lost are used", "tiny", "link-flap"},
    {45, "denied-ev-used", "tx_path", "an EV that the controller denied is used", "tiny", "dynamic-mpr"},
    {46, "generated-ev-runs-on", "tx_path", "numbers of generated EVs do not go round after the last", "tiny",
     "many-qps"},
    {47, "srh-template", "tx_header", "the routing header names the template, not the destination", "tiny", "trim"},
    {48, "reverse-ev-of-plane-0", "ack_gen", "answers on every plane take the EV of plane 0", "tiny", "mixed"},
    {49, "ports-told-once", "endpoint", "an update of the ports is not repeated", "tiny", "link-flap"},
    {50, "any-response-counts", "endpoint", "an overtaken response ends the newest update", "tiny", "link-flap"},
    {51, "port-mask-shifted", "endpoint", "the peer's port mask is taken one bit off", "tiny", "link-flap"},
    {52, "error-to-rts", "csr", "a QP in ERROR may go to RTS without RESET", "tiny", "qp-error"},
    {53, "row-given-back-stays", "rx_track", "a row of PSNs that is given back stays in the map", "tiny", "reorder"},
    {54, "newer-ack-forgotten", "ack_gen", "what a QP completes while its ACK waits is forgotten", "tiny", "many-qps"},
    {55, "rest-of-grant-kept", "tx_segment", "what is left of a controller's grant is not returned", "tiny",
     "incast-trim"},
    {56, "block-given-twice", "tx_inflight", "the last block that a QP gives back comes back once more", "tiny",
     "clean"},
    {57, "rtx-not-spared", "tx_inflight", "the timer takes what was sent again a moment ago for lost", "tiny", "rto"},
    {59, "state-probe-id", "ack_gen", "the question for a peer's state has the id of a SACK that answers nothing",
     "tiny", "rto"},
    {60, "loss-told-twice", "tx_inflight", "what left the flight with all others is told again, packet by packet",
     "tiny", "retry-exhaust"},
    {61, "old-sack-judges", "tx_inflight", "a SACK that was overtaken judges by what a newer one told", "tiny", "soak"},
    {62, "walk-ends-early", "tx_path", "a walk ends with the pass in which it began", "tiny", "bad-ev"},
    {63, "slot-for-good", "tx_probe", "an EV that stays bad keeps its probe slot", "tiny", "probe-revive"},
    {90, "gain-doubled", "cc_nscc", "the window's proportional gain is shifted by a bit too few", "tiny",
     "incast-trim"},
    {91, "penalty-saves-again", "cc_nscc", "each penalty saves the window, not only the first", "tiny", "penalty"},
    {92, "decrease-too-soon", "cc_nscc", "the window decreases again after half a round trip", "tiny", "incast-trim"},
    {93, "ignore-one-more", "cc_nscc", "after quick adapt a packet too many is ignored", "tiny", "incast-trim"},
    {94, "no-wake", "cc_nscc", "a QP that waits for the window is not woken", "tiny", "incast-trim"},
};

}  // namespace

std::span<const Bug> bugs() { return kBugs; }

const Bug* find_bug(std::string_view name) {
  for (const Bug& bug : kBugs) {
    if (name == bug.name || name == std::to_string(bug.number)) return &bug;
  }
  return nullptr;
}

}  // namespace mrc::tb
