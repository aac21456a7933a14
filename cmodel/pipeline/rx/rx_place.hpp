// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/stream.hpp"

namespace mrc {

/// Merges the lanes' lines into the host's write port, and says when a packet is in host memory. Contract:
/// docs/design/blocks/rx/rx_place.md. One line per cycle.
class RxPlace {
 public:
  /// lines[p]: from lane p.
  RxPlace(const Preset& preset, std::vector<Stream<Line>>& lines) : lines_(lines), arb_(preset.num_planes) {}

  /// Output line, the host's write port.
  bool line_valid() const { return line_.valid(); }
  const Line& line() const { return line_.data(); }
  /// Registers done_valid_q and done_plane_q: a packet of that plane is placed, or its buffer freed.
  bool done_valid() const { return done_valid_; }
  unsigned done_plane() const { return done_plane_; }

  void step(bool host_ready) {
    host_ready_ = host_ready;
    const bool fin = line_.valid() && host_ready && line_.data().last;
    const bool free = line_.free(host_ready);
    done_valid_next_ = fin;
    done_plane_next_ = line_.data().plane;
    const int plane = arb_.pick([&](unsigned p) {
      if (!lines_[p].has()) return false;
      // While the host takes nothing, nothing is done: no packet before the data ahead of it.
      return free && (lines_[p].head().len != 0 || !fin);
    });
    if (plane < 0) return;
    const auto p = static_cast<unsigned>(plane);
    arb_.take(p);
    const Line& head = lines_[p].head();
    if (head.len == 0) {
      done_valid_next_ = true;
      done_plane_next_ = p;
    } else {
      Line& line = line_.load();
      line = head;
      line.plane = static_cast<uint8_t>(p);
    }
    lines_[p].pop();
  }
  void clock() {
    line_.clock(host_ready_);
    done_valid_ = done_valid_next_;
    done_plane_ = done_plane_next_;
  }

 private:
  std::vector<Stream<Line>>& lines_;
  RrArb arb_;
  OutReg<Line> line_;
  bool host_ready_ = false;
  bool done_valid_ = false, done_valid_next_ = false;
  unsigned done_plane_ = 0, done_plane_next_ = 0;
};

}  // namespace mrc
