// SPDX-License-Identifier: Apache-2.0
/// Counts at the streams between a NIC's blocks: cycles in which a stream moved, and in which it wanted to and its
/// taker did not let it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gen/presets.hpp"

namespace mrc::tb {

class StreamTap {
 public:
  /// Cycles between two readings.
  static constexpr uint64_t kEvery = 512;
  /// Takes a reading: "stream tx_path.path>tx_header moved", "... blocked", and at last "... cycles".
  using Sink = std::function<void(std::string name, uint64_t value, uint64_t time_ps)>;

  StreamTap(const Preset& preset, Sink sink);
  /// One cycle, as Dut::observe() shows it.
  void look(const uint32_t* core, const uint32_t* lanes, uint64_t now_ps);
  /// The last reading.
  void finish(uint64_t now_ps);

 private:
  struct Stream {
    std::string name;
    unsigned offset;
    bool lane;
    uint64_t moved = 0, blocked = 0;
  };
  void report(uint64_t now_ps);

  Sink sink_;
  std::vector<Stream> streams_;
  uint64_t cycles_ = 0, reported_ = ~uint64_t{0};
};

}  // namespace mrc::tb
