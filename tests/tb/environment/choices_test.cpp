// SPDX-License-Identifier: Apache-2.0
// Both settings of every open choice (docs/protocol/assumptions.md), RTL and model in lockstep. Each test case carries
// the id of its assumption as a tag: tools/assumptions.py looks for it. A setting that nobody reads, or that no traffic
// of the run meets, leaves the event log as it was: then the test fails.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <initializer_list>
#include <string>
#include <utility>

#include "gen/streams.hpp"
#include "tb/compare/report.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::choices_test {

using namespace mrc::tb;

namespace {

struct Key {
  const char* name;
  double value;
};

struct Both {
  CosimResult first, second;
};

using Keys = std::initializer_list<Key>;

/// `rules_ecn`: marks under the last rule of the scenario.
CosimResult run_with(const char* scenario, Keys keys, Key last, uint64_t packets, const char* preset, uint64_t seed) {
  CosimOptions o = short_run(preset, scenario, packets, seed);
  o.window_events = 1u << 15;
  o.scenario.vary = 0;
  const auto set = [&](const Key& key) {
    if (key.name == std::string("rules_ecn")) {
      o.scenario.rules.back().what.ecn = key.value;
    } else {
      set_key(o.scenario, key.name, key.value, "test");
    }
  };
  for (const Key& key : keys) set(key);
  set(last);
  use_rtl(o);
  return run_cosim(o);
}

/// Runs `scenario` (with the keys `also` on top) with both values of `key`: both must pass, and must not be the same
/// run with every one of some seeds (not every short run has the traffic that a setting is about).
Both both(const char* scenario, const char* key, double a, double b, Keys also = {}, uint64_t packets = 500,
          const char* preset = "tiny") {
  constexpr uint64_t kFirstSeed = 21, kSeeds = 12;
  Both r;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    r = {run_with(scenario, also, {key, a}, packets, preset, seed),
         run_with(scenario, also, {key, b}, packets, preset, seed)};
    for (const CosimResult* one : {&r.first, &r.second}) {
      INFO(scenario << " with " << key << " = " << (one == &r.first ? a : b) << ": " << one->problem << one->error
                    << failure_text({}, *one));
      REQUIRE(one->outcome == Outcome::Pass);
    }
    if (r.first.event_hash != r.second.event_hash) return r;
  }
  INFO(scenario << ": nothing depends on " << key);
  CHECK(r.first.event_hash != r.second.event_hash);
  return r;
}

uint64_t nacks(const CosimResult& r) {
  uint64_t n = 0;
  for (const PlaneCounters& p : r.dut.planes) n += p.tx_nack;
  return n;
}
uint64_t sacks(const CosimResult& r) {
  uint64_t n = 0;
  for (const PlaneCounters& p : r.dut.planes) n += p.tx_sack;
  return n;
}
uint64_t acks(const CosimResult& r) {
  uint64_t n = 0;
  for (const PlaneCounters& p : r.dut.planes) n += p.tx_ack;
  return n;
}

}  // namespace

TEST_CASE("the UDP port, either one; the other one is received, too, unless that is restricted",
          "[tb][choices][A-01]") {
  both("mixed", "udp_port", 4971, 4791);
  both("mixed", "peer_port", 0, 4791);
  // A NIC that is restricted drops copies of frames to the other port.
  const Both r = both("corrupt", "udp_only", 0, 1, {{"rogue", 0.5}});
  CHECK(r.first.dut.counters.drop_parse < r.second.dut.counters.drop_parse);
}

TEST_CASE("M of the BTH, set or not, in bit 6 or 7", "[tb][choices][A-02]") {
  both("mixed", "bth_m", 0, 1);
  both("mixed", "bth_m_high", 0, 1, {{"bth_m", 1}});
}

TEST_CASE("halves of the entropy value, either order", "[tb][choices][A-03]") {
  // Listed profiles of 32-bit values: their EVs are the same in both runs.
  both("mixed", "ev_swap", 0, 1, {{"generated", 0}, {"udp_share", 0}});
}

