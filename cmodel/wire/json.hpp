// SPDX-License-Identifier: Apache-2.0
/// Packets as JSON, documented in docs/reference/wire.md: one object per packet, a key per header.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/packet.hpp"
#include "wire/pcapng.hpp"
#include "wire/result.hpp"

namespace mrc::wire {

/// The packet as one line of JSON, without line end. `frame` are the bytes it was decoded from; they are
/// included as `raw` when the packet has an error that its headers cannot reproduce.
std::string to_json(const Packet& packet, std::span<const uint8_t> frame, const WireConfig& config = {});

/// Decodes a captured frame, of Ethernet, as it says and adds the key `capture` (number, interface, time_ns, ...).
std::string to_json(const CapturedFrame& frame, uint64_t number);
/// `capture` and `raw` alone: of a packet whose link header to_ethernet() does not read.
std::string unread_json(const CapturedFrame& frame);

/// Reads one object, an array of objects, or objects one after the other, and encodes each of them.
/// Lengths, checksums, next headers and the ICRC are computed where the JSON does not give them. `config` is for
/// packets that do not say how they are made (`capture.options`); `given` changes what they say, or `config`, at last.
Result<std::vector<CapturedFrame>> from_json(std::string_view text, const std::string& name,
                                             const WireConfig& config = {},
                                             const std::function<void(WireConfig&)>& given = {});

}  // namespace mrc::wire
