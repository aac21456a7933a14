// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/captures.hpp"

#include "wire/pcapng.hpp"

namespace mrc::test {

void write_capture(std::ostream& out, const std::vector<Happening>& story) {
  wire::PcapngWriter writer(out, {}, 2, 100);
  for (const Happening& h : story) {
    const auto* frame = std::get_if<log::Frame>(&h.record.body);
    if (frame == nullptr) continue;
    writer.write(frame->plane, h.record.time / 1000, frame->bytes, {}, frame->length);
  }
}

}  // namespace mrc::test
