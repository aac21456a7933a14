// SPDX-License-Identifier: Apache-2.0
/// Does what a schedule says, rank by rank.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/engine/ring.hpp"
#include "sim/job/schedule.hpp"

namespace mrc::sim {

/// What carries messages and time: the fabric, or an ideal one (ideal.hpp). All calls are for the rank whose callback
/// is under way.
class Wires {
 public:
  virtual ~Wires() = default;
  virtual Time now(uint32_t rank) const = 0;
  /// Executor::sent() follows with `id`, and Executor::arrived() at the peer; perhaps before it returns.
  virtual void send(uint32_t rank, uint32_t peer, uint64_t bytes, uint32_t tag, uint32_t id) = 0;
  /// Executor::due() at that time; an earlier call is replaced.
  virtual void wake_at(uint32_t rank, Time time) = 0;
  /// The rank has done everything.
  virtual void ended(uint32_t rank) = 0;
};

/// What a rank did until now.
struct RankResult {
  std::vector<Time> marks;  ///< when each step ended
  Time end = kNever;        ///< all is done
  uint64_t messages = 0, bytes = 0, failed = 0;
  Time computed = 0;  ///< operations that took time
};

/// An operation of a step whose waits are kept, in the order in which a rank's began.
struct OpRecord {
  uint64_t number = 0;     ///< in the rank's stream
  uint64_t cause = kNone;  ///< the operation that was done last before it could begin
  uint64_t amount = 0;
  Time begin = 0, done = kNever;
  uint32_t peer = 0, tag = 0;
  Op::Kind kind = Op::Kind::Calc;
  bool late = false;  ///< a Recv that waited for its message
  static constexpr uint64_t kNone = ~uint64_t{0};
};

/// Ranks touch nothing of each other: each may be called by another thread.
class Executor {
 public:
  /// So many operations of a rank have been read and are not done, at most.
  static constexpr uint32_t kAhead = 256;

  Executor(const Schedule& schedule, Wires& wires, uint32_t ahead = kAhead);
  /// Goes on from the begin of a step; `before`: what each rank did until then, with the marks of the steps before it.
  Executor(const Schedule& schedule, Wires& wires, uint32_t ahead, uint32_t step, std::vector<RankResult> before);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Callbacks of a rank.

  void begin(uint32_t rank);
  /// ok: the peer has it; else its QP has failed.
  void sent(uint32_t rank, uint32_t id, bool ok);
  void arrived(uint32_t rank, uint32_t from, uint32_t tag, uint64_t bytes);
  void due(uint32_t rank);

  // Between callbacks.

  const RankResult& result(uint32_t rank) const;
  /// Before it begins: keeps what the operations of that step waited for.
  void keep(uint32_t step) { kept_ = step; }
  const std::vector<OpRecord>& kept(uint32_t rank) const;
  /// Messages that have been posted, and neither arrived nor failed as far as the sender knows.
  uint64_t under_way() const;
  /// What a rank found wrong first, a sentence without full stop; empty: nothing. `line`: in the trace.
  struct Problem {
    std::string text;
    uint32_t line = 0;
  };
  Problem problem() const;
  /// A rank that has not ended, and what it waits for.
  Problem waiting() const;
  uint64_t memory() const;
  /// Of a rank's operations that have been read and are not done, as they are, but for their numbers.
  uint64_t state_hash(uint32_t rank) const;

 private:
  struct Rank;
  struct Live;
  void run(uint32_t number, Rank& rank);
  void add(Rank& rank, const Op& op);
  void start(uint32_t number, Rank& rank, uint32_t slot);
  void start_calc(uint32_t number, Rank& rank, uint32_t slot);
  void start_recv(uint32_t number, Rank& rank, uint32_t slot);
  void has_begun(uint32_t number, Rank& rank, uint32_t slot);
  void freed(Rank& rank, uint32_t slot, uint64_t by);
  void done(uint32_t number, Rank& rank, uint32_t slot);
  void check_bytes(uint32_t number, Rank& rank, const Live& op, uint64_t bytes);
  std::string text_of(uint32_t number, const Live& op) const;

  Wires& wires_;
  uint32_t ahead_;
  std::optional<uint32_t> kept_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace mrc::sim
