// SPDX-License-Identifier: Apache-2.0
/// Any capture. libpcap reads pcap and pcapng as well, and is not used:
///
/// - It refuses a pcapng file whose interfaces differ in link type or snap length.
/// - It hands over neither numbers and names of interfaces nor directions, drop counts and comments.
/// - It wants a FILE, and names no byte in an error.
///
/// What is left is pcap: a header of 24 bytes, and 16 for each packet.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "wire/captured.hpp"

namespace mrc::wire {

/// What begins so may be a capture, or one that is packed.
bool begins_like_a_capture(std::string_view bytes);

/// A reader of pcapng or pcap, as it is or packed with gzip or zstd; what it is, its first byte tells. Packets have the
/// link header of their interface: to_ethernet() is next. `in` must outlive the reader. `name` is used in errors;
/// places in what is packed are those of what is unpacked.
std::unique_ptr<PacketSource> read_capture(std::istream& in, std::string name);

}  // namespace mrc::wire
