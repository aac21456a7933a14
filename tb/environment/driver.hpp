// SPDX-License-Identifier: Apache-2.0
/// AXI4-Lite master: works through a list of register accesses.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>

#include "api/pins.h"
#include "util/rng.hpp"

namespace mrc::tb {

class Driver {
 public:
  explicit Driver(Rng rng) : rng_(rng) {}

  /// Called with the answer of an access: data (reads) and response code.
  using Done = std::function<void(uint32_t data, unsigned resp)>;
  void write(uint16_t address, uint32_t data, Done done = {}, uint8_t strobe = 15) {
    queue_.push_back({Kind::Write, address, data, strobe, std::move(done)});
  }
  void read(uint16_t address, Done done) { queue_.push_back({Kind::Read, address, 0, 15, std::move(done)}); }
  /// Calls `reported` when the accesses before have been answered and the next one is about to begin; takes no time.
  /// There must be a next one.
  void before_next(std::function<void()> reported) {
    queue_.push_back({Kind::Note, 0, 0, 0, [reported = std::move(reported)](uint32_t, unsigned) { reported(); }});
  }
  /// A row of a table: the TBL_DATA words that changed since the last row, then TBL_CMD, then CMD_STATUS until the
  /// command has ended. A command that was refused is answered with SLVERR.
  void row(unsigned table, unsigned index, std::span<const uint32_t> words, Done done = {}) {
    begin_row(table, index, words);
    end_row(std::move(done));
  }
  /// The same in two: what is queued in between finds the command under way, or ended.
  void begin_row(unsigned table, unsigned index, std::span<const uint32_t> words);
  void end_row(Done done = {});
  /// A fence, and reads of FENCE until it has ended; `seen` is called with each.
  void fence(Done seen);

  /// Somebody else has written TBL_DATA words.
  void forget_rows() { known_.fill(false); }

  bool idle() const { return queue_.empty(); }
  /// From now on wait between address, data and response now and then.
  void dawdle(bool on) { dawdle_ = on; }

  /// One cycle. A read answer other than OKAY, or a write answered otherwise, goes to the accesses' Done.
  void cycle(const mrc_pins_out& out, mrc_pins_in& in) {
    if (queue_.empty() && state_ == State::Idle) return;
    busy_cycle(out, in);
  }
  /// Accesses answered with an error although no Done was given.
  unsigned unexpected() const { return unexpected_; }
  /// Accesses that have ended.
  uint64_t ended() const { return ended_; }

 private:
  enum class Kind : uint8_t {
    Write,
    Read,
    Note,     // no access: `done` is called
    Command,  // a write whose response is part of the answer to the poll behind it
    Poll,     // reads of CMD_STATUS until the command has ended
    Fence,    // reads of FENCE until it has ended; `done` is called with each
  };
  struct Access {
    Kind kind;
    uint16_t address;
    uint32_t data;
    uint8_t strobe;
    Done done;
  };
  enum class State { Idle, Write, Read };
  void busy_cycle(const mrc_pins_out& out, mrc_pins_in& in);
  void finish(uint32_t data, unsigned resp);

  Rng rng_;
  std::deque<Access> queue_;
  std::array<uint32_t, 16> shadow_{};
  std::array<bool, 16> known_{};
  State state_ = State::Idle;
  bool dawdle_ = false;
  bool aw_done_ = false, w_done_ = false, ar_done_ = false;
  unsigned aw_wait_ = 0, w_wait_ = 0, ready_wait_ = 0;
  unsigned command_resp_ = 0;
  unsigned unexpected_ = 0;
  uint64_t ended_ = 0;
};

}  // namespace mrc::tb
