// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/random_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "util/rng.hpp"

namespace mrc::tb {
namespace {

constexpr RandomKey kDrawn[] = {
    {"qps", "1 2 4 8 32 0"},
    {"dut_sends", "1 1 1 0"},
    {"outstanding", "1 2 4 16 64"},
    {"small_share", "0 0.1 0.5"},
    {"exact_share", "0 0.1 0.9"},
    {"aligned_share", "0 0.3 1"},
    {"imm_share", "0 0.1 0.5 1"},
    {"wqe_gap", "0 5 100 1000"},
    {"srv6_share", "0 0.5 1"},
    {"ts_share", "0 1"},
    {"srh_share", "0 1"},
    {"udp_share", "0 0.5"},
    {"generated", "0 1"},
    {"mpr", "1 2 8"},
    {"peer_mpr", "1 2 4"},
    {"wrap_share", "0 1"},
    {"msn_zero", "0 1"},
    {"bad_wqes", "0 0.05"},
    {"bad_access", "0 3"},
    {"may_fail", "0 0 1"},
    {"rounds", "1 1 3"},
    {"max_wimm", "32 0 1 3"},
    {"max_wimm_dest", "32 0 2 3"},
    {"cc_share", "0 0.5 1"},
    {"dests", "1 2 4 256"},
    {"cc_rtt_ns", "0 1000 20000"},
    {"cc_disable_qa", "0 1"},
    {"cc_md_resets_fast", "0 1"},
    {"cc_nack_any_reason", "0 1"},
    {"cc_nack_sample_cfg", "0 1"},
    {"cc_nack_rtt", "0 1"},
    {"cc_ar_shift", "0 1 3 7"},
    {"cc_fi", "0 64"},
    {"cc_alpha", "0 100"},
    {"cc_rate_gbps", "0 25 1600"},
    {"cc_qa_threshold_ns", "0 500"},
    {"cc_mtu", "0 8192"},
    {"cc_eta", "0 1"},
    {"cc_adjust_ns", "0 500"},
    {"cc_near_zero_ns", "0 1000"},
    {"cc_ewma_weight", "0.0125 0.5"},
    {"loss", "0 0.002 0.02 0.05"},
    {"trim", "0 0.02 0.1"},
    {"lasthop", "0 0.5 1"},
    {"ecn", "0 0.1 0.5"},
    {"corrupt", "0 0.01"},
    {"duplicate", "0 0.01 0.1"},
    {"rogue", "0 0.01"},
    {"reorder", "0 0.05 0.4"},
    {"penalty", "0 0.05 0.3"},
    {"no_bytes", "0 0 0.02"},
    {"delay_ns", "100 500 3000"},
    {"jitter_ns", "0 50 500"},
    {"skew_ns", "0 300 2000"},
    {"reorder_ns", "500 2000 8000"},
    {"trim_size", "0 128 300 4084"},
    {"trim_lengths", "0 1 2"},
    {"mac_errors", "0 1"},
    {"read_ns", "0 500"},
    {"read_jitter_ns", "0 200 1000"},
    {"stall", "0 0.1 0.4"},
    {"pause", "0 0.05 0.3"},
    {"pause_ns", "300 1500 6000"},
    {"cqe_pause", "0 0.02 0.1"},
    {"cqe_pause_ns", "500 5000"},
    {"rto", "1 2 4 6"},
    {"retry_linear", "0 1 7"},
    {"retry_exp", "25 25 1"},
    {"same_ev", "0 1"},
    {"svc_share", "0 1"},
    {"dyn_mpr", "0 1"},
    {"move_mpr", "0 1"},
    {"ep_ticks", "1 12 100"},
    {"rev_probe", "0 1"},
    {"ep_repeats", "0 1 15"},
    {"rev_seed", "0 1"},
    {"err_silent", "0 1"},
    {"rtt_rtx", "0 1"},
    {"rev_fixed", "0 1"},
    {"ack_plane", "0 1"},
    {"nominal", "0 1 2 3"},
    {"ports_from_0", "0 1"},
    {"bth_m_high", "0 1"},
    {"eeth_op_high", "0 1"},
    {"tsr_us", "0 1"},
    {"pdcid_zero", "0 1"},
    {"ack_with_sack", "0 1"},
    {"zero_length", "0 1 2"},
    {"skip_mode", "0 1 2"},
    {"icrc_outer", "0 1"},
    {"trim_silent", "0 1"},
    {"state_silent", "0 1"},
    {"skip_good", "0 1"},
    {"probe_successes", "1 3 7"},
    {"probe_cap", "0 6 14"},
    {"probe_keep", "0 1"},
    {"probe_kind", "0 1 2"},
    {"nak_invalid", "97 101"},
    {"nak_access", "98 100"},
    {"srv6_uplink_bits", "0 8"},
    {"ack_gap", "0 1 16 200"},
    {"ar_gap", "0 1 32 500"},
    {"reorder_pkts", "1 4 16 64 1000"},
    {"backup", "0 1 3"},
    {"min_active", "1 4 8"},
    {"probe_ticks", "1 20 200"},
    {"sack_trigger", "0 1000 16384 200000"},
    {"sack_base_self", "0 1"},
    {"oor_drop", "0 1"},
    {"trim_nack", "0 1"},
    {"ev_swap", "0 1"},
    {"bth_m", "0 1"},
    {"udp_only", "0 1"},
    {"ip_plane", "0 1"},
    {"ip_plane_lsb", "0 64 80 126"},
    {"vary", "0 1"},
    {"csr_gap", "0 50 300 2000"},
    {"churn", "0 0.7"},
    {"control", "0 0.5"},
    {"flap_us", "0 0 30"},
    {"flap_down_us", "2 20"},
    {"peer_flap", "0 1"},
    {"cut_planes", "0 0 0 1 8"},
    {"cut_us", "5 30"},
    {"share", "0 1"},
    {"share_epoch", "0 3 7"},
    {"share_least", "1 2 4"},
    {"share_trims", "0 1 24"},
    {"share_pen", "1 8 127"},
    {"share_drain", "0 5000 40000 1048576"},
};

/// What came later, and the switches of CTRL that no table names: drawn from a stream of their own, so that the seeds'
/// other values stay what they were.
constexpr RandomKey kLater[] = {
    {"skip_ticks", "0 10 94 1000"}, {"wimm_over", "0 0 1 2"},     {"wimm_extra", "0 4 32"},
    {"zero_share", "0 0.1 0.5"},    {"signal_every", "0 0 1 3"},  {"fifo_qps", "0 0 1"},
    {"own_class", "0 0.5 1"},       {"returned", "0 1 2"},        {"return_share", "0 0.3 1"},
    {"return_swap", "0 0.5 1"},     {"return_marked", "0 0.5 1"}, {"dscp_returned_valid", "0 1"},
};

/// What came after that: the same again.
constexpr RandomKey kNewest[] = {
    {"loss_share", "0 0 1 2 4"}, {"one_copy", "0 0 1"}, {"bad_waits", "0 0 1"}, {"lost_stays", "0 0 1"}};

/// Lives: in a stream of their own again, one scenario in eight.
constexpr RandomKey kLives[] = {{"lives", "2 2 3"},
                                {"life_us", "1 5 20 100"},
                                {"same_psns", "0 0.5 1"},
                                {"alone", "0 0.5 1"},
                                {"by_software", "0 0.5"}};
constexpr double kLivesShare = 0.125;

constexpr RandomKey kNotDrawn[] = {
    {"reset_cycle", "drawn by the run, within life_us"},
    {"peer_sends", "one side sends in any case"},
    {"size_min", "drawn together with size_max"},
    {"size_max", "drawn together with size_min"},
    {"mtu_min", "drawn together with mtu_max"},
    {"mtu_max", "drawn together with mtu_min"},
    {"dscp_data", "the code points differ: drawn with vary"},
    {"dscp_rtx", "the code points differ: drawn with vary"},
    {"dscp_ctl", "the code points differ: drawn with vary"},
    {"dscp_ep", "the code points differ: drawn with vary"},
    {"dscp_trimmed", "the code points differ: drawn with vary"},
    {"dscp_lasthop", "the code points differ: drawn with vary"},
    {"dscp_returned", "the code points differ: drawn with vary"},
    {"srv6_plane_lsb", "drawn with vary"},
    {"srv6_uplink_usid", "drawn with vary"},
    {"srv6_uplink_lsb", "drawn with vary"},
    {"udp_port", "drawn with vary"},
    {"peer_port", "needs a port that the device receives"},
    {"back_us", "soon after cut_us"},
    {"hang_us", "long enough for what is drawn"},
    {"qpn_share", "QPs are named otherwise, and nothing else changes: qpn_test has it"},
    {"read_errors", "QPs fail, and most runs would be short: host-errors has it"},
    {"write_errors", "QPs fail, and most runs would be short: host-errors has it"},
    {"stand_us", "all wait for PORT_STALL each time, and most runs would be long: port-stands has it"},
    {"stand_for_us", "of stand_us"},
    {"stand_ports", "of stand_us"},
    {"port_stall", "of stand_us"},
    {"never_arrive", "it ends most QPs: a test of its own has it"},
    {"fuzz_us", "ports are busy with it, and most runs would be long: fuzz has it"},
    {"fuzz_for_us", "of fuzz_us"},
    {"fuzz_flood", "of fuzz_us"},
    {"ecc", "only a NIC with Ecc 1 has such memories: a test of its own has it"},
    {"ecc_two", "of ecc"},
    {"ended", "it ends most of what the other keys bring about: tools/mutation/ended.toml has it"},
};

std::vector<double> numbers(std::string_view words) {
  std::vector<double> list;
  while (!words.empty()) {
    double value = 0;
    const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), value);
    list.push_back(value);
    words.remove_prefix(static_cast<std::size_t>(end - words.data()));
    if (!words.empty()) words.remove_prefix(1);
  }
  return list;
}

