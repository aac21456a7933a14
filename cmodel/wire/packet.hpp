// SPDX-License-Identifier: Apache-2.0
/// A packet as its headers, and the choices the wire format leaves open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gen/headers.hpp"

namespace mrc::wire {

/// No packet has this code point.
inline constexpr uint8_t kNoDscp = 64;

/// Code points by traffic class (assumption A-04).
struct DscpMap {
  uint8_t no_trim = kDscpNoTrim;
  uint8_t trimmable = kDscpTrimmable;
  uint8_t trimmable_retx = kDscpTrimmableRetx;
  uint8_t trimmed = kDscpTrimmed;
  uint8_t trimmed_lasthop = kDscpTrimmedLasthop;
  uint8_t control = kDscpControl;
  uint8_t returned = kNoDscp;  ///< of trimmed packets that a switch has sent back to their sender (A-80)
  bool operator==(const DscpMap&) const = default;
};

/// What a code point says about a packet.
enum class DscpClass : uint8_t { NoTrim, Trimmable, TrimmableRetx, Trimmed, TrimmedLasthop, Control, Other, Returned };

/// What sources disagree about; both sides of a link must agree on it.
struct WireConfig {
  uint16_t udp_port = kUdpPortMrc;  ///< destination port sent, and accepted (A-01)
  bool udp_port_only = false;       ///< no other port is accepted, 4791 and 4971 neither
  bool bth_se_first = false;        ///< BTH byte 1: bit 7 is se, bit 6 is m, as IBTA has it (A-02)
  bool ev_swap = false;             ///< UDP source port = EV[15:0], flow label = EV[31:16] (A-03)
  bool eeth_op_high = false;        ///< EETH byte 1: op in bits 5:4 instead of 3:2
  bool icrc_outer = false;          ///< the ICRC of SRv6 packets starts at the outer IP header (A-14)
  DscpMap dscp{};                   ///< (A-04)
  bool operator==(const WireConfig&) const = default;
};

/// True for a UDP destination port of MRC packets.
constexpr bool is_mrc_port(unsigned port, const WireConfig& config) {
  return port == config.udp_port || (!config.udp_port_only && (port == kUdpPort || port == kUdpPortMrc));
}

/// The class of a code point. Returned and trimmed ones are looked up first.
DscpClass classify(uint8_t dscp, const DscpMap& map);
/// A switch has cut packets of this class.
constexpr bool is_trimmed(DscpClass value) {
  return value == DscpClass::Trimmed || value == DscpClass::TrimmedLasthop || value == DscpClass::Returned;
}
/// "NO_TRIM", "TRIMMABLE", ..., "OTHER".
const char* name_of(DscpClass value);
/// The code point a NIC gives to a packet of that opcode.
uint8_t default_dscp(uint8_t opcode, bool rtx, const DscpMap& map);

/// Headers in front of UDP.
enum class Encapsulation : uint8_t { Ipv4, Ipv6, Srv6, Srv6Srh };

/// Why bytes are no valid MRC packet.
enum class ErrorCode : uint8_t {
  Short,          ///< ends inside a header
  BadEthertype,   ///< neither IPv4 nor IPv6
  BadVersion,     ///< IP version does not fit the header in front of it
  BadIhl,         ///< IPv4 with options, or shorter than 20 bytes
  BadChecksum,    ///< IPv4 header checksum
  Fragment,       ///< IPv4 fragment
  BadNextHeader,  ///< neither UDP nor what SRv6 needs
  BadSrh,         ///< a routing header other than a one-segment SRH
  BadLength,      ///< a length field contradicts the bytes
  NotMrc,         ///< another UDP destination port
  BadTver,        ///< BTH.tver is not 0
  UnknownOpcode,  ///< not one of the twelve
  BadPad,         ///< pad count contradicts the bytes
  BadIcrc,        ///< the ICRC is wrong
};
/// "short", "bad_ethertype", ... as in JSON.
const char* name_of(ErrorCode code);

/// What is wrong with a packet, and where.
struct DecodeError {
  ErrorCode code{};
  size_t offset = 0;        ///< byte in the frame
  std::string_view header;  ///< the header concerned
  uint64_t got = 0;         ///< the offending value
  uint64_t want = 0;        ///< what would fit
  bool operator==(const DecodeError&) const = default;
  /// One sentence without full stop.
  std::string message() const;
};

struct Icrc {
  uint32_t value = 0;  ///< as received; travels least significant byte first
  bool ok = true;      ///< the value is right. When encoding: false sends `value`, true the right one
  bool operator==(const Icrc&) const = default;
};

/// One frame from the Ethernet header on, without FCS. Extension headers are inherited members.
struct Packet : Extensions {
  std::optional<Eth> eth;
  std::optional<Ipv6> outer_ipv6;  ///< SRv6: its destination is the path
  std::optional<Srh> srh;
  std::optional<Ipv6> ipv6;
  std::optional<Ipv4> ipv4;
  std::optional<Udp> udp;
  std::optional<Bth> bth;
  std::vector<uint8_t> payload;  ///< of a trimmed packet: whatever follows the headers
  std::vector<uint8_t> padding;  ///< after the payload, 0 to 3 bytes
  std::vector<uint8_t> rest;     ///< trimmed packets: bytes of the header that was cut
  std::vector<uint8_t> trailer;  ///< bytes behind the length of the outermost IP header
  std::optional<Icrc> icrc;      ///< absent: trimmed, or too short to have one
  std::optional<DecodeError> error;
  DscpClass dscp_class = DscpClass::Other;  ///< of the outermost IP header
  bool operator==(const Packet&) const = default;

  /// A switch has cut the packet: decided by the code point of the outermost IP header alone.
  bool trimmed() const { return is_trimmed(dscp_class); }
  /// Code point of the outermost IP header.
  uint8_t dscp() const;
  /// ECN bits of the outermost IP header; 3 = congestion experienced.
  uint8_t ecn() const;
  /// Entropy value from UDP source port and (IPv6) flow label; 0 without UDP.
  uint32_t entropy(const WireConfig& config = {}) const;
  /// Puts an entropy value there. IPv4 carries only the half that is in the source port.
  void set_entropy(uint32_t ev, const WireConfig& config = {});
};

/// A packet of that opcode with all its headers, constants filled in, everything else zero.
Packet make_packet(Opcode opcode, Encapsulation encapsulation, bool timestamp = false, const WireConfig& config = {});

/// Bytes of the headers that are there up to the BTH, and of all.
std::size_t bytes_to_bth(const Packet& packet);
std::size_t header_bytes(const Packet& packet);

/// Fills in what follows from the rest: versions, next headers, lengths, IPv4 checksum, pad count and
/// padding. Values set before are replaced.
void complete(Packet& packet);

/// The frame as sent: every header that is present, in wire order; nothing is corrected. The ICRC is
/// appended unless the packet is trimmed (dscp by `config`) or has no BTH.
std::vector<uint8_t> encode(const Packet& packet, const WireConfig& config = {});

}  // namespace mrc::wire
