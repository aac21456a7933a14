// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "log/record.hpp"
#include "wire/packet.hpp"

namespace mrc::log {

/// The packet in a frame, as far as its bytes are there. A frame that the capture cut is read as if the rest were
/// there, if all headers are: its payload is what was captured. Where the ICRC cannot be checked (cut, redacted,
/// addresses changed), the packet has none, and it is no error.
wire::Packet packet_of(const Frame& frame, const wire::WireConfig& wire = {});

/// Addresses of the inner header; IPv4 as ::ffff:a.b.c.d. The packet has one of the two.
Ip mapped_source(const wire::Packet& packet);
Ip mapped_destination(const wire::Packet& packet);

}  // namespace mrc::log
