// SPDX-License-Identifier: Apache-2.0
/// Kinds of packets by their opcode (mrc.md section 2).
#pragma once

#include <cstdint>

#include "gen/headers.hpp"

namespace mrc {

/// The byte on the wire.
constexpr uint8_t opcode_byte(wire::Opcode opcode) { return static_cast<uint8_t>(opcode); }

/// A WRITE.
constexpr bool is_data_opcode(uint8_t opcode) {
  return opcode >= opcode_byte(wire::Opcode::WriteFirst) && opcode <= opcode_byte(wire::Opcode::WriteOnlyImm);
}
/// WRITE Last or Only with immediate.
constexpr bool has_immediate(uint8_t opcode) {
  return opcode == opcode_byte(wire::Opcode::WriteLastImm) || opcode == opcode_byte(wire::Opcode::WriteOnlyImm);
}
/// WRITE First or Middle: more of the message follows, so it is full.
constexpr bool is_unfinished_write(uint8_t opcode) {
  return opcode == opcode_byte(wire::Opcode::WriteFirst) || opcode == opcode_byte(wire::Opcode::WriteMiddle);
}
/// WRITE Only: the whole message.
constexpr bool is_only_write(uint8_t opcode) {
  return opcode == opcode_byte(wire::Opcode::WriteOnly) || opcode == opcode_byte(wire::Opcode::WriteOnlyImm);
}
/// Reliability probe request.
constexpr bool is_probe_opcode(uint8_t opcode) { return opcode == opcode_byte(wire::Opcode::ProbeRequest); }
/// SACK, NACK, ACK.
constexpr bool is_control_opcode(uint8_t opcode) {
  return opcode == opcode_byte(wire::Opcode::Sack) || opcode == opcode_byte(wire::Opcode::Nack) ||
         opcode == opcode_byte(wire::Opcode::Ack);
}
/// Endpoint request or response.
constexpr bool is_endpoint_opcode(uint8_t opcode) {
  return opcode == opcode_byte(wire::Opcode::EndpointRequest) || opcode == opcode_byte(wire::Opcode::EndpointResponse);
}

}  // namespace mrc