TEST_CASE("code points are those of the registers", "[tb][choices][A-04]") {
  both("trim", "dscp_data", 4, 5);
  both("trim", "dscp_rtx", 8, 9);
  both("trim", "dscp_ctl", 46, 47);
  // Switches write the same ones: nothing changes, and without the register the packets would count as corrupt.
  for (const char* key : {"dscp_trimmed", "dscp_lasthop"}) {
    const CosimResult usual = run_with("trim", {}, {"lasthop", 0.5}, 500, "tiny", 21);
    const CosimResult other = run_with("trim", {{"lasthop", 0.5}}, {key, 33}, 500, "tiny", 21);
    INFO(key);
    CHECK(usual.outcome == Outcome::Pass);
    CHECK(other.outcome == Outcome::Pass);
    CHECK(usual.dut.counters.trim > 0);
    CHECK(other.dut.counters.trim == usual.dut.counters.trim);
    CHECK(other.dut.counters.drop_icrc == 0);
  }
}

TEST_CASE("plane and uplink number in the uSIDs, elsewhere or not at all", "[tb][choices][A-05]") {
  both("mixed", "srv6_plane_lsb", 12, 3, {{"srv6_share", 1}});
  both("mixed", "srv6_uplink_bits", 0, 5, {{"srv6_share", 1}});
  both("mixed", "srv6_uplink_lsb", 0, 4, {{"srv6_uplink_bits", 3}});
  both("mixed", "srv6_uplink_usid", 0, 1, {{"srv6_uplink_bits", 3}});
}

TEST_CASE("entropy values of control packets, fixed or refreshed", "[tb][choices][A-06]") {
  both("mixed", "rev_fixed", 0, 1);
  both("mixed", "ack_plane", 0, 1);
  const Both r = both("mixed", "rev_probe", 0, 1, {{"dut_sends", 0}});
  CHECK(r.first.dut.counters.ep_req == 0);
  CHECK(r.second.dut.counters.ep_req > 0);
  // Other EVs of the probes, and so of what comes back once one of them is answered.
  const Both seed = both("mixed", "rev_seed", 1, 0x9d2c5680, {{"dut_sends", 0}});
  CHECK(seed.first.dut.counters.ep_req > 0);
  CHECK(seed.second.dut.counters.ep_req > 0);
}

TEST_CASE("the timer's interval", "[tb][choices][A-07]") {
  const Both r = both("rto", "rto", 1, 6);
  CHECK(r.first.traffic_cycles < r.second.traffic_cycles);
}

TEST_CASE("reorder tolerance: packets, and later ones of the same EV", "[tb][choices][A-08]") {
  both("mixed", "reorder_pkts", 5, 100);
  both("mixed", "same_ev", 0, 1);
}

TEST_CASE("the SACK threshold", "[tb][choices][A-09]") {
  const Both r = both("mixed", "sack_trigger", 0, 60000);
  CHECK(sacks(r.first) > sacks(r.second));
}

TEST_CASE("the bitmap's base on ECN and AckReq", "[tb][choices][A-11]") { both("mixed", "sack_base_self", 0, 1); }

TEST_CASE("a PSN outside the window is NACKed or dropped", "[tb][choices][A-12]") {
  const Both r = both("corrupt", "oor_drop", 0, 1, {{"rogue", 0.3}});
  CHECK(r.first.dut.counters.oor > 0);
  CHECK(r.second.dut.counters.oor > 0);
  CHECK(nacks(r.first) > 0);
  CHECK(nacks(r.second) == 0);
}

TEST_CASE("trimmed packets are NACKed or only counted", "[tb][choices][A-13]") {
  const Both r = both("trim", "trim_nack", 0, 1);
  CHECK(r.first.dut.counters.trim > 0);
  CHECK(nacks(r.first) == 0);
  CHECK(nacks(r.second) > 0);
}

TEST_CASE("trimmed packets bring SACKs, or NACKs alone", "[tb][choices][A-74]") {
  const Both r = both("trim", "trim_silent", 0, 1);
  CHECK(r.first.dut.counters.trim > 0);
  CHECK(r.second.dut.counters.trim > 0);
  CHECK(sacks(r.first) > sacks(r.second));
}

TEST_CASE("a QP that hears nothing asks for its peer's state, or waits for its timer", "[tb][choices][A-75]") {
  const Both r = both("rto", "state_silent", 0, 1, {}, 4000);
  const auto again = [](const CosimResult& one) { return one.dut.counters.rtx + one.peer.counters.rtx; };
  CHECK(again(r.first) < again(r.second));  // what a lost SACK or ACK had told comes without the packets
  CHECK(r.first.dut.counters.state > 0);
  CHECK(r.first.peer.counters.state > 0);
  CHECK(r.second.dut.counters.state == 0);
  CHECK(r.second.peer.counters.state == 0);
}

