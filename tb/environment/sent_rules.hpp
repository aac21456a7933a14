// SPDX-License-Identifier: Apache-2.0
/// What a NIC must do with the frames it sends, by the plan of its QPs alone: no model has a part in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tb/environment/frame.hpp"
#include "tb/environment/plan.hpp"

namespace mrc::tb {

/// Three rules about the frames at the ports of one NIC:
/// - A frame has the code point of its class: that of its QP, if that has one of its own, else the NIC's; control
///   packets have the NIC's.
/// - A WRITE has no payload only if it is an Only packet of DMA length 0, and the other way round.
/// - Of the WRITEs with immediate that a QP has sent to their ends, no more than max_wimm lack their semantic ACK. What
///   counts is what the NIC could have received when the frame began.
class SentRules {
 public:
  explicit SentRules(const SidePlan& plan);

  /// A frame begins at a port. Returns what is wrong with it, "" if nothing.
  std::string sent(const std::vector<uint8_t>& frame, const FrameInfo& info);
  /// A frame has come in whole and unharmed.
  void came(const std::vector<uint8_t>& frame, const FrameInfo& info);
  /// QP `qp` is reset: what it still has inside may have the NIC's class.
  void reset(unsigned qp) { qps_[qp].connected = false; }
  /// It is connected, as the plan now says.
  void connected(unsigned qp) { qps_[qp] = {.connected = true, .acked = plan_.qps[qp].msn, .immediates = {}}; }

 private:
  struct Qp {
    bool connected = false;
    uint16_t acked = 0;                ///< all messages before it
    std::vector<uint16_t> immediates;  ///< MSNs of those that were sent to their ends and are not acknowledged
  };
  std::string wrong_class(const FrameInfo& info, unsigned qp) const;
  std::string wrong_length(const std::vector<uint8_t>& frame, const FrameInfo& info) const;
  std::string immediate(const std::vector<uint8_t>& frame, const FrameInfo& info, unsigned qp);
  /// The own QP whose peer is `dqp`, or as many as there are.
  unsigned index_of(uint32_t dqp) const;

  const SidePlan& plan_;
  std::vector<unsigned> own_;  ///< by the peer's index
  std::vector<Qp> qps_;
};

}  // namespace mrc::tb
