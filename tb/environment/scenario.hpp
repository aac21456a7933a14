// SPDX-License-Identifier: Apache-2.0
/// What a run does, as data: one table of keys, and TOML files with these keys. The built-in scenarios are such files,
/// tb/scenarios/*.toml, and in the program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gen/fabric_profiles.hpp"
#include "gen/presets.hpp"
#include "input/toml.hpp"
#include "tb/gen/switches.hpp"

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
      0;  ///< WRITEs of one packet that lose their payload or its length; ICRC right, nobody may take them
  double return_share = 0;   ///< of the data frames lost or trimmed: a switch sends them back to who sent them, trimmed
  double return_swap = 0;    ///< of those: the switch exchanges the addresses
  double return_marked = 0;  ///< of those: with the code point of returned ones, if the NICs know one
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

/// A field of a register that software writes before traffic, "DSCP_TX.data", and its value.
struct RegisterSetting {
  std::string field;
  uint32_t value = 0;
};

/// Everything a run is made of, apart from preset, seed and number of packets. Numbers may be 0 for "as the preset
/// allows" where it says so. The switches of register CTRL are generated.
struct Scenario : Switches {
  static constexpr uint32_t kAsData = 64;  ///< of a code point: that of data
  std::string name, description;

  // traffic
  uint32_t qps = 0;                         ///< QPs in use; 0 = all
  bool dut_sends = true;                    ///< the device under test sends
  bool peer_sends = true;                   ///< the peer sends
  uint32_t outstanding = 0;                 ///< WQEs a QP has posted at once; 0 = min(WqeDepth, 16)
  uint32_t size_min = 1, size_max = 65536;  ///< bytes of a message, drawn evenly on a logarithmic scale
  double small_share = 0.1;                 ///< messages of 1 to 64 bytes
  double exact_share = 0.1;                 ///< messages of whole MTUs
  double aligned_share = 0.3;               ///< both addresses multiples of 64
  double imm_share = 0.2;                   ///< WRITE with immediate
  double zero_share = 0;                    ///< messages of no bytes
  uint32_t signal_every =
      0;                  ///< after so many WRITEs of a QP a WRITE with immediate of no bytes, as collectives signal
  uint32_t fifo_qps = 0;  ///< QPs, the last ones, whose messages all have 64 bytes; their class is one of their own
  double own_class = 0;   ///< QPs with a class of their own
  double qpn_share = 0;   ///< QPs of whose QPNs the upper bits are not 0
  double wqe_gap = 0;     ///< cycles between WQEs, on average
  uint32_t mtu_min = 0, mtu_max = 4;        ///< path MTU 256 << m
  double srv6_share = 0.5, ts_share = 0.5;  ///< QPs with SRv6 and with TSETH
  double srh_share = 0.2;                   ///< of the QPs with SRv6: those with a routing header
  double udp_share = 0.1;                   ///< of the QPs without: those with 16-bit entropy values in the UDP port
  double generated = 0.3;                   ///< EV profiles that the NIC fills itself (AUTO, GENERATED)
  uint32_t mpr = 0;                         ///< window in units of 128 PSNs; 0 = MaxMpr
  uint32_t peer_mpr = 0;                    ///< window of the peer's QPs if it shall differ
  double wrap_share = 0.5;                  ///< QPs whose PSN, MSN and RQMSN start just before their wrap
  bool msn_zero = false;                    ///< 1: MSN and RQMSN start at 0
  double bad_wqes = 0;                      ///< share of WQEs that the requestor must refuse (length 0; unused QP)
  uint32_t bad_access = 0;                  ///< QPs on which a message leaves its memory region after a while
  bool may_fail = false;                    ///< 1: retries may end, QPs may fail: no completion but the right one
  uint32_t rounds = 1;                      ///< after each but the last, failed QPs and some others are connected anew
  uint32_t lives = 1;                       ///< after each but the last, both NICs are reset by their pins
  double life_us = 20;                      ///< mean time from the begin of a life's traffic to its reset
  uint32_t reset_cycle = 0;                 ///< cycle of traffic in which each life but the last ends; 0: drawn
  double same_psns = 0;                     ///< share of the lives that begin with the PSNs of the one before
  double alone = 0;        ///< share of the resets that befall one NIC; software resets the QPs of the other
  double by_software = 0;  ///< share of the others that software does, no pin: all QPs of both NICs, at L0 also one
  /// WRITEs with immediate outstanding at the requestor, at the responder; no more than MaxWimm; 0: none.
  uint32_t max_wimm = 32, max_wimm_dest = 32;
  uint32_t wimm_extra = 0;  ///< WRITEs with immediate posted beyond max_wimm, if requestors let them wait

