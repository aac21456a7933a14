// SPDX-License-Identifier: Apache-2.0
/// Situations in which a NACK is a retry or is none, for every requestor that this repository has.
#pragma once

#include <cstdint>
#include <vector>

#include "gen/headers.hpp"

namespace mrc::test {

/// Ten packets are out, PSN 0 to 9: message 0 has 0 to 3, message 1 the others. What follows reaches the requestor.
struct NackCase {
  enum class What {
    Report,  ///< a SACK: only `psn` has arrived
    Ack,     ///< a semantic ACK of the messages before `msn`, up to `psn`
    Nack,    ///< of `psn`
    Expire,  ///< nothing, until the timer has found packets lost
  };
  struct Step {
    What what;
    uint32_t psn = 0;
    uint16_t msn = 0;
    wire::NackReason reason = wire::NackReason::NoResource;
  };
  const char* name;
  unsigned allowed;  ///< linear retries; there are no exponential ones
  std::vector<Step> steps;
  bool fails;  ///< the last step was one retry too many, so it counted
};

inline std::vector<NackCase> nack_cases() {
  using enum NackCase::What;
  using wire::NackReason;
  // The ACK of message 0 moves the window to 4, which a SACK has reported before: 5 is the oldest packet not reported.
  const NackCase::Step reported{Report, 4}, acked{Ack, 3, 1}, expired{Expire};
  return {
      {"the oldest packet", 0, {{Nack, 0}}, true},
      {"the oldest packet, for want of a bitmap", 0, {{Nack, 0, 0, NackReason::NoBitmap}}, true},
      {"the oldest packet, for want of a buffer", 0, {{Nack, 0, 0, NackReason::NoPktBuffer}}, true},
      {"the oldest packet, out of the window", 0, {{Nack, 0, 0, NackReason::PsnOorWindow}}, true},
      {"the oldest packet, trimmed", 0, {{Nack, 0, 0, NackReason::Trimmed}}, false},
      {"the oldest packet, trimmed on the last hop", 0, {{Nack, 0, 0, NackReason::TrimmedLasthop}}, false},
      {"another packet", 0, {{Nack, 1}, {Nack, 9}}, false},
      {"a packet that was not sent", 0, {{Nack, 10}}, false},
      {"the oldest packet, once more than allowed", 1, {{Nack, 0}, {Nack, 0}}, true},
      {"the oldest packet of the window, which has arrived", 0, {reported, acked, {Nack, 4}}, false},
      {"a packet that was acknowledged", 0, {reported, acked, {Nack, 0}}, false},
      {"behind one that has arrived, before the timer has seen it", 0, {reported, acked, {Nack, 5}}, false},
      {"behind one that has arrived, as the timer has seen", 1, {reported, acked, expired, {Nack, 5}}, true},
      {"behind the oldest not reported, as the timer has seen", 1, {reported, acked, expired, {Nack, 6}}, false},
      {"arrived, and the timer has seen what lies behind", 1, {reported, acked, expired, {Nack, 4}}, false},
  };
}

}  // namespace mrc::test
