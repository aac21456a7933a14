// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a capture: no harm, errors inside the file, and what was read can be written and read again.
#include <cstdlib>
#include <span>
#include <sstream>

#include "wire/pcapng.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mrc::wire;
  const auto capture = read_pcapng({data, size}, "fuzz");
  if (!capture) {
    if (capture.error().offset > size || capture.error().remedy.empty()) std::abort();
    return 0;
  }
  const auto planes = static_cast<unsigned>(capture->interfaces.size());
  if (planes > 64) return 0;
  std::ostringstream out;
  const WireConfig wire = capture->frames.empty() ? WireConfig{} : capture->frames[0].wire;
  PcapngWriter writer(out, wire, planes, 0, capture->comments);
  for (const CapturedFrame& frame : capture->frames) {
    if (!writer.write(frame)) std::abort();
  }
  const std::string file = out.str();
  const auto again = read_pcapng({reinterpret_cast<const uint8_t*>(file.data()), file.size()}, "again");
  if (!again || again->frames.size() != capture->frames.size()) std::abort();
  for (size_t i = 0; i < again->frames.size(); ++i) {
    if (again->frames[i].bytes != capture->frames[i].bytes) std::abort();
    if (again->frames[i].time_ns != capture->frames[i].time_ns) std::abort();
    if (again->frames[i].comments != capture->frames[i].comments) std::abort();
    if (again->frames[i].wire != wire) std::abort();
  }
  return 0;
}