template <class List>
const auto& one_of(Rng& rng, const List& list) {
  return list[rng.below(std::size(list))];
}

void draw_rule(Rng& rng, Scenario& s) {
  LinkRule rule;
  if (rng.chance(0.5)) {
    rule.planes = 1u << rng.below(8);
  } else {
    rule.ev_share = one_of(rng, std::array{0.05, 0.2});
  }
  const uint64_t direction = rng.below(4);
  rule.to_dut = direction != 0;
  rule.to_peer = direction != 1;
  rule.from_us = one_of(rng, std::array{0.0, 10.0, 30.0});
  rule.until_us = rule.from_us + one_of(rng, std::array{3.0, 30.0, 1000.0});
  if (rng.chance(0.4)) rule.what.loss = one_of(rng, std::array{0.2, 0.5});
  if (rng.chance(0.4)) rule.what.trim = one_of(rng, std::array{0.3, 1.0});
  if (rng.chance(0.4)) rule.what.ecn = 1;
  if (rng.chance(0.4)) rule.what.reorder = 0.5;
  s.rules.push_back(rule);
}

}  // namespace

std::span<const RandomKey> random_keys() {
  // Switches of CTRL that the table does not name are drawn after it.
  static const std::vector<RandomKey> all = [] {
    std::vector<RandomKey> keys(std::begin(kDrawn), std::end(kDrawn));
    keys.insert(keys.end(), std::begin(kLater), std::end(kLater));
    keys.insert(keys.end(), std::begin(kLives), std::end(kLives));
    keys.insert(keys.end(), std::begin(kNewest), std::end(kNewest));
    for (const Switch& w : kSwitches) {
      const auto same = [&](const RandomKey& key) { return std::string_view(key.name) == w.field->name; };
      if (std::ranges::none_of(keys, same)) keys.push_back({w.field->name, w.values});
    }
    return keys;
  }();
  return all;
}
std::span<const RandomKey> keys_not_drawn() { return kNotDrawn; }

