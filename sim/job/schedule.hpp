// SPDX-License-Identifier: Apache-2.0
/// What the ranks of a job do: for each a stream of operations, read step by step, never held as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/engine/units.hpp"

namespace mrc::sim {

/// An operation of a rank. It begins when the operations of the same rank that it waits for are done, or have begun.
struct Op {
  enum class Kind : uint8_t {
    Calc,  ///< takes a time; those of one `cpu` come one after the other
    Send,  ///< a message to another rank; done when the sender knows that it has arrived
    Recv,  ///< the next message from a rank with that tag; done when it is there
    Mark,  ///< the end of a step
  };
  Kind kind = Kind::Calc;
  uint8_t cpu = 0;
  /// All operations behind it wait for it, or for one that does: nobody needs to read on before it is done.
  bool fence = false;
  uint32_t peer = 0;    ///< the other rank
  uint32_t tag = 0;     ///< less than kNoTag
  uint32_t line = 0;    ///< in the trace; 0: of none
  uint64_t amount = 0;  ///< Calc: ps; Send, Recv: bytes, at least 1; Mark: the step, 0, 1, ...
  /// Operations of the rank by their numbers, 0, 1, ... in the order of the stream: earlier ones.
  std::vector<uint64_t> after{}, after_begin{};

  void set(Kind what, uint64_t how_much, uint32_t with = 0, uint32_t by = 0) {
    kind = what;
    amount = how_much;
    peer = with;
    tag = by;
    cpu = 0;
    fence = false;
    line = 0;
    after.clear();
    after_begin.clear();
  }
};
inline constexpr uint32_t kNoTag = 0xffffffff;

/// The operations of one rank, from the first on.
class Stream {
 public:
  virtual ~Stream() = default;
  /// False: that were all.
  virtual bool next(Op& op) = 0;
};

/// A job. Streams of one rank are all alike, however often they are opened, by any thread.
class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual uint32_t ranks() const = 0;
  /// Marks of each rank.
  virtual uint32_t steps() const = 0;
  /// All steps have the same operations, but for their numbers; none is read before the step before has ended at its
  /// rank (Op::fence).
  virtual bool alike() const { return false; }
  /// Ranks that a rank sends to, in any order, some perhaps twice.
  virtual void peers(uint32_t rank, std::vector<uint32_t>& to) const = 0;
  /// Control dependencies of a trace of Chakra's, for which nobody waits.
  uint64_t calls = 0;
  std::unique_ptr<Stream> open(uint32_t rank) const { return open_at(rank, 0); }
  /// From the begin of a step on, as if those before were done. A trace has one.
  virtual std::unique_ptr<Stream> open_at(uint32_t rank, uint32_t step) const = 0;
};

}  // namespace mrc::sim
