// SPDX-License-Identifier: Apache-2.0
/// A part of the judge. It is told everything one device did and saw, in the order of time, and says what is wrong.
#pragma once

#include "log/record.hpp"
#include "reference/profile.hpp"
#include "reference/report.hpp"
#include "wire/packet.hpp"

namespace mrc::ref {

/// A frame with its headers. Lives until the call returns.
struct Seen {
  const log::Frame& frame;
  const wire::Packet& packet;  ///< as decoded with the profile's wire()
  Time first, last;            ///< of its first and last byte
  bool whole = true;           ///< the bytes behind the headers are there: neither cut off nor redacted
  bool doubtful = false;       ///< a field that the ICRC does not cover is wrong: frame.flags has kMaybe
  bool mrc() const { return packet.bth.has_value(); }
};

/// Calls come in the order of Record::time; frames received at the time of their last byte, frames sent at the time of
/// their first: a frame binds when its sender commits to it, and is known when it is there.
class Checker {
 public:
  virtual ~Checker() = default;
  virtual void port(const log::Port&, Time) {}
  virtual void qp(const log::Qp&, Time) {}
  virtual void region(const log::Mr&, Time) {}
  virtual void received(const Seen&) {}
  virtual void sent(const Seen&) {}
  virtual void host(const log::Host&, Time) {}
  virtual void posted(const log::Post&, Time) {}
  virtual void posted(const log::PostReceive&, Time) {}
  virtual void completed(const log::Cqe&, Time) {}
  virtual void event(const log::Event&, Time) {}
  virtual void counter(const log::Counter&, Time) {}
  virtual void gap(const log::Gap&, Time) {}
  /// Everything before `time` has been told: deadlines before it can be judged.
  virtual void now(Time) {}
  virtual void finish(const log::End&, Time) {}
  /// Bytes it holds, about.
  virtual uint64_t memory() const { return 0; }
};

}  // namespace mrc::ref
