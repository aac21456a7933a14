// SPDX-License-Identifier: Apache-2.0
/// Which reading of each open question (docs/protocol/assumptions.md) a device follows, as far as what it sends shows
/// it. One that it follows throughout is its choice; two readings of one question are a change of mind.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "input/json.hpp"
#include "reference/byte_counts.hpp"
#include "reference/profile.hpp"
#include "wire/packet.hpp"

namespace mrc::ref {

/// One way to read a question, and the packets that follow it.
struct Reading {
  uint32_t value = 0;  ///< of the question's setting
  std::string words;   ///< "time stamps in units of 1.024 us"
  uint64_t packets = 0;
  uint64_t first = 0;  ///< number of the first one in its capture
  uint32_t capture = 0;
};

/// An open question that a wire can tell.
struct Question {
  const char* assumption;  ///< "A-21"
  const char* setting;     ///< "CTRL.tsr_us", of Settings
  const char* about;       ///< "unit of time stamps"
};

class Readings {
 public:
  /// What can be told, in the order of the register.
  static const std::vector<Question>& questions();

  /// The device sent it; `number` counts in capture `capture`.
  void packet(const wire::Packet& packet, const wire::WireConfig& wire, uint64_t number, uint32_t capture);
  /// It came to the device: what its SACKs count.
  void came(const wire::Packet& packet, const wire::WireConfig& wire);
  /// Of questions()[question]; none: nothing shows it. The one that most packets follow comes first.
  std::vector<Reading> of(std::size_t question) const;
  /// Nothing that the device sent answers a question.
  bool empty() const { return seen_.empty(); }
  /// Settings of the questions that have one answer, others as they were.
  void apply(Settings& settings) const;
  /// {assumption, setting, readings: [{value, words, packets, first, capture}]} for each question.
  input::Json json() const;

 private:
  template <class Words>
  void notify(std::size_t question, uint32_t value, uint64_t number, uint32_t capture, Words&& words);
  std::map<std::pair<std::size_t, uint32_t>, Reading> seen_;
  ByteCounts bytes_;
};

}  // namespace mrc::ref