  // congestion control
  double cc_share = 0;   ///< QPs with a congestion controller
  uint32_t dests = 1;    ///< destinations that the QPs are spread over (addresses of the one peer)
  double cc_rtt_ns = 0;  ///< base_rtt of the controllers; 0 = what the links make of it
  // words of CC_PROFILE that hold open choices (docs/protocol/assumptions.md); 0 where it is no switch: the default
  bool cc_disable_qa = false, cc_md_resets_fast = true, cc_nack_any_reason = false, cc_nack_sample_cfg = false,
       cc_nack_rtt = true;
  uint32_t cc_ar_shift = 3;
  double cc_fi = 0, cc_alpha = 0, cc_rate_gbps = 0, cc_qa_threshold_ns = 0;
  uint32_t cc_mtu = 0;
  double cc_eta = 0, cc_adjust_ns = 0, cc_near_zero_ns = 1000, cc_ewma_weight = 0.0125;

  // links
  Impairment link;
  double delay_ns = 500, jitter_ns = 0;  ///< each way
  double skew_ns = 0;                    ///< constant extra delay of an entropy value, 0 to this, by hash
  double reorder_ns = 2000;
  double never_arrive = 0;               ///< data packets that links lose whenever they are sent
  double fuzz_us = 0, fuzz_for_us = 20;  ///< the peer forges frames this often, for so long; 0: never
  double fuzz_flood = 0.2;               ///< of those times: one kind at line rate
  uint32_t trim_size = 0;                ///< bytes left of a trimmed frame; 0 = 128, 206, 256 or 4084 at random
  uint32_t trim_lengths = 0;  ///< length fields a trimming switch rewrites: 0 none, 1 the outermost IP's, 2 all
  double mac_errors = 0.2;    ///< share of the corrupted frames whose FCS tells
  std::vector<LinkRule> rules;

  // host
  double read_ns = 0, read_jitter_ns = 0;  ///< latency of host memory reads; both 0 = what the preset's prefetch hides
  double stall = 0;                        ///< cycles in which the host does not take a read, a write, a completion
  double pause = 0;                        ///< long pauses of host writes per microsecond
  double pause_ns = 1000;
  double cqe_pause = 0;  ///< times per microsecond that it takes no completions for long
  double cqe_pause_ns = 5000;
  double read_errors = 0, write_errors = 0;  ///< lines that it cannot read, packets that it cannot write

