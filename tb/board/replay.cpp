// SPDX-License-Identifier: Apache-2.0
#include "tb/board/replay.hpp"

#include "tb/board/pins_digest.hpp"

namespace mrc::tb {

ReplayResult replay(RecordReader& record, Dut& device, const Preset& preset, const ReplayOptions& options) {
  ReplayResult result;
  PinsDigest digest(preset);
  mrc_pins_out out{};
  RecordWindow window;
  while (record.next(window, options.cut)) {
    if (options.stop != nullptr && *options.stop) {
      result.stopped = true;
      break;
    }
    digest.restart();
    std::size_t at = 0;
    for (uint64_t cycle = window.from; cycle < window.to; ++cycle) {
      if (at + 1 < window.pins.size() && window.pins[at + 1].cycle == cycle) ++at;
      const mrc_pins_in& in = window.pins[at].pins;
      device.outputs(out);
      digest.add(out);
      if (options.watch) options.watch(cycle, in, out);
      device.step(in);
    }
    result.cycles = window.to;
    if (window.digest) {
      result.compared = window.to;
      ++result.windows;
      if (*window.digest != digest.value()) {
        ++result.unequal;
        if (!result.first) result.first = {window.from, window.to, *window.digest, digest.value()};
        if (options.first_only) break;
      }
    }
    if (options.progress) options.progress(window.to);
  }
  result.end = record.end();
  return result;
}

}  // namespace mrc::tb
