// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "wire/captured.hpp"

namespace mrc::wire {

/// True for packets that to_ethernet() reads.
bool is_read(uint16_t link);
/// "Ethernet", "Linux cooked (SLL2)", ..., "link type 105".
std::string link_name(uint16_t link);

/// Makes of a packet as it was captured the frame that decode() reads: Ethernet, then IPv4, IPv6 or something else.
///
/// - Tags of VLANs go (802.1Q, 802.1ad, and the older 0x9100 and 0x9200).
/// - Cooked packets (SLL, SLL2) and raw IP get an Ethernet header. It has the sender's address if that is told, else
///   zeros. They say in which direction a packet went, and (SLL2) through which port.
/// - IPv6 extension headers go, but for the routing header of SRv6: hop-by-hop, destination options, a fragment header
///   of a whole packet. The lengths in front of them become smaller, so the ICRC does not fit any more.
///
/// frame.taken and frame.port say what went. False: the link type is not read, or the packet is shorter than its link
/// header; then it stays as it is.
bool to_ethernet(CapturedFrame& frame);

/// What an Ethernet frame carries behind tags of VLANs, IP in IP and extension headers, however many there are.
struct UpperLayer {
  bool is_ip = false;                    ///< IPv4 or IPv6, whose header is there
  unsigned protocol = 0;                 ///< of IP: the first that is neither IP nor an extension header
  std::optional<uint16_t> udp_dst_port;  ///< of UDP, if so much of it is there
};
/// Nothing but lengths is checked: it may be no packet that decode() takes.
UpperLayer upper_layer(std::span<const uint8_t> frame);

}  // namespace mrc::wire
