// SPDX-License-Identifier: Apache-2.0
/// What a capture holds, whatever its format: packets, interfaces, and what the capturing host says of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/packet.hpp"
#include "wire/result.hpp"

namespace mrc::wire {

/// What both directions hold, here and in JSON: captures beyond are refused.
inline constexpr uint32_t kMaxInterfaces = 1u << 17;
inline constexpr uint32_t kMaxFrameBytes = 1u << 18;  ///< Wireshark's limit, too

/// What packets of a capture begin with: LINKTYPE_ of tcpdump.org. Others are read and left as they are.
enum LinkType : uint16_t {
  kLinkEthernet = 1,
  kLinkRaw = 101,   ///< an IP header
  kLinkSll = 113,   ///< "cooked": tcpdump -i any
  kLinkIpv4 = 228,  ///< an IPv4 header
  kLinkIpv6 = 229,  ///< an IPv6 header
  kLinkSll2 = 276,  ///< newer tcpdump -i any: with the number of the interface
};

/// A tag of IEEE 802.1Q or 802.1ad.
struct VlanTag {
  uint16_t tpid = 0, tci = 0;
  bool operator==(const VlanTag&) const = default;
};

/// What to_ethernet() (link_layer.hpp) has taken off a packet.
struct TakenOff {
  std::vector<VlanTag> tags;  ///< outermost first
  uint16_t extensions = 0;    ///< bytes of IPv6 extension headers: the ICRC does not fit any more
  bool operator==(const TakenOff&) const = default;
};

/// One packet of a capture: as read, from the header of its link type on; after to_ethernet(), and when written, from
/// the Ethernet header on. Without FCS.
struct CapturedFrame {
  uint32_t interface = 0;  ///< index into Capture::interfaces; the plane in captures written here
  uint64_t time_ns = 0;
  std::vector<uint8_t> bytes;
  uint32_t original_length = 0;  ///< bytes on the wire; 0 when writing: as many as there are
  std::vector<std::string> comments;
  WireConfig wire{};  ///< how to read it, as far as the capture says
  // What some captures say besides; not written.
  enum class Direction : uint8_t { Unknown, In, Out };  ///< seen from the capturing host
  Direction direction = Direction::Unknown;
  bool fcs_bad = false;
  uint8_t fcs_bytes = 0;          ///< of an FCS at the end of `bytes`
  uint64_t dropped = 0;           ///< packets that the capturing host lost between the one before and this one
  uint16_t link = kLinkEthernet;  ///< LinkType, or another number
  uint32_t port = 0;              ///< number of the host's interface (SLL2), 0: not told
  uint64_t number = 0;            ///< in its file as Wireshark counts, from 1 on; 0: of none
  TakenOff taken{};
  bool operator==(const CapturedFrame&) const = default;
};

struct CaptureInterface {
  std::string name;  ///< "" where the capture gives none
  uint16_t link = kLinkEthernet;
  WireConfig wire{};  ///< how to read its frames, as far as the capture says
  bool operator==(const CaptureInterface&) const = default;
};

/// What the capturing host says that it dropped.
struct CaptureLoss {
  uint32_t interface = 0;
  uint64_t time_ns = 0;  ///< of the statistics
  uint64_t dropped = 0;  ///< packets since the capture began
};

/// Reads a capture packet by packet, in memory for one packet and what the capture says about itself.
class PacketSource {
 public:
  PacketSource() = default;
  PacketSource(const PacketSource&) = delete;
  PacketSource& operator=(const PacketSource&) = delete;
  virtual ~PacketSource() = default;
  /// The next packet; the memory of `frame` is used again. False: there is none, or error().
  virtual bool next(CapturedFrame& frame) = 0;
  virtual const std::optional<Error>& error() const = 0;
  /// Those described so far.
  virtual const std::vector<CaptureInterface>& interfaces() const = 0;
  /// Of sections and statistics, so far; not those that say how to read packets.
  virtual const std::vector<std::string>& comments() const = 0;
  /// Statistics that have been read since the last call.
  virtual std::vector<CaptureLoss> take_losses() = 0;
};

}  // namespace mrc::wire
