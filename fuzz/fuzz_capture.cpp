// SPDX-License-Identifier: Apache-2.0
/// Any bytes as any capture, packed or not, or as a packet of any link that the capture has cut; the first byte says
/// which. No harm comes of it. What is made Ethernet keeps no more bytes than it had on the wire, and becomes JSON.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string>

#include "log/duplicates.hpp"
#include "log/left_out.hpp"
#include "wire/capture.hpp"
#include "wire/json.hpp"
#include "wire/link_layer.hpp"

namespace {

using namespace mrc;

void look(wire::CapturedFrame& frame, log::Duplicates& duplicates) {
  const bool shorter = frame.bytes.size() <= frame.original_length;
  if (!wire::to_ethernet(frame)) {
    if (wire::unread_json(frame).empty()) std::abort();
    return;
  }
  if (shorter && frame.bytes.size() > frame.original_length) std::abort();
  if (wire::to_json(frame, frame.number).empty()) std::abort();
  log::Frame seen;
  seen.length = std::max(frame.original_length, static_cast<uint32_t>(frame.bytes.size()));
  seen.bytes = frame.bytes;
  seen.flags = seen.length > seen.bytes.size() ? log::kCut : 0;
  log::Reading reading;
  log::read_frame(reading, seen, frame.wire);
  if (!reading.why && !reading.packet.bth) std::abort();
  duplicates.again(seen.bytes, seen.length, {frame.time_ns, frame.interface, reading.packet.seth.has_value()});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr std::array<uint16_t, 7> kLinks = {
      wire::kLinkEthernet, wire::kLinkRaw, wire::kLinkSll, wire::kLinkSll2, wire::kLinkIpv4, wire::kLinkIpv6, 105};
  log::Duplicates duplicates;
  if (data[0] >= 0x80) {
    wire::CapturedFrame frame;
    frame.link = kLinks[data[0] % kLinks.size()];
    frame.bytes.assign(data + 1, data + size);
    frame.original_length = static_cast<uint32_t>(size - 1 + (data[0] & 0x40 ? 100 : 0));
    look(frame, duplicates);
    return 0;
  }
  std::istringstream in(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  const std::unique_ptr<wire::PacketSource> reader = wire::read_capture(in, "fuzz");
  uint64_t packets = 0;
  for (wire::CapturedFrame frame; packets < 100'000 && reader->next(frame); ++packets) {
    if (frame.interface >= reader->interfaces().size()) std::abort();
    look(frame, duplicates);
  }
  if (reader->error() && (reader->error()->remedy.empty() || reader->error()->sentence().empty())) std::abort();
  return 0;
}
