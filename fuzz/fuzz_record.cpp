// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a record of a board's pins: windows that follow each other, with pins in their order, or an error. What
/// stands before the first check of a record is read before that is held against it.
#include <sstream>
#include <string>

#include "fuzz/checks.hpp"
#include "gen/presets.hpp"
#include "tb/board/pins_record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mrc;
  if (size < 1) return 0;
  std::istringstream in(std::string(data + 1, data + size));
  const bool cut = (data[0] & 1) != 0;
  const Preset& preset = *find_preset((data[0] & 2) != 0 ? "fpga100" : "tiny");
  fuzz::refuses_or_reads([&] {
    tb::RecordReader reader(in, "fuzz", preset);
    tb::RecordWindow window;
    uint64_t at = 0;
    while (reader.next(window, cut)) {
      fuzz::must(window.from == at && window.to > at && window.to - window.from <= reader.header().window);
      fuzz::must(!window.pins.empty() && window.pins.front().cycle == at);
      for (const tb::RecordedPins& p : window.pins) {
        fuzz::must(p.cycle >= at && p.cycle < window.to);
        at = p.cycle;
      }
      at = window.to;
    }
    fuzz::must(reader.cycles() == at && (cut || reader.end() != tb::RecordEnd::None));
  });
  return 0;
}
