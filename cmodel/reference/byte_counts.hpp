// SPDX-License-Identifier: Apache-2.0
/// What a responder counts a packet for in rcvd_bytes, from its SACKs and the data that they are about.
///
/// A SACK with ooo_count 0 has counted the packets up to its cack_psn, but perhaps for those behind the packet that it
/// answers: cack_psn may be of a later time than rcvd_bytes. A row begins with one that answers its cack_psn. From then
/// on the sum of these packets is known under each reading, and differs by at least 40 bytes a packet, while rcvd_bytes
/// leaves 255 open. Readings that are wrong drift away from the first SACK of a row; the one that is right never does.
/// A packet that was not seen, or a SACK that fits no reading, begins a new row; a PSN that is new once more, a new
/// life.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "log/record.hpp"
#include "log/unwrap.hpp"
#include "wire/packet.hpp"

namespace mrc::ref {

/// Of one responder. Bounded: kMostFlows, of each the PSNs of two windows.
class ByteCounts {
 public:
  static constexpr std::size_t kMostFlows = 1024;

  /// A packet came to the responder.
  void came(const wire::Packet& packet, const wire::WireConfig& wire);
  /// What some SACKs in a row follow, and no other reading.
  struct Shown {
    uint32_t nominal = 0;  ///< value of CTRL.nominal
    bool sure = false;     ///< each packet of the row was seen once: no copy may count for more than another one
  };
  /// The responder sent a SACK. What it and those before it show; nothing: none, alone or yet.
  std::optional<Shown> sent(const wire::Packet& sack);
  /// "packets count as payload".
  static const char* words(uint32_t nominal);

 private:
  struct Flow;
  struct Key {
    log::Ip from{}, to{};  ///< of the data
    uint32_t qp = 0;
    bool operator<(const Key& o) const { return std::tie(from, to, qp) < std::tie(o.from, o.to, o.qp); }
  };
  Flow* flow_of(const wire::Packet& sack);

  std::map<Key, std::shared_ptr<Flow>> flows_;                          ///< by the QP that data goes to
  std::map<Key, std::pair<std::shared_ptr<Flow>, unsigned>> answered_;  ///< by the QP that SACKs go to; how often
};

}  // namespace mrc::ref
