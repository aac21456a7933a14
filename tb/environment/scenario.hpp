// SPDX-License-Identifier: Apache-2.0
/// What a run does, as data: one table of keys, one table of scenarios, the same keys in TOML files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gen/presets.hpp"
#include "input/toml.hpp"

namespace mrc::tb {

/// What a link does to frames. Probabilities per frame.
struct Impairment {
  double loss = 0;       ///< the frame disappears
  double trim = 0;       ///< a switch cuts a data frame (not control: those are lost instead at the same rate / 8)
  double lasthop = 0;    ///< share of the trimmed ones that carry the last hop's code point
  double ecn = 0;        ///< data frames and reliability probes marked CE
  double corrupt = 0;    ///< bits flipped
  double duplicate = 0;  ///< delivered twice
  double rogue = 0;      ///< followed by an altered copy with a right ICRC that must have no effect
  double reorder = 0;    ///< delayed by up to reorder_ns more than others
  double penalty = 0;    ///< SACKs as another make of responder would send them: with a window penalty or its end
  double no_bytes =
      0;  ///< WRITEs of one packet that lose their payload, as no requestor of ours sends them; ICRC right
};

/// Another impairment for some of the frames. The first rule that fits counts.
struct LinkRule {
  uint32_t planes = ~0u;  ///< mask
  double ev_share = 1;    ///< share of the entropy values, chosen by hash
  bool to_peer = true, to_dut = true;
  double from_us = 0, until_us = 1e12;  ///< of traffic time
  Impairment what;
  input::Source source = {};  ///< of a rule from a file
};

/// Everything a run is made of, apart from preset, seed and number of packets. All numbers are kept as double, so
/// that one table describes them; 0 means "as the preset allows" where it says so.
struct Scenario {
  std::string name, description;

  // traffic
  double qps = 0;                           ///< QPs in use; 0 = all
  double dut_sends = 1;                     ///< the device under test sends
  double peer_sends = 1;                    ///< the peer sends
  double outstanding = 0;                   ///< WQEs a QP has posted at once; 0 = min(WqeDepth, 16)
  double size_min = 1, size_max = 65536;    ///< bytes of a message, drawn evenly on a logarithmic scale
  double small_share = 0.1;                 ///< messages of 1 to 64 bytes
  double exact_share = 0.1;                 ///< messages of whole MTUs
  double aligned_share = 0.3;               ///< both addresses multiples of 64
  double imm_share = 0.2;                   ///< WRITE with immediate
  double wqe_gap = 0;                       ///< cycles between WQEs, on average
  double mtu_min = 0, mtu_max = 4;          ///< path MTU 256 << m
  double srv6_share = 0.5, ts_share = 0.5;  ///< QPs with SRv6 and with TSETH
  double srh_share = 0.2;                   ///< of the QPs with SRv6: those with a routing header
  double udp_share = 0.1;                   ///< of the QPs without: those with 16-bit entropy values in the UDP port
  double generated = 0.3;                   ///< EV profiles that the NIC fills itself (AUTO, GENERATED)
  double mpr = 0;                           ///< window in units of 128 PSNs; 0 = MaxMpr
  double peer_mpr = 0;                      ///< window of the peer's QPs if it shall differ
  double wrap_share = 0.5;                  ///< QPs whose PSN, MSN and RQMSN start just before their wrap
  double msn_zero = 0;                      ///< 1: MSN and RQMSN start at 0
  double bad_wqes = 0;                      ///< share of WQEs that the requestor must refuse (length 0; unused QP)
  double bad_access = 0;                    ///< QPs on which a message leaves its memory region after a while
  double may_fail = 0;                      ///< 1: retries may end, QPs may fail: no completion but the right one
  double rounds = 1;                        ///< after each but the last, failed QPs and some others are connected anew
  /// WRITEs with immediate outstanding at the requestor, at the responder; no more than MaxWimm; 0: none.
  double max_wimm = 32, max_wimm_dest = 32;

  // congestion control
  double cc_share = 0;   ///< QPs with a congestion controller
  double dests = 1;      ///< destinations that the QPs are spread over (addresses of the one peer)
  double cc_rtt_ns = 0;  ///< base_rtt of the controllers; 0 = what the links make of it
  // words of CC_PROFILE that hold open choices (docs/assumptions.md); 0 where it is no switch: the default
  double cc_disable_qa = 0, cc_md_resets_fast = 1, cc_nack_any_reason = 0, cc_nack_sample_cfg = 0, cc_nack_rtt = 1;
  double cc_ar_shift = 3;
  double cc_fi = 0, cc_alpha = 0, cc_rate_gbps = 0, cc_qa_threshold_ns = 0;
  double cc_mtu = 0, cc_eta = 0, cc_adjust_ns = 0, cc_near_zero_ns = 1000, cc_ewma_weight = 0.0125;

  // links
  Impairment link;
  double delay_ns = 500, jitter_ns = 0;  ///< each way
  double skew_ns = 0;                    ///< constant extra delay of an entropy value, 0 to this, by hash
  double reorder_ns = 2000;
  double trim_size = 0;     ///< bytes left of a trimmed frame; 0 = 128, 206, 256 or 4084 at random
  double trim_lengths = 0;  ///< length fields a trimming switch rewrites: 0 none, 1 the outermost IP's, 2 all
  double mac_errors = 0.2;  ///< share of the corrupted frames whose FCS tells
  std::vector<LinkRule> rules;