namespace {

/// The stream of a seed, that of what came later, that of lives, and that of the newest keys.
struct Draws {
  Rng rng, later, lives, newest;
};
Draws draws_of(uint64_t seed, unsigned draw) {
  const uint64_t of = draw == 0 ? seed : Rng::hash(seed + draw * uint64_t{0x9e3779b97f4a7c15});
  return {Rng(of, kRandomScenario), Rng(of, "random, later"), Rng(of, "random, lives"), Rng(of, "random, newest")};
}

/// Scenarios that were there before kLater; a seed draws one of them, and perhaps a newer one in its place.
constexpr std::size_t kFirstScenarios = 33;

/// Is it of the keys that have been drawn from the beginning, or never?
bool is_first(std::string_view key) {
  const auto is = [&](const RandomKey& one) { return key == one.name; };
  return std::ranges::any_of(kDrawn, is) || std::ranges::any_of(kNotDrawn, is);
}

bool is_newest(std::string_view key) {
  return std::ranges::any_of(kNewest, [&](const RandomKey& one) { return key == one.name; });
}

bool is_life(std::string_view key) {
  return std::ranges::any_of(kLives, [&](const RandomKey& one) { return key == one.name; });
}

/// The stream that a key is drawn from.
Rng& stream_of(std::string_view key, Draws& draws) {
  if (is_life(key)) return draws.lives;
  if (is_newest(key)) return draws.newest;
  return is_first(key) ? draws.rng : draws.later;
}

/// Draws other values for this share of the keys, and rules. How many.
unsigned change(Draws& draws, Scenario& s, double share) {
  Rng& rng = draws.rng;
  unsigned changes = 0;
  const auto set = [&](const char* key, double value) { set_key(s, key, value, kRandomScenario); };
  if (draws.lives.chance(kLivesShare)) {
    for (const RandomKey& key : kLives) set(key.name, one_of(draws.lives, numbers(key.values)));
    ++changes;
  }
  for (const RandomKey& key : random_keys()) {
    if (is_life(key.name)) continue;
    Rng& from = stream_of(key.name, draws);
    if (!from.chance(share)) continue;
    set(key.name, one_of(from, numbers(key.values)));
    ++changes;
  }
  if (rng.chance(share)) {
    static constexpr std::pair<uint32_t, uint32_t> kSizes[] = {{1, 64},   {64, 256},     {64, 2048},
                                                               {1, 8192}, {4096, 65536}, {1, 200000}};
    std::tie(s.size_min, s.size_max) = one_of(rng, kSizes);
    ++changes;
  }
  if (rng.chance(share)) {
    static constexpr std::pair<uint32_t, uint32_t> kMtus[] = {{0, 0}, {0, 2}, {1, 3}, {4, 4}};
    std::tie(s.mtu_min, s.mtu_max) = one_of(rng, kMtus);
    ++changes;
  }
  while (rng.chance(share / 2)) draw_rule(rng, s);
  return changes;
}

/// What belongs together.
void mend(Scenario& s) {
  s.peer_sends = true;
  if (s.retry_exp < 25 || s.link.no_bytes > 0 || s.read_errors > 0 || s.write_errors > 0 || s.ended > 0)
    s.may_fail = true;
  if (s.err_silent && (s.may_fail || s.bad_access > 0)) {  // nobody says that a QP is dead: retries end
    s.may_fail = true;
    s.retry_exp = std::min(s.retry_exp, 2u);
  }
  // A controller's window, 1.5 rate x RTT, holds a packet.
  const double window = 1.5 / 8 * s.cc_rate_gbps * s.cc_rtt_ns;
  const double packet = s.cc_mtu > 0 ? s.cc_mtu : 4096 + 256;
  if (window != 0 && window < packet) s.cc_rtt_ns = 0;
  if (s.cut_planes != 0) s.back_us = s.cut_us + 40;
  // Timers double without end while ports fail at both ends and a fifth of the rest is lost.
  s.hang_us = std::max(s.hang_us, s.flap_us > 0 && s.link.loss > 0.02 ? 200000.0 : 8000.0);
  s.name = kRandomScenario;
}

}  // namespace

