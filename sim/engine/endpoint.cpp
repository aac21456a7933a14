// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/endpoint.hpp"

#include <bit>

#include "util/rng.hpp"

namespace mrc::sim {

uint32_t reverse_seed(NodeId node) { return static_cast<uint32_t>(Rng::hash(node)) | 1; }

std::string QpSpec::problem(uint32_t endpoint_planes) const {
  const auto number_ok = [](uint32_t number) { return number >= 3 && number < 1u << 24; };
  if (!number_ok(qpn) || !number_ok(peer_qpn)) {
    return "queue pair numbers " + std::to_string(qpn) + " and " + std::to_string(peer_qpn) +
           " are not between 3 and 16777215";
  }
  if (!std::has_single_bit(mtu) || mtu < 256 || mtu > 4096) {
    return "an MTU of " + std::to_string(mtu) + " bytes is not 256, 512, 1024, 2048 or 4096";
  }
  if (planes == 0) return "a queue pair needs one plane at least";
  if (planes > endpoint_planes) {
    return std::to_string(planes) + " planes are more than the endpoint's " + std::to_string(endpoint_planes);
  }
  if (ev_active.empty()) return "a queue pair needs one entropy value at least";
  return {};
}

void fill_pattern(uint64_t address, std::span<uint8_t> bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i, ++address) {
    if (i == 0 || (address & 7) == 0) word = Rng::hash(address >> 3) >> 8 * (address & 7);
    bytes[i] = static_cast<uint8_t>(word);
    word >>= 8;
  }
}

}  // namespace mrc::sim
