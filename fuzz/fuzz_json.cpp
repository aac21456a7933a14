// SPDX-License-Identifier: Apache-2.0
/// Any text as packets in JSON: refused with a reason, or encoded.
#include <cstdlib>
#include <string_view>

#include "wire/decode.hpp"
#include "wire/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mrc::wire;
  const auto frames = from_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!frames) {
    if (frames.error().what.empty() || frames.error().remedy.empty() || frames.error().offset > size) std::abort();
    return 0;
  }
  for (const CapturedFrame& frame : *frames) decode(frame.bytes);
  return 0;
}
