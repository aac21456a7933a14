// SPDX-License-Identifier: Apache-2.0
/// Who sent data to whom, and how it went: a row for each way from an address to a QP, and a timeline. It judges
/// nothing. Every device that is judged has an Observer, which is told each of its frames once.
///
/// A way is told by its sender's frames when the sender is a device of the log, else by its receiver's. What happens
/// under way (trimmed, marked) is told by the receiver's, where they are there. Of a capture both are the same frames.
///
/// Bounded: kMostWays of all devices (each side of one counts), kMostEvs, of each way the PSNs of a window and some
/// behind it and kMostMessages.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "reference/checker.hpp"
#include "reference/report.hpp"
#include "reference/timeline.hpp"

namespace mrc::ref {

/// Data from an address to a QP of another one. Damaged frames, and those that a switch has sent back, do not
/// count.
struct Way {
  log::Ip from{}, to{};
  std::optional<uint32_t> sender, receiver;  ///< devices; nothing: not judged
  std::optional<uint32_t> qp;                ///< the sender's own; nothing: not told
  uint32_t peer_qp = 0;
  uint32_t first_psn = 0, last_psn = 0;  ///< the first one seen, the highest one
  /// MSN of the first packet, and of that with the highest PSN.
  std::optional<uint16_t> first_msn, last_msn;
  /// RQMSN, of packets that end a message with an immediate (A-25: others have none).
  std::optional<uint16_t> first_rqmsn, last_rqmsn;
  uint16_t pkey = 0;     ///< of the first one seen
  uint32_t mtu = 0;      ///< most payload of a First or Middle; 0: none was seen
  uint64_t packets = 0;  ///< transmissions seen, trimmed ones as well
  uint64_t again = 0;    ///< of them with rtx
  /// Of those, of a PSN that was neither NACKed nor seen trimmed since it went out before: what its sender took for
  /// lost.
  uint64_t lost = 0;
  uint64_t trimmed = 0;              ///< packets that a switch has cut
  uint64_t marked = 0;               ///< packets with CE
  uint64_t missing = 0;              ///< PSNs that were acknowledged and never seen, above the first one seen
  std::optional<uint64_t> arrived;   ///< packets that are known to have reached the receiver
  uint32_t outstanding = 0;          ///< most PSNs beyond the highest cack_psn that was heard
  uint32_t granted = 0;              ///< largest window that SACKs have granted, PSNs; 0: none names one
  std::map<unsigned, uint64_t> evs;  ///< plane -> entropy values seen
  /// Of messages with an immediate: from the first packet of it that was seen (its First or Only is among those seen)
  /// to the first SACK with a cack_psn, or ACK with a PSN, that is not below its last PSN.
  Delays completions;
  uint64_t untimed = 0;  ///< messages with an immediate whose time is not known
};

class Traffic {
 public:
  static constexpr std::size_t kMostWays = 4096, kMostEvs = 1 << 18, kMostMessages = 256;

  Traffic();
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;
  ~Traffic();

  /// The observer of a device, which the traffic has to outlive.
  std::unique_ptr<Checker> observer(uint32_t device, const Profile& profile);
  /// By sender, receiver and QP.
  std::vector<Way> ways() const;
  /// Frames of ways that are not held, because they are too many.
  uint64_t beyond() const { return beyond_; }
  /// Each frame once.
  Timeline timeline() const;
  uint64_t memory() const;

 private:
  struct Key {
    log::Ip from{}, to{};
    uint32_t dqp = 0;
    bool operator<(const Key& o) const { return std::tie(from, to, dqp) < std::tie(o.from, o.to, o.dqp); }
    bool operator==(const Key&) const = default;
  };
  struct Hash;
  struct View;    ///< a way as one device sees it
  struct Device;  ///< all that one device sees
  class Observer;
  /// Both sides of a way. One of them may be missing.
  struct Sides {
    const Device* sender = nullptr;
    const Device* receiver = nullptr;
    const View* sent = nullptr;
    const View* came = nullptr;
  };
  std::vector<std::pair<Key, Sides>> sides() const;

  std::vector<std::unique_ptr<Device>> devices_;
  std::size_t views_ = 0, evs_ = 0;
  uint64_t beyond_ = 0;
};

/// What is shown as lines and on a page.
struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};
/// In columns, each line behind `indent`.
std::string to_text(const Table& table, const std::string& indent);

}  // namespace mrc::ref
