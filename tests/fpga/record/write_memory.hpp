// SPDX-License-Identifier: Apache-2.0
/// A memory on an AXI4 that only writes: slow, stalls at random, may fail. It holds the bytes of a region, and says
/// when the master does something against AXI4 or writes elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "util/rng.hpp"

namespace mrc {

/// Of words of Bytes bytes, with id 0 alone.
template <unsigned Bytes>
class WriteMemory {
 public:
  explicit WriteMemory(uint64_t seed) : rng_(seed, "write memory") {}

  /// Chances in each cycle: that an address or a beat is taken, and that a B is given.
  double takes = 1, acknowledges = 1;
  /// Bursts at these addresses fail, and their bytes are not there.
  std::function<bool(uint64_t)> fails;

  /// What the master may write: the rest is a problem. It is full of 0xEE.
  void region(uint64_t base, std::size_t bytes) {
    base_ = base;
    bytes_.assign(bytes, 0xEE);
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  const std::string& problem() const { return problem_; }
  uint64_t bursts() const { return bursts_; }

  struct Drives {
    bool awready, wready, bvalid;
    uint8_t bresp;
  };
  /// Its pins in this cycle.
  const Drives& drive() {
    if (!b_ && !acks_.empty()) b_ = rng_.chance(acknowledges);
    drives_ = {rng_.chance(takes), rng_.chance(takes), b_, static_cast<uint8_t>(b_ ? (acks_.front() ? 2 : 0) : 1)};
    return drives_;
  }
  /// The master's pins before the edge.
  struct Seen {
    bool awvalid;
    unsigned awid;
    uint64_t awaddr;
    unsigned awlen, awsize, awburst;
    bool wvalid;
    const void* wdata;
    uint64_t wstrb;
    bool wlast, bready;
  };
  void sample(const Seen& t) {
    Offer aw{t.awvalid, t.awaddr, t.awlen, {}};
    Offer w{t.wvalid, t.wstrb, t.wlast, {}};
    std::memcpy(w.data.data(), t.wdata, Bytes);
    if (stays("AW", aw_held_, aw, drives_.awready)) {
      const uint64_t end = aw.at + (aw.more + 1) * Bytes;
      if (1u << t.awsize != Bytes || t.awburst != 1 || t.awid != 0) fail("AW is no burst of words");
      if (aw.at / 4096 != (end - 1) / 4096 || aw.at % Bytes != 0) fail("AW crosses 4 KiB");
      if (aw.at < base_ || end - base_ > bytes_.size()) fail("AW is outside of the region");
      aws_.push_back(aw);
    }
    if (stays("W", w_held_, w, drives_.wready)) {
      if (w.at != (Bytes == 64 ? ~uint64_t{0} : (uint64_t{1} << (Bytes % 64)) - 1)) fail("W is no whole word");
      ws_.push_back(w);
    }
    if (b_ && t.bready) {
      acks_.pop_front();
      b_ = false;
    }
    match();
  }

 private:
  struct Offer {
    bool valid = false;
    uint64_t at = 0;  ///< of W the strobes
    unsigned more = 0;
    std::array<uint8_t, Bytes> data{};
    bool operator==(const Offer&) const = default;
  };
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }
  bool stays(const char* name, Offer& held, const Offer& now, bool ready) {
    if (held.valid && !(now == held)) fail(std::string(name) + " was offered, and has gone or changed");
    held = now;
    if (ready) held.valid = false;
    return now.valid && ready;
  }
  void match() {
    while (!aws_.empty() && ws_.size() > aws_.front().more) {
      const Offer aw = aws_.front();
      aws_.pop_front();
      const bool bad = fails && fails(aw.at);
      for (unsigned i = 0; i <= aw.more; ++i) {
        const Offer w = ws_.front();
        ws_.pop_front();
        if ((w.more != 0) != (i == aw.more)) fail("wlast comes with another beat than the last");
        const uint64_t at = aw.at + uint64_t{i} * Bytes - base_;
        if (!bad && at + Bytes <= bytes_.size())
          std::ranges::copy(w.data, bytes_.begin() + static_cast<std::ptrdiff_t>(at));
      }
      acks_.push_back(bad);
      ++bursts_;
    }
  }

  Rng rng_;
  uint64_t base_ = 0, bursts_ = 0;
  std::vector<uint8_t> bytes_;
  std::deque<Offer> aws_, ws_;
  std::deque<bool> acks_;  ///< of bursts that have come: it fails
  bool b_ = false;
  Drives drives_{};
  Offer aw_held_, w_held_;
  std::string problem_;
};

}  // namespace mrc