Scenario random_scenario(uint64_t seed, unsigned draw) {
  Draws draws = draws_of(seed, draw);
  Rng& rng = draws.rng;
  Rng& later = draws.later;
  const auto& all = scenarios();
  // Those whose peer forges frames stand last: random:fuzz draws near them, since a judge is right to find them.
  const auto forging =
      static_cast<uint64_t>(std::ranges::count_if(all, [](const Scenario& s) { return s.fuzz_us > 0; }));
  Scenario s = all[rng.below(kFirstScenarios)];
  if (const uint64_t at = later.below(all.size() - forging); at >= kFirstScenarios) s = all[at];
  const std::string base = s.name;
  // Few changes, so that what is special about the base stays; or many.
  const double share = one_of(rng, std::array{0.05, 0.2, 0.5});
  const unsigned changes = change(draws, s, share);
  mend(s);
  s.description = base + " with " + std::to_string(changes) + " other values";
  return s;
}

namespace {

uint64_t salt_of(std::string_view text) {
  uint64_t salt = 1;
  for (const char c : text) salt = Rng::hash(salt + static_cast<unsigned char>(c));
  return salt;
}

std::optional<uint64_t> seed_of(std::string_view word) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), seed);
  return error == std::errc{} && end == word.data() + word.size() ? std::optional(seed) : std::nullopt;
}

