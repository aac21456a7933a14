// SPDX-License-Identifier: Apache-2.0
/// Which EVs a QP's data take, given what came back about them: no states, but accounts. An EV that was blamed carries
/// nothing until a probe on it was answered; one that its owner has denied carries nothing until it is allowed again,
/// and then it does; planes are used alike.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "reference/requestor_world.hpp"

namespace mrc::ref {

class RequestorPaths {
 public:
  RequestorPaths(const log::Qp& qp, RequestorWorld& world, Time time);

  void change(const log::Qp& qp, Time time);
  /// A data packet left; `again`: it was sent before.
  void sent(const Seen& seen, bool again);
  /// A packet counts as lost that went on this plane, whichever EV it went with when that happened.
  void lost(unsigned plane) {
    ever_lost_ = true;
    loses(plane);
  }
  /// This plane has lost something, or may have.
  void loses(unsigned plane) { lossy_ |= uint64_t{1} << (plane & 63); }
  /// A packet that went with this EV at `sent` counts as lost, and was not trimmed.
  void blamed(uint32_t ev, Time sent, Time time);
  /// An EV of the set goes out of use for another reason: the peer refuses it, or the device says so.
  void out_of_use(uint32_t ev, Time time);
  /// An EV is to be skipped once.
  void skipped() { ++skips_; }
  /// The device says that it is back.
  void back(uint32_t ev) {
    if (const auto use = uses_.find(ev); use != uses_.end()) use->second.back = true;
  }
  /// A probe that went with this EV was answered.
  void answered(uint32_t ev);
  void finish();
  uint64_t memory() const { return uses_.size() * 48 + blames_.size() * 48; }

 private:
  struct Use {
    bool once = true;      ///< it stands in the set once
    bool doubted = false;  ///< it was blamed once
    Time out = 0;          ///< it went out of use for the last time
    bool back = false;     ///< and is back since
    /// Its owner has denied it for certain since then; and World::waited() then.
    std::optional<Time> denied{};
    Time waited = 0;
    bool missed = false;                ///< an order to allow it is under way
    std::optional<uint64_t> allowed{};  ///< its owner has allowed it again when packets_ was so much: not used since
  };
  void owners(bool ordered, Time time);
  void check_denied(const Seen& seen, const Use& use);
  void check_allowed(const Seen& seen, uint32_t ev, Use& use);
  void balance(const Seen& seen);
  const char* unfit() const;
  bool floor() const;
  bool bad_world(unsigned plane) const;

  log::Qp qp_;
  RequestorWorld& world_;
  std::unordered_map<uint32_t, Use> uses_;  ///< of the QP's EVs
  std::unordered_map<uint32_t, Time> blames_;
  uint64_t packets_ = 0;    ///< data packets of the QP
  std::size_t denied_ = 0;  ///< how many of uses_ are denied, and how many wait to be used again
  std::size_t allowed_ = 0;
  bool ever_lost_ = false;        ///< so EVs may have gone bad
  uint64_t lossy_ = 0;            ///< planes that have ever lost something
  bool lessened_ = false;         ///< EVs went out of use for other reasons: what is left need not be even
  std::vector<uint32_t> planes_;  ///< packets by plane, of this window
  uint32_t window_ = 0;
  uint32_t skips_ = 0;  ///< marks in this window: each may move a packet to another plane
};

}  // namespace mrc::ref
