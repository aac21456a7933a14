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
    queue_.push_back({true, address, data, strobe, std::move(done), false});
  }
  void read(uint16_t address, Done done) { queue_.push_back({false, address, 0, 15, std::move(done), false}); }
  /// Calls `told` when the accesses before have been answered and the next one is about to begin; takes no time. There
  /// must be a next one.
  void before_next(std::function<void()> told) {
    queue_.push_back({false, 0, 0, 0, [told = std::move(told)](uint32_t, unsigned) { told(); }, true});
  }
  /// A row of a table: the TBL_DATA words that changed since the last row, then TBL_CMD.
  void row(unsigned table, unsigned index, std::span<const uint32_t> words, Done done = {});

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

 private:
  struct Access {
    bool write;
    uint16_t address;
    uint32_t data;
    uint8_t strobe;
    Done done;
    bool note = false;  // no access: `done` is called
  };
  enum class State { Idle, Write, Read };
  void busy_cycle(const mrc_pins_out& out, mrc_pins_in& in);

  Rng rng_;
  std::deque<Access> queue_;
  std::array<uint32_t, 16> shadow_{};
  std::array<bool, 16> known_{};
  State state_ = State::Idle;
  bool dawdle_ = false;
  bool aw_done_ = false, w_done_ = false, ar_done_ = false;
  unsigned aw_wait_ = 0, w_wait_ = 0, ready_wait_ = 0;
  unsigned unexpected_ = 0;
};

}  // namespace mrc::tb