constexpr const char* kNear =
    "NEAR is a scenario or the seed of a random one, then steps: /SEED, +SCENARIO/SEED, +KEY=VALUE; +SCENARIO may be "
    "the last. 'mrc cosim --scenario list' prints scenarios and keys.";

/// A built-in scenario, or the random one of a seed.
Scenario scenario_of(std::string_view word, std::string_view near) {
  if (const auto seed = seed_of(word)) return random_scenario(*seed);
  if (const Scenario* built_in = find_scenario(std::string(word))) return *built_in;
  throw InputError(
      fmt::format("random:{}: '{}' is neither a built-in scenario nor the seed of a random one.", near, word), kNear);
}

const std::string& words_of(const Scenario& s) { return s.name == kRandomScenario ? s.description : s.name; }

void set_named(Scenario& s, std::string_view key, std::string_view value, std::string_view near) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) {
    throw InputError(fmt::format("random:{}: {} = '{}' is no number.", near, key, value), kNear);
  }
  set_key(s, key, number, fmt::format("random:{}", near));
  mend(s);
  s.description = fmt::format("{} with {} = {}", words_of(s), key, value);
}

void change_a_little(Draws& draws, Scenario& s) {
  const std::string base = words_of(s);
  const unsigned changes = change(draws, s, one_of(draws.rng, std::array{0.02, 0.05, 0.1}));
  mend(s);
  s.description = fmt::format("{}, near it {} other values", base, changes);
}

/// Each key is one or the other's; those that are never drawn alone are all of the same one.
void cross(Draws& draws, Scenario& s, Scenario other) {
  Rng& rng = draws.rng;
  const std::string words = fmt::format("{} crossed with {}", words_of(s), words_of(other));
  const bool together = rng.chance(0.5);
  for (const ScenarioKey& key : scenario_keys()) {
    const bool alone =
        std::ranges::none_of(kNotDrawn, [&](const RandomKey& one) { return std::string_view(one.name) == key.name; });
    Rng& from = stream_of(key.name, draws);
    const bool takes = !alone ? together : from.chance(0.5);
    if (takes) key.set_value(s, key.value(other));
  }
  s.hang_us = std::max(s.hang_us, other.hang_us);
  if (rng.chance(0.5)) s.rules.insert(s.rules.end(), other.rules.begin(), other.rules.end());
  mend(s);
  s.description = words;
}

}  // namespace

Scenario random_scenario_near(std::string_view near, uint64_t seed, unsigned draw) {
  std::size_t at = 0;
  const auto word = [&] {
    const std::size_t end = std::min(near.find_first_of("/+", at), near.size());
    return near.substr(std::exchange(at, end), end - at);
  };
  const auto comes = [&](char step) { return at < near.size() && near[at] == step ? (++at, true) : false; };
  Scenario s = scenario_of(word(), near);
  for (;;) {
    std::optional<std::string_view> with;
    if (comes('+')) {
      with = word();
      if (const std::size_t is = with->find('='); is != std::string_view::npos) {
        set_named(s, with->substr(0, is), with->substr(is + 1), near);
        continue;
      }
    }
    const uint64_t salt = salt_of(near.substr(0, at));
    const bool last = !comes('/');
    if (last && at < near.size()) {
      // +SCENARIO+...: only the last one takes the run's seed.
      throw InputError(fmt::format("random:{}: no seed stands behind '{}'.", near, near.substr(0, at)), kNear);
    }
    uint64_t step = seed;
    if (!last) {
      const auto given = seed_of(word());
      if (!given) {
        throw InputError(fmt::format("random:{}: '{}' does not end with a seed.", near, near.substr(0, at)), kNear);
      }
      step = *given;
    }
    Draws draws = draws_of(Rng::hash(step) ^ salt, last ? draw : 0);
    if (with) {
      cross(draws, s, scenario_of(*with, near));
    } else {
      change_a_little(draws, s);
    }
    if (last) return s;
  }
}

bool is_random(std::string_view name) {
  const std::string_view random = kRandomScenario;
  return name == random || (name.starts_with(random) && name.substr(random.size()).starts_with(':'));
}

Scenario random_named(std::string_view name, uint64_t seed, unsigned draw) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? random_scenario(seed, draw)
                                         : random_scenario_near(name.substr(colon + 1), seed, draw);
}

}  // namespace mrc::tb