TEST_CASE("what a port takes along when it falls is lost at once, or found by gap, EV and timer",
          "[tb][choices][A-82]") {
  const Both r = both("plane-loss", "port_wait", 0, 1, {{"time_wait", 1}}, 1500);  // time finds them as soon
  const auto worst = [](const CosimResult& one) {
    CHECK(one.dut.recovery.recovered == one.dut.recovery.lost);
    CHECK(one.peer.recovery.recovered == one.peer.recovery.lost);
    return std::max(one.dut.recovery.worst_ps, one.peer.recovery.worst_ps);
  };
  CHECK(worst(r.first) < worst(r.second));
}

TEST_CASE("what is missing is lost once it is overdue, or found by gap, EV and timer", "[tb][choices][A-83]") {
  // Without time stamps in packets, too.
  for (const double share : {1.0, 0.0}) {
    INFO("ts_share " << share);
    const Both r = both("loss", "time_wait", 0, 1, {{"ts_share", share}}, 4000);
    const auto expiries = [](const CosimResult& one) { return one.dut.counters.rto + one.peer.counters.rto; };
    CHECK(2 * expiries(r.first) < expiries(r.second));
    CHECK(r.first.dut.link_recovery.lost > 0);
  }
}

TEST_CASE("what was lost goes on another plane, or on the next EV of the walk", "[tb][choices][A-85]") {
  // A plane that loses a fifth of its frames: the longest time until a lost frame is there again.
  const Both r = both("bad-plane", "any_plane", 0, 1, {{"ts_share", 1}}, 2000);
  const auto again = [](const CosimResult& one) { return one.dut.counters.rtx + one.peer.counters.rtx; };
  CHECK(again(r.first) < again(r.second));  // fewer are lost twice
}

TEST_CASE("one loss makes an EV bad, or one in 2^n while other planes lose, too", "[tb][choices][A-87]") {
  const Both r = both("loss", "loss_share", 0, 4, {{"ts_share", 1}}, 4000);
  const auto blamed = [](const CosimResult& one) {
    const auto of = [](const auto& side) { return side.counters.ev_bad + side.counters.ev_floor; };
    return of(one.dut) + of(one.peer);
  };
  CHECK(blamed(r.first) > 2 * blamed(r.second));
  CHECK(blamed(r.second) > 0);
}

TEST_CASE("what was lost where a QP may send nothing else goes twice, or once", "[tb][choices][A-89]") {
  const Both r = both("bad-plane", "one_copy", 0, 1, {{"ts_share", 1}}, 2000, "asic800");
  const auto twice = [](const CosimResult& one) { return one.dut.counters.dup + one.peer.counters.dup; };
  CHECK(twice(r.first) > 2 * twice(r.second));
}

