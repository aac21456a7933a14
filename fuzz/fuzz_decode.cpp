// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a frame: no harm, errors inside the frame, and what decodes encodes to the same bytes,
/// directly and, where the first byte says so, through JSON (bit 3) and as text (bit 4). Its other bits are the open
/// choices of the format.
#include <algorithm>
#include <cstdlib>
#include <span>

#include "wire/decode.hpp"
#include "wire/json.hpp"
#include "wire/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mrc::wire;
  if (size == 0) return 0;
  WireConfig config;
  config.bth_se_first = data[0] & 1;
  config.ev_swap = data[0] & 2;
  config.eeth_op_high = data[0] & 4;
  config.icrc_outer = data[0] & 32;
  config.udp_port_only = data[0] & 64;
  const std::span<const uint8_t> frame{data + 1, size - 1};
  const Packet packet = decode(frame, config);
  if (packet.error && packet.error->offset > frame.size()) std::abort();
  if (!packet.error || packet.error->code == ErrorCode::BadIcrc) {
    const auto again = encode(packet, config);
    if (!std::equal(again.begin(), again.end(), frame.begin(), frame.end())) std::abort();
  }
  if ((data[0] & 16) && (summary(packet, config).empty() || describe(packet).empty())) std::abort();
  if ((data[0] & 8) && !frame.empty()) {
    const auto back = from_json(to_json(packet, frame, config), "fuzz", config);
    if (!back || back->size() != 1) std::abort();
    const auto& bytes = (*back)[0].bytes;
    if (!std::equal(bytes.begin(), bytes.end(), frame.begin(), frame.end())) std::abort();
  }
  return 0;
}