  // host
  double read_ns = 0, read_jitter_ns = 0;  ///< latency of host memory reads; both 0 = what the preset's prefetch hides
  double stall = 0;                        ///< cycles in which the host does not take a read, a write, a completion
  double pause = 0;                        ///< long pauses of host writes per microsecond
  double pause_ns = 1000;
  double cqe_pause = 0;  ///< times per microsecond that it takes no completions for long
  double cqe_pause_ns = 5000;

  // registers
  double rto = 4;  ///< timer 1.024 us x 2^rto
  double retry_exp = 25;
  double same_ev = 0;
  double svc_share = 0.3;  ///< QPs with the capability SVC_TIME
  double dyn_mpr = 0;      ///< 1: dynamic MPR, changed at random while traffic runs
  double move_mpr = 0;     ///< 1: changed at random even without it: the requestor does not hear of it
  double ep_ticks = 781;   ///< register EP_CTL
  double rev_probe = 1;    ///< the same
  double ep_repeats = 15;  ///< the same
  double rev_seed = 1;     ///< register REV_SEED
  double err_silent = 0, rtt_rtx = 0, rev_fixed = 0, ack_plane = 0, nominal = 0, ports_from_0 = 0;
  double bth_m_high = 1, eeth_op_high = 0, tsr_us = 0, pdcid_zero = 0;
  double ack_with_sack = 0, zero_drop = 0, skip_twice = 0, icrc_outer = 0, trim_silent = 0;
  double state_silent = 0;
  double skip_good = 0, probe_successes = 3, probe_cap = 6, probe_keep = 0;  ///< register EV_PROBE
  double probe_kind = 0;  ///< the same
  double nak_invalid = 0x61, nak_access = 0x62;                              ///< register NAK_CODE
  double dscp_data = 4, dscp_rtx = 8, dscp_ctl = 46;                         ///< register DSCP_TX
  double dscp_trimmed = 12, dscp_lasthop = 16;  ///< register DSCP_TRIM, and what switches write
  double srv6_plane_lsb = 12, srv6_uplink_usid = 0, srv6_uplink_lsb = 0, srv6_uplink_bits = 0;  ///< register SRV6
  double ack_gap = 16, ar_gap = 32;  ///< register ACK_CTL, cycles
  double reorder_pkts = 64;
  double backup = 0, min_active = 8, probe_ticks = 781,
         retry_linear = 7;  ///< groups of backup EVs; registers EV_CTL, EV_PROBE; retries of QP_CTX
  double sack_trigger = 16384;
  double sack_base_self = 0, oor_drop = 0, trim_nack = 1, ev_swap = 0, bth_m = 0;
  double udp_port = 4791, udp_only = 0;  ///< register UDP_PORT
  double peer_port = 0;                  ///< UDP_PORT.port of the peer if it shall differ
  double ip_plane = 0, ip_plane_lsb = 64;  ///< register IP_PLANE
  double vary = 0;        ///< 1: draw the switches of CTRL, UDP_PORT, IP_PLANE, probe_kind, ack_gap, rev_seed and SRV6 from the seed
  double csr_gap = 2000;  ///< cycles between register accesses during traffic; 0 = none
  double churn = 0;       ///< share of them that write rows of tables
  double flap_us = 0, flap_down_us = 20;  ///< a port of the device goes down this often, for so long
  double peer_flap = 0;                   ///< 1: the peer's ports as well
  double cut_planes = 0;                  ///< so many ports of the device go down at cut_us and come back at back_us
  double cut_us = 50, back_us = 0;        ///< 0: never
  double control = 0;  ///< share of the register accesses that are a controller's: EVs denied, probed

  double hang_us = 0;  ///< no progress for so long is a hang; 0 = 40 timer intervals

  input::Source source;  ///< of a scenario from a file
};

/// One key of a scenario: all are numbers.
using ScenarioKey = input::Key<Scenario>;
std::span<const ScenarioKey> scenario_keys();

/// The built-in scenarios.
const std::vector<Scenario>& scenarios();
const Scenario* find_scenario(std::string_view name);

/// Why a scenario cannot be used.
using ScenarioError = mrc::InputError;

/// Sets a key; throws ScenarioError for an unknown key or a value out of range. `where` begins the sentence.
void set_key(Scenario& scenario, std::string_view key, double value, const std::string& where);

/// A scenario from TOML text. `base = "name"` starts from a built-in one, otherwise from the defaults (as `clean`).
/// Throws ScenarioError.
Scenario parse_scenario(std::string_view toml, const std::string& file);
/// What only shows together with a preset: throws ScenarioError when a rule names a plane that the preset has not.
void check(const Scenario& scenario, const Preset& preset);
/// The file that parse_scenario makes the same scenario of; with a preset, without the rules of planes that it has not.
std::string scenario_toml(const Scenario& scenario, const Preset* preset = nullptr);
/// Reads and parses a file. Throws ScenarioError, also when the file cannot be read.
Scenario load_scenario(const std::string& file);

}  // namespace mrc::tb