TEST_CASE("a packet that finds no EV in use goes on a bad one, or waits for its timer", "[tb][choices][A-90]") {
  // Plane 1 is gone, and plane 0 loses one frame of 20: the floor of 8 of 16 EVs leaves it none.
  const Both r = both("plane-loss", "bad_waits", 0, 1, {{"loss", 0.05}, {"hang_us", 20'000}}, 800);
  CHECK(2 * r.first.cycles < r.second.cycles);
}

TEST_CASE("what is lost leaves the flight when a retransmission is refused, or in its turn", "[tb][choices][A-91]") {
  // Small windows, in which trimmed packets wait before lost ones.
  const Keys keys = {{"cc_share", 1}, {"trim", 0.4}, {"loss", 0.05}, {"mtu_max", 1}, {"cc_rtt_ns", 2000}, {"rto", 4}};
  const Both r = both("loss", "lost_stays", 0, 1, keys, 2000, "asic800");
  CHECK(r.first.cycles < r.second.cycles);
}

TEST_CASE("a loss without a trim leaves the window as it is, or makes it smaller", "[tb][choices][A-88]") {
  // What the controllers hear.
  const Both r = both("loss", "loss_shrinks", 0, 1, {{"cc_share", 1}, {"ts_share", 1}}, 2000, "asic800");
  const auto heard = [](const CosimResult& one, CcEvent kind) {
    return std::ranges::count_if(one.window, [kind](const Event& e) {
      return e.stream == static_cast<unsigned>(CoreStream::TxInflightCcev) && Ccev::unpack(e.data.data()).kind == kind;
    });
  };
  CHECK(heard(r.first, CcEvent::Loss) == 0);
  CHECK(heard(r.first, CcEvent::Nack) > 0);
  CHECK(heard(r.second, CcEvent::Loss) > 0);
}

TEST_CASE("a QP asks after its round trips, or after a quarter of its timer", "[tb][choices][A-84]") {
  const Both r = both("loss", "silence_wait", 0, 1, {{"ts_share", 1}, {"loss", 0.1}}, 4000, "asic800");
  const auto requested = [](const CosimResult& one) { return one.dut.counters.state + one.peer.counters.state; };
  const auto expiries = [](const CosimResult& one) { return one.dut.counters.rto + one.peer.counters.rto; };
  CHECK(requested(r.first) > 0);
  CHECK(requested(r.first) < requested(r.second));  // one that keeps hearing has nothing to ask
  CHECK(expiries(r.first) < expiries(r.second));
}

TEST_CASE("the ICRC starts at the inner IP header or at the outer one, whatever routers change there",
          "[tb][choices][A-14]") {
  // Both ends and the links' own frames have the same setting; half of the outer headers are changed on the way.
  const Both r = both("mixed", "icrc_outer", 0, 1, {{"srv6_share", 1}, {"srh_share", 0.5}});
  for (const CosimResult* one : {&r.first, &r.second}) {
    CHECK(one->writes_verified > 0);
    // What is dropped is what links damage, two in a thousand frames, not what they may change.
    CHECK(one->dut.counters.drop_icrc < one->peer.link.frames / 50);
  }
  // Frames without outer header are the same with both.
  const CosimResult plain = run_with("clean", {{"srv6_share", 0}}, {"icrc_outer", 0}, 300, "tiny", 21);
  const CosimResult other = run_with("clean", {{"srv6_share", 0}}, {"icrc_outer", 1}, 300, "tiny", 21);
  CHECK(plain.outcome == Outcome::Pass);
  CHECK(other.outcome == Outcome::Pass);
  CHECK(plain.event_hash == other.event_hash);
}

TEST_CASE("trimmed packets of any size bring the same, whatever is left of the payload", "[tb][choices][A-15]") {
  for (const double size : {128.0, 206.0, 256.0, 4084.0}) {
    const CosimResult r = run_with("trim", {}, {"trim_size", size}, 500, "tiny", 21);
    INFO(size << r.problem << failure_text({}, r));
    CHECK(r.outcome == Outcome::Pass);
    CHECK(r.dut.counters.trim > 0);
    CHECK(r.writes_verified > 0);
  }
}

TEST_CASE("length fields of trimmed packets change nothing, rewritten or not", "[tb][choices][A-15]") {
  const CosimResult usual = run_with("trim", {}, {"trim_lengths", 0}, 500, "tiny", 21);
  CHECK(usual.dut.counters.trim > 0);
  for (const double lengths : {1.0, 2.0}) {
    const CosimResult r = run_with("trim", {}, {"trim_lengths", lengths}, 500, "tiny", 21);
    INFO(lengths << r.problem << failure_text({}, r));
    CHECK(r.outcome == Outcome::Pass);
    CHECK(r.dut.counters.trim == usual.dut.counters.trim);
    CHECK(r.event_hash == usual.event_hash);
  }
}

TEST_CASE("semantic ACKs at once or after each SACK", "[tb][choices][A-16]") {
  const Both r = both("mixed", "ack_with_sack", 0, 1);
  CHECK(acks(r.first) != sacks(r.first));
  CHECK(acks(r.second) > 0);
  const Both gap = both("many-qps", "ack_gap", 0, 1000);
  CHECK(acks(gap.first) > acks(gap.second));
}

TEST_CASE("a lost semantic ACK comes again, either way", "[tb][choices][A-17]") {
  // Every message completes although a fifth of what the device answers is lost.
  both("loss", "ack_with_sack", 0, 1, {{"loss", 0.2}});
}

TEST_CASE("MSN and RQMSN start where the QP context says", "[tb][choices][A-18]") {
  both("immediate", "msn_zero", 0, 1);
}

TEST_CASE("a WRITE of no bytes is refused with a NAK, or dropped", "[tb][choices][A-19]") {
  const Both r = both("no-bytes", "zero_length", 1, 2, {{"no_bytes", 0.1}});
  CHECK(r.first.peer.link.no_bytes > 0);  // to the device
  CHECK(r.second.peer.link.no_bytes > 0);
  CHECK(r.first.naks_invalid > 0);
  CHECK(r.first.failed_qps > 0);
  CHECK(r.first.dut.counters.drop_len == 0);
  CHECK(r.second.naks_invalid == 0);
  CHECK(r.second.failed_qps == 0);
  CHECK(r.second.dut.counters.drop_len > 0);
}

TEST_CASE("where a WRITE of no bytes is legal, one whose payload and length differ is refused", "[tb][choices][A-19]") {
  const Both r = both("no-bytes", "zero_length", 0, 1, {{"no_bytes", 0.1}});
  for (const CosimResult* one : {&r.first, &r.second}) {
    CHECK(one->naks_invalid > 0);
    CHECK(one->failed_qps > 0);
  }
}

TEST_CASE("WRITEs with immediate of no bytes signal behind their data, or are refused", "[tb][choices][A-19]") {
  const Both r = both("collectives", "zero_length", 0, 1);
  CHECK(r.first.refused == 0);
  CHECK(r.first.immediates > 10);  // the bench holds each one's place behind its data, in memory and on the wire
  CHECK(r.second.refused > 10);
  CHECK(r.second.immediates == 0);
  both("collectives", "zero_length", 1, 2, {{"no_bytes", 0.2}, {"may_fail", 1}});
  const CosimResult some = run_with("mixed", {}, {"zero_share", 0.3}, 500, "tiny", 21);
  INFO(some.problem << failure_text({}, some));
  CHECK(some.outcome == Outcome::Pass);
}

TEST_CASE("a WRITE of no bytes as the requestor's own request is refused there", "[tb][choices][A-19]") {
  const CosimResult r = run_with("refused", {}, {"bad_access", 0}, 500, "tiny", 21);
  CHECK(r.outcome == Outcome::Pass);
  CHECK(r.refused > 0);
  CHECK(r.failed_qps == 0);
}

TEST_CASE("an EV is in SKIP once, twice after a second mark, or for a time", "[tb][choices][A-20]") {
  both("ecn", "skip_mode", 0, 1);
  both("skip-round-trip", "skip_mode", 0, 2);
  both("skip-round-trip", "skip_ticks", 3, 300);
}

TEST_CASE("time stamps in 128 ns or in 1.024 us", "[tb][choices][A-21]") { both("incast-trim", "tsr_us", 0, 1); }

TEST_CASE("process ids are QPNs or 0, and nobody reads them", "[tb][choices][A-22]") {
  both("bad-ev", "pdcid_zero", 0, 1);
}

TEST_CASE("AckReq on the last packet of QPs with nothing more to send, a gap apart or on each", "[tb][choices][A-28]") {
  const Both r = both("many-qps", "ar_gap", 32, 0);
  CHECK(sacks(r.first) < sacks(r.second));
}

TEST_CASE("so many EVs stay in use", "[tb][choices][A-31]") {
  const Both r = both("bad-ev", "min_active", 1, 500, {{"backup", 0}});
  CHECK(r.first.dut.counters.ev_floor == 0);
  CHECK(r.first.dut.counters.ev_bad > 0);
  CHECK(r.second.dut.counters.ev_floor > 0);
  CHECK(r.second.dut.counters.ev_bad == 0);
}

TEST_CASE("probes: the first interval, answers in a row that revive", "[tb][choices][A-32]") {
  const Both interval = both("bad-ev", "probe_ticks", 20, 400);
  CHECK(interval.first.dut.counters.probe > interval.second.dut.counters.probe);
  const Both answers = both("probe-revive", "probe_successes", 1, 7, {}, 6000);
  CHECK(answers.first.dut.counters.revived > answers.second.dut.counters.revived);
}

TEST_CASE("probes that revive: EV probes, reliability probes, or either", "[tb][choices][A-32]") {
  constexpr double kEither = 0, kEvProbes = 1, kReliability = 2;
  const Both kinds = both("probe-revive", "probe_kind", kEvProbes, kReliability, {}, 3000);
  const Both either = both("probe-revive", "probe_kind", kEither, kReliability, {}, 3000);
  for (const CosimResult* r : {&kinds.first, &kinds.second, &either.first}) {
    CHECK(r->dut.counters.probe > 0);
    CHECK(r->dut.counters.revived > 0);
  }
  // Half of the probes of either kind are lost: each gets its turn.
  both("bad-ev", "probe_kind", kEither, kEvProbes, {{"loss", 0.3}}, 1200);
}

TEST_CASE("probes: how far the interval grows", "[tb][choices][A-71]") {
  both("bad-ev", "probe_cap", 0, 6, {{"probe_ticks", 20}}, 4000);
}

TEST_CASE("probes: a failure starts the count again or not", "[tb][choices][A-72]") {
  both("bad-ev", "probe_keep", 0, 1, {{"probe_ticks", 20}}, 4000);
}

TEST_CASE("an answer with SKIP_ONCE revives to SKIP or GOOD", "[tb][choices][A-33]") {
  // A third of the EVs is bad for a while; later half of what they carry, probes too, is marked.
  const Both r = both("probe-revive", "skip_good", 0, 1, {{"rules_ecn", 0.5}}, 4000);
  CHECK(r.first.dut.counters.revived > 0);
}

TEST_CASE("backup EVs, none or some", "[tb][choices][A-34]") { both("bad-ev", "backup", 0, 3); }

TEST_CASE("retries, linear and exponential", "[tb][choices][A-35]") {
  both("retry-exhaust", "retry_exp", 0, 3);
  both("retry-exhaust", "retry_linear", 0, 5);
  // A few packets are lost whenever they are sent, all others arrive: time finds them again and again, and retries end.
  for (const double wait : {0.0, 1.0}) {
    const Both r = both("clean", "retry_linear", 0, 5,
                        {{"may_fail", 1},
                         {"never_arrive", 0.004},
                         {"silence_wait", wait},
                         {"retry_exp", 0},
                         {"rto", 4},
                         {"rounds", 2},
                         {"size_max", 8192},
                         {"hang_us", 3000}});
    CHECK(r.first.failed_qps > 0);
    CHECK(r.second.failed_qps > 0);
  }
}

TEST_CASE("the op of endpoint responses in bits 3:2 or 5:4", "[tb][choices][A-36]") {
  both("link-flap", "eeth_op_high", 0, 1);
}

TEST_CASE("ports count from 0 or 1", "[tb][choices][A-37]") { both("link-flap", "ports_from_0", 0, 1); }

TEST_CASE("congestion control: where base_rtt starts", "[tb][choices][A-40]") {
  both("incast-trim", "cc_rtt_ns", 2000, 6000);
}
TEST_CASE("congestion control: size of a full packet", "[tb][choices][A-41]") {
  both("incast-trim", "cc_mtu", 0, 6000);
}
TEST_CASE("congestion control: quick adapt", "[tb][choices][A-43]") { both("incast-trim", "cc_disable_qa", 0, 1); }
TEST_CASE("congestion control: a decrease ends fast increase", "[tb][choices][A-44]") {
  both("incast-trim", "cc_md_resets_fast", 0, 1, {{"cc_near_zero_ns", 100000}}, 600);
}
TEST_CASE("congestion control: NACKs of other reasons", "[tb][choices][A-45]") {
  both("slow-host", "cc_nack_any_reason", 0, 1, {{"cc_share", 1}}, 700);
}
TEST_CASE("congestion control: the delay sample of a trim", "[tb][choices][A-46]") {
  // Trims, marks, and round trips that fall below and rise above the configured one: the average decides on decreases.
  both("incast-trim", "cc_nack_sample_cfg", 0, 1,
       {{"cc_rtt_ns", 2500}, {"cc_ewma_weight", 0.5}, {"jitter_ns", 4000}, {"ecn", 0.3}}, 400);
}
TEST_CASE("congestion control: the round trip of a NACK", "[tb][choices][A-47]") {
  both("incast-trim", "cc_nack_rtt", 0, 1, {}, 1500);
}
TEST_CASE("congestion control: the period of adjustment", "[tb][choices][A-48]") {
  both("incast-trim", "cc_adjust_ns", 0, 20000);
}
TEST_CASE("congestion control: gains, rate and threshold", "[tb][choices][A-52]") {
  both("incast-trim", "cc_eta", 0, 5000);
  both("incast-trim", "cc_fi", 0, 200000, {{"cc_ewma_weight", 0.5}});
  both("incast-trim", "cc_alpha", 0, 20000);
  both("incast-trim", "cc_rate_gbps", 0, 50);
  both("incast-trim", "cc_qa_threshold_ns", 0, 200, {}, 1000);
}
TEST_CASE("congestion control: no delay, and the weight of a sample", "[tb][choices][A-53]") {
  both("incast-trim", "cc_near_zero_ns", 4000, 100, {}, 800);
  both("incast-trim", "cc_ewma_weight", 0.0125, 0.5);
}

TEST_CASE("bytes are counted as packets, as payload, or as payload and 40", "[tb][choices][A-55]") {
  both("incast-trim", "nominal", 0, 1);
  both("incast-trim", "nominal", 0, 2);
  both("incast-trim", "nominal", 1, 2);
}

TEST_CASE("service time moves the reflected time stamp or not", "[tb][choices][A-56]") {
  both("mixed", "svc_share", 0, 1, {{"ts_share", 1}});
}

TEST_CASE("a QP in ERROR answers or is silent", "[tb][choices][A-57]") { both("qp-error", "err_silent", 0, 1); }

TEST_CASE("time stamps of retransmissions are samples or not", "[tb][choices][A-58]") {
  both("incast-trim", "rtt_rtx", 0, 1);
}

TEST_CASE("dynamic MPR, on or off", "[tb][choices][A-59]") {
  // Beyond the window of now: NO_BITMAP. A requestor that hears of it keeps within it as soon as it knows. How many of
  // either kind are on their way when the window shrinks differs from seed to seed, and in the first ones by chance.
  uint64_t unheard = 0, heard = 0;
  for (uint64_t seed = 21; seed < 24; ++seed) {
    for (const double dyn : {0.0, 1.0}) {
      const CosimResult r = run_with("dynamic-mpr", {{"move_mpr", 1}}, {"dyn_mpr", dyn}, 20000, "fpga100", seed);
      INFO("seed " << seed << ": " << r.problem << r.error << failure_text({}, r));
      REQUIRE(r.outcome == Outcome::Pass);
      (dyn == 0 ? unheard : heard) += r.dut.counters.nores;
    }
  }
  CHECK(heard > 0);
  CHECK(unheard > heard);
  CHECK(run_with("dynamic-mpr", {}, {"dyn_mpr", 0}, 3000, "fpga100", 21).dut.counters.nores == 0);
}

TEST_CASE("the interval of endpoint requests", "[tb][choices][A-60]") { both("link-flap", "ep_ticks", 10, 2000); }

TEST_CASE("endpoint requests have a code point of their own, or that of data", "[tb][choices][A-60]") {
  const Both r = both("link-flap", "dscp_ep", Scenario::kAsData, 9);
  for (const CosimResult* one : {&r.first, &r.second}) CHECK(one->dut.counters.ep_req > 0);
}

TEST_CASE("port status updates are sent again never, a few times, or for ever", "[tb][choices][A-60]") {
  const Both never = both("few-updates", "ep_repeats", 0, 1, {}, 2000);
  const Both ever = both("few-updates", "ep_repeats", 1, 15, {}, 2000);
  CHECK(never.first.dut.counters.ep_req > 0);
  CHECK(ever.second.dut.counters.ep_req > 0);
}

TEST_CASE("a NIC has one address, or one per plane, in any three bits", "[tb][choices][A-76]") {
  const Both r = both("plane-addresses", "ip_plane", 0, 1);
  for (const CosimResult* one : {&r.first, &r.second}) CHECK(one->dut.counters.ep_rsp > 0);
  both("plane-addresses", "ip_plane_lsb", 64, 16);
}

TEST_CASE("EV profiles filled by the NIC or by software", "[tb][choices][A-61]") {
  const Both r = both("mixed", "generated", 0, 1);
  CHECK(r.first.dut.evs > 8);
  CHECK(r.second.dut.evs > 8);
}

TEST_CASE("immediates that may be outstanding, on both sides", "[tb][choices][A-62]") {
  const Both own = both("qp-error", "max_wimm", 2, 32, {{"wimm_over", 1}});
  CHECK(own.first.refused > own.second.refused);  // and the QP goes on
  const Both peers = both("qp-error", "max_wimm_dest", 2, 32, {{"max_wimm", 32}, {"bad_access", 0}}, 2000);
  CHECK(peers.first.naks_invalid > 0);  // one too many there: a NAK, and the QP has failed
  CHECK(peers.second.naks_invalid == 0);
}

TEST_CASE("an immediate beyond max_wimm waits, is refused, or ends its QP", "[tb][choices][A-62]") {
  const Keys calm = {{"bad_access", 0}, {"loss", 0}, {"max_wimm", 1}};
  const Both waits = both("qp-error", "wimm_over", 0, 1, calm, 1500);
  CHECK(waits.first.refused == 0);
  CHECK(waits.second.refused > 0);
  CHECK(waits.first.failed_qps == 0);
  CHECK(waits.second.failed_qps == 0);
  // With one at a time every QP may end before a packet has arrived.
  const Keys some = {{"bad_access", 0}, {"loss", 0}, {"max_wimm", 4}};
  const Both ends = both("qp-error", "wimm_over", 1, 2, some, 1500);
  CHECK(ends.second.refused > 0);
  CHECK(ends.second.failed_qps > 0);
  // A host that posts more of them than may be out has all of them delivered.
  const Both more = both("collectives", "wimm_extra", 0, 30, {{"max_wimm", 1}}, 1000);
  for (const CosimResult* one : {&more.first, &more.second}) {
    CHECK(one->immediates > 10);
    CHECK(one->failed_qps == 0);
  }
  CHECK(more.first.held == 0);
  CHECK(more.second.held > 0);
}

TEST_CASE("QPs have the NIC's class, or one of their own", "[tb][choices][A-79]") {
  // The bench holds each frame against the code point that is due.
  both("trim", "own_class", 0, 1);
  both("collectives", "fifo_qps", 0, 1);
}

TEST_CASE("packets that come back are counted, make their PSN a loss at once, or are taken for the peer's",
          "[tb][choices][A-80]") {
  const Both learn = both("returned", "returned", 0, 1, {{"return_swap", 0}}, 1500);
  for (const CosimResult* one : {&learn.first, &learn.second}) {
    CHECK(one->dut.link.returned > 0);
    CHECK(one->dut.counters.returned > 0);
  }
  const Both peers = both("returned", "returned", 0, 2, {{"return_swap", 0}}, 1500);
  CHECK(peers.second.dut.link.returned > 0);
  CHECK(peers.second.dut.counters.returned == 0);
}

TEST_CASE("packets that come back are known by addresses or by a code point of their own", "[tb][choices][A-80]") {
  const Keys swapped = {{"return_swap", 1}, {"return_marked", 1}};
  const Both r = both("returned", "dscp_returned_valid", 0, 1, swapped, 1500);
  CHECK(r.first.dut.link.returned > 0);
  CHECK(r.first.dut.counters.returned == 0);  // nothing tells them from the peer's
  CHECK(r.second.dut.counters.returned > 0);
  both("returned", "dscp_returned", 20, 33);
}

TEST_CASE("no immediates at all, at the requestor or at the responder", "[tb][choices][A-62]") {
  const Keys calm = {{"bad_access", 0}, {"loss", 0}};
  const Both own = both("qp-error", "max_wimm", 0, 32, calm);
  CHECK(own.first.refused > 0);
  CHECK(own.first.naks_invalid == 0);
  const Both peers = both("qp-error", "max_wimm_dest", 0, 32, {{"bad_access", 0}, {"loss", 0}, {"max_wimm", 32}});
  CHECK(peers.first.naks_invalid > 0);
  CHECK(peers.first.overruns == 0);  // refused before anything of them is counted
}

TEST_CASE("the codes of NAKs are those of the register", "[tb][choices][A-70]") {
  // The bench compares the status of each completion with the code that is due.
  const Both invalid = both("no-bytes", "nak_invalid", 0x61, 0x7d, {{"no_bytes", 0.1}});
  CHECK(invalid.first.naks_invalid > 0);
  CHECK(invalid.second.naks_invalid > 0);
  const Both access = both("refused", "nak_access", 0x62, 0x63);
  CHECK(access.first.naks_access > 0);
  CHECK(access.second.naks_access > 0);
}

TEST_CASE("a responder leaves windows alone, or shuts and opens them", "[tb][choices][A-78]") {
  both("share", "share", 0, 1);
  both("share", "share_pen", 0, 127, {}, 4000);
}

TEST_CASE("AckReq before a shared window is full, or only with its last packet", "[tb][choices][A-73]") {
  both("incast-trim", "cc_ar_shift", 0, 3);
}

TEST_CASE("encapsulations, with routing header and with 16-bit entropy", "[tb][choices][encap]") {
  both("mixed", "udp_share", 0, 1);
  both("mixed", "srh_share", 0, 1);
}

TEST_CASE("congestion control, on or off", "[tb][choices][cc]") { both("incast-trim", "cc_share", 0, 1); }

}  // namespace mrc::test::choices_test
