// SPDX-License-Identifier: Apache-2.0
/// The judge of one device: feeds its checkers, one packet decoded once.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "reference/checker.hpp"
#include "reference/situation.hpp"

namespace mrc::ref {

/// Records that judges have told and whose memory is used again, by their kind.
class SpareRecords {
 public:
  using Owned = std::unique_ptr<log::Record>;
  /// One that was of that kind, or a new one.
  Owned get(std::size_t kind);
  /// `bytes` is what it holds besides itself. Beyond kMostBytes it is freed.
  void put(Owned record, std::size_t bytes);
  uint64_t memory() const { return bytes_; }

 private:
  static constexpr std::size_t kMostBytes = 64u << 20;
  struct Spare {
    Owned record;
    std::size_t bytes = 0;
  };
  std::array<std::vector<Spare>, std::variant_size_v<log::Body>> of_kind_;
  std::size_t bytes_ = 0;
};

class Judge {
 public:
  /// All checkers that there are. Several judges may have the same spare records.
  Judge(uint32_t device, Profile profile, std::shared_ptr<SpareRecords> spare = std::make_shared<SpareRecords>());
  ~Judge();
  Judge(Judge&&) noexcept;
  Judge& operator=(Judge&&) noexcept;

  /// One more checker, behind those that fill the report. Before the first record.
  void also(std::unique_ptr<Checker> checker) { checkers_.push_back(std::move(checker)); }
  /// Records of this device. A source's records come in the order of their times; the judge brings sources together,
  /// as far as Until records and the order they come in allow: it holds back at most kMostHeld records and
  /// kMostHeldBytes of them.
  void push(const log::Record& record) {
    auto copy = std::make_unique<log::Record>(record);
    take(copy);
  }
  /// The same without a copy: `record` becomes another one, whose memory can be used again.
  void take(std::unique_ptr<log::Record>& record);
  /// No more records. Without an End record the log was cut.
  void finish();

  const Profile& profile() const { return *profile_; }
  const Report& report() const { return *report_; }
  uint64_t packets() const { return packets_; }
  /// Without the spare records.
  uint64_t memory() const;

  static constexpr std::size_t kMostHeld = 1 << 16, kMostHeldBytes = 64u << 20;

 private:
  using Owned = std::unique_ptr<log::Record>;
  struct Held {
    Time time = 0;
    uint64_t order = 0;
    std::size_t bytes = 0;
    Owned record;
    bool before(const Held& other) const { return time != other.time ? time < other.time : order < other.order; }
    static bool heap(const Held& a, const Held& b) { return b.before(a); }
  };
  void notify(const log::Record& record, Time time);
  void drain(Time until);
  Held oldest();
  Time oldest_time() const;
  void frame(const log::Frame& frame, Time time);
  void in_order(const log::Record& record, uint8_t source);

  uint32_t device_ = 0;
  std::unique_ptr<Profile> profile_;  ///< checkers hold on to it
  wire::WireConfig wire_;
  wire::Packet packet_;  ///< the newest frame's; its memory is used again
  std::unique_ptr<Report> report_;
  Situation situation_;
  std::vector<std::unique_ptr<Checker>> checkers_;
  // Most records come in the order of their times, frames that came in that of their ends: queues hold these, a heap
  // the others.
  std::deque<Held> in_order_, came_;
  std::vector<Held> late_;
  std::shared_ptr<SpareRecords> spare_;
  std::array<Time, 256> newest_{};  ///< per source
  std::array<Time, 256> until_{};   ///< per source: nothing older comes
  uint64_t order_ = 0, packets_ = 0;
  std::size_t held_ = 0, held_bytes_ = 0;
  Time notified_ = 0, largest_error_ = 0;
  bool ended_ = false, some_notified_ = false;
};

}  // namespace mrc::ref
