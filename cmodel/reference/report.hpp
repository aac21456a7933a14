// SPDX-License-Identifier: Apache-2.0
/// What the checkers found, and how much they looked at.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gen/rules.hpp"
#include "log/record.hpp"
#include "reference/situation.hpp"
#include "reference/timeline.hpp"

namespace mrc::ref {

enum class Verdict : uint8_t { Pass, Deviates, Inconclusive, Fail, Broken };
/// "391.506 us".
std::string time_text(Time time);
/// "pass", "deviates", "inconclusive", "fail", "broken".
const char* name_of(Verdict verdict);

/// One broken rule, in words: what the device did and what would have been right.
struct Finding {
  Rule rule{};
  Verdict verdict = Verdict::Fail;
  bool alone = false;  ///< of what a discarded packet would explain: that one, `frame`, and no other
  uint32_t device = 0;
  int64_t qp = -1;           ///< -1: none
  Time time = 0, since = 0;  ///< of what is wrong; since when it was owed (0: not that kind)
  uint64_t frame = 0;        ///< number of the frame in its capture, 0: not about a frame
  uint32_t capture = 0;
  std::string came, right;           ///< "SACK with cack_psn 7", "at most 5: PSN 6 has not arrived"
  std::vector<std::string> context;  ///< the QP's last events, oldest first
};

/// Where a rule was broken.
struct Place {
  Time time = 0;
  uint64_t frame = 0;  ///< 0: not about a frame
  uint32_t capture = 0;
};

/// Counts per rule.
struct Tally {
  uint64_t checked = 0;  ///< times the rule was applied and held
  uint64_t broken = 0;
  uint64_t inconclusive = 0;                                ///< obligations whose outcome what was shown does not tell
  std::map<std::string, uint64_t, std::less<>> rests = {};  ///< reason -> times the rule could not be applied
};

/// How long something took, each time, to an eighth.
class Delays {
 public:
  void add(Time delay);
  uint64_t count() const { return count_; }
  Time longest() const { return longest_; }
  /// So long at most, in this share of all.
  Time within(double share) const;

 private:
  std::array<uint64_t, 512> steps_{};
  uint64_t count_ = 0;
  Time longest_ = 0;
};

/// How much of its answers a device's profile leaves open.
struct Tightness {
  uint64_t answers = 0;  ///< SACKs that were judged
  uint64_t open = 0;     ///< of them, whose cack_psn could have been more than one
  uint64_t most = 1;     ///< values that one could have had
};

/// Collects findings of one device. Of each rule the first kMostFindings are kept in full, all are counted.
class Report {
 public:
  static constexpr unsigned kMostFindings = 100;
  explicit Report(uint32_t device) : device_(device) {}

  /// Situation::index() of what is applied from here on.
  void situation(std::size_t index) { situation_ = index; }
  void ok(Rule rule) {
    ++tallies_[static_cast<std::size_t>(rule)].checked;
    apply(rule);
  }
  void rests(Rule rule, std::string_view reason) {
    auto& rests = tallies_[static_cast<std::size_t>(rule)].rests;
    const auto at = rests.find(reason);  // nearly always there: no string is made for it
    ++(at != rests.end() ? at->second : rests[std::string(reason)]);
  }
  /// An obligation of a moment near one at which a carrier came or went by itself, and may have taken packets with it.
  void disturbed(Rule rule) { rests(rule, "a port's carrier came or went by itself"); }
  /// `count` obligations that a packet discarded without a word would explain. They rest where the device has told that
  /// it discarded some, and the rule held at least as often; otherwise they are inconclusive.
  void discarded(Rule rule, uint64_t count, bool notified);
  void inconclusive(Rule rule, const char* reason) {
    ++tallies_[static_cast<std::size_t>(rule)].inconclusive;
    rests(rule, reason);
  }
  /// A SACK that was owed for one packet or probe went so long after it.
  void answered(Time delay) { answers_.add(delay); }
  const Delays& answers() const { return answers_; }
  /// A SACK whose cack_psn may be any of so many: what the device shows and promises tells no more.
  void answer(uint64_t choices) {
    ++tightness_.answers;
    tightness_.open += choices > 1;
    tightness_.most = std::max(tightness_.most, choices);
  }
  const Tightness& tightness() const { return tightness_; }
  /// Fills in device and verdict (from the rule's severity).
  void broken(Finding finding);

  const Tally& tally(Rule rule) const { return tallies_[static_cast<std::size_t>(rule)]; }
  /// Times the rule was applied in a situation.
  uint64_t applied(Rule rule, std::size_t situation) const {
    return cells_[static_cast<std::size_t>(rule) * Situation::kNumber + situation];
  }
  const std::vector<Finding>& findings() const { return findings_; }
  /// Where a rule that was broken was broken last.
  const Place& last(Rule rule) const { return last_[static_cast<std::size_t>(rule)]; }
  /// When rules were broken.
  const Timeline& timeline() const { return timeline_; }
  Verdict verdict() const;
  /// Bytes of what grows with rules and situations.
  uint64_t memory() const { return sizeof *this + cells_.size() * sizeof cells_[0]; }

 private:
  void apply(Rule rule) { ++cells_[static_cast<std::size_t>(rule) * Situation::kNumber + situation_]; }

  uint32_t device_;
  std::size_t situation_ = 0;
  std::array<Tally, kNumRules> tallies_{};
  std::array<Place, kNumRules> last_{};
  std::vector<uint64_t> cells_ = std::vector<uint64_t>(kNumRules * Situation::kNumber);
  Delays answers_;
  Tightness tightness_;
  std::vector<Finding> findings_;
  Timeline timeline_;
};

}  // namespace mrc::ref