  // registers
  uint32_t rto = 4;  ///< timer 1.024 us x 2^rto
  uint32_t retry_exp = 25;
  bool same_ev = false;
  double svc_share = 0.3;    ///< QPs with the capability SVC_TIME
  bool dyn_mpr = false;      ///< 1: dynamic MPR, changed at random while traffic runs
  bool move_mpr = false;     ///< 1: changed at random even without it: the requestor does not hear of it
  uint32_t ep_ticks = 781;   ///< register EP_CTL
  bool rev_probe = true;     ///< the same
  uint32_t ep_repeats = 15;  ///< the same
  uint32_t rev_seed = 1;     ///< register REV_SEED
  bool skip_good = false;
  uint32_t probe_successes = 3, probe_cap = 6;
  bool probe_keep = false;
  uint32_t probe_kind = 0;                              ///< register EV_PROBE
  uint32_t nak_invalid = 0x61, nak_access = 0x62;       ///< register NAK_CODE
  uint32_t dscp_data = 4, dscp_rtx = 8, dscp_ctl = 46;  ///< register DSCP_TX
  uint32_t dscp_ep = kAsData;                           ///< the same, of endpoint requests
  uint32_t dscp_trimmed = 12, dscp_lasthop = 16;        ///< register DSCP_TRIM, and what switches write
  uint32_t dscp_returned = 20;                          ///< the same, if dscp_returned_valid
  bool dscp_returned_valid = false;
  uint32_t skip_ticks = 94;                                                                       ///< register EV_CTL
  uint32_t loss_share = 0;                                                                        ///< the same
  bool one_copy = false;                                                                          ///< the same
  bool bad_waits = false;                                                                         ///< the same
  bool lost_stays = false;                                                                        ///< the same
  uint32_t srv6_plane_lsb = 12, srv6_uplink_usid = 0, srv6_uplink_lsb = 0, srv6_uplink_bits = 0;  ///< register SRV6
  uint32_t ack_gap = 16, ar_gap = 32;  ///< register ACK_CTL, cycles
  uint32_t reorder_pkts = 64;
  uint32_t backup = 0, min_active = 8, probe_ticks = 781,
           retry_linear = 7;  ///< groups of backup EVs; registers EV_CTL, EV_PROBE; retries of QP_CTX
  uint32_t sack_trigger = 16384;
  bool share = false;  ///< registers SHARE, SHARE_DRAIN
  uint32_t share_epoch = 7, share_least = 4, share_trims = 24, share_pen = 8, share_drain = 1u << 20;
  bool trim_nack = true;
  uint32_t udp_port = 4971;
  bool udp_only = false;   ///< register UDP_PORT
  uint32_t peer_port = 0;  ///< UDP_PORT.port of the peer if it shall differ
  bool ip_plane = false;
  uint32_t ip_plane_lsb = 64;  ///< register IP_PLANE
  /// 1: draw the switches of CTRL, UDP_PORT, IP_PLANE, probe_kind, ack_gap, rev_seed and SRV6 from the seed.
  bool vary = false;
  double csr_gap = 2000;                   ///< cycles between register accesses during traffic; 0 = none
  double churn = 0;                        ///< share of them that write rows of tables
  double ecc = 0, ecc_two = 0;             ///< share of them that inject errors into memories, of these the double ones
  double ended = 0;                        ///< share of them that put a QP in use into ERROR
  double flap_us = 0, flap_down_us = 20;   ///< a port of the device goes down this often, for so long
  bool peer_flap = false;                  ///< 1: the peer's ports as well
  double stand_us = 0, stand_for_us = 20;  ///< a port of the device takes no beat this often, for so long
  uint32_t stand_ports = 8;                ///< only ports below it
  uint32_t port_stall = 7813;              ///< register PORT_STALL
  uint32_t cut_planes = 0;                 ///< so many ports of the device go down at cut_us and come back at back_us
  double cut_us = 50, back_us = 0;         ///< 0: never
  double control = 0;  ///< share of the register accesses that are a controller's: EVs denied, probed

  double hang_us = 0;  ///< no progress for so long is a hang; 0 = 40 timer intervals

  /// Of both NICs, whatever keys and seed say: what a profile of a fabric sets. Not in scenario files.
  std::vector<RegisterSetting> registers;
  /// Code points of data and of retransmissions that QPs with a class of their own may have; none: any that are free.
  std::vector<std::pair<unsigned, unsigned>> classes;

  input::Source source;  ///< of a scenario from a file
};

/// One key of a scenario: a switch, a whole number or a real one, as its field.
using ScenarioKey = input::Key<Scenario>;
std::span<const ScenarioKey> scenario_keys();

/// The built-in scenarios, in the order of tb/CMakeLists.txt. Throws ScenarioError when one of the files is wrong.
const std::vector<Scenario>& scenarios();
const Scenario* find_scenario(std::string_view name);

/// Why a scenario cannot be used.
using ScenarioError = mrc::InputError;

/// Puts both NICs into a fabric that its operator has set up so: registers, classes, what switches leave of a trimmed
/// frame. It holds over keys and seed.
void on_fabric(Scenario& scenario, const FabricProfile& profile);

/// Sets a key (a switch: 0 or 1); throws ScenarioError for an unknown key or a value out of range. `where` begins the
/// sentence.
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
