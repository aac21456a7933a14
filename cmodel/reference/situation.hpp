// SPDX-License-Identifier: Apache-2.0
/// In what a rule was applied: what the judge was told just then, and how the device fared at that time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "log/record.hpp"
#include "wire/packet.hpp"

namespace mrc::ref {

/// What the judge was told.
enum class At : uint8_t {
  Later,  ///< nothing: a time had come
  DataSent,
  RepeatSent,
  DataCame,
  RepeatCame,
  MarkedCame,
  TrimmedCame,
  SackSent,
  SackCame,
  NackSent,
  NackCame,
  AckSent,
  AckCame,
  ProbeSent,
  ProbeCame,
  EndpointSent,
  EndpointCame,
  OtherSent,
  OtherCame,
  Verb,
  Completion,
  Memory,
  Port,
  Event,
  End,
};
inline constexpr std::size_t kNumAt = static_cast<std::size_t>(At::End) + 1;

/// How the device fares; of several the last.
enum class Fares : uint8_t {
  Well,
  Loss,     ///< a packet went or came again, or cut, within the last 50 us
  Failed,   ///< a QP of it is in ERROR
  PortDown  ///< a port of it is down
};
inline constexpr std::size_t kNumFares = static_cast<std::size_t>(Fares::PortDown) + 1;

/// "data came", "loss".
const char* name_of(At at);
const char* name_of(Fares fares);

/// Follows one device.
class Situation {
 public:
  static constexpr std::size_t kNumber = kNumAt * kNumFares;

  /// What the judge is told next.
  void frame(const log::Frame& frame, const wire::Packet& packet, log::Time time);
  void record(const log::Record& record, log::Time time);
  /// Nothing but that it is later.
  void later(log::Time time);

  std::size_t index() const { return index_; }
  static At at(std::size_t index) { return static_cast<At>(index / kNumFares); }
  static Fares fares(std::size_t index) { return static_cast<Fares>(index % kNumFares); }

 private:
  void set(At at, log::Time time);

  std::size_t index_ = 0;
  uint64_t down_ = 0;  ///< ports
  log::Time loss_until_ = 0;
  std::vector<uint32_t> errors_;  ///< QPs in ERROR, in order
};

}  // namespace mrc::ref
