// SPDX-License-Identifier: Apache-2.0
/// Packets of captures that nobody judges, and why.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "log/record.hpp"
#include "wire/packet.hpp"

namespace mrc::log {

enum class LeftOut : uint8_t {
  CutBeforeBth,   ///< the capture ends in front of the BTH's end, and nothing says that it is none
  CutInHeaders,   ///< ... behind the BTH and in front of its headers' end
  Mpls,           ///< labels are not read
  LinkType,       ///< of a link that is not read
  Malformed,      ///< lengths, versions or a check sum contradict the bytes in front of the BTH
  Arp,            ///
  OtherType,      ///< of an Ethertype that is no IP
  OtherProtocol,  ///< TCP, ICMP, ...
  Fragment,       ///< of IP: MRC has none
  OtherPort,      ///< of UDP
  Nobody,         ///< MRC, of no device that is wanted
};
inline constexpr std::size_t kLeftOutReasons = static_cast<std::size_t>(LeftOut::Nobody) + 1;

struct LeftOutInfo {
  const char* name;    ///< in JSON: "cut_before_bth"
  const char* text;    ///< behind a number: "cut before the BTH"
  bool may_be_mrc;     ///< nothing says that it is none
  const char* remedy;  ///< of those that may be: what the user can do, a sentence
};
const LeftOutInfo& info(LeftOut reason);

/// What became of the packets of captures. Each counts once.
struct CaptureCounts {
  uint64_t packets = 0;     ///< in the captures
  uint64_t judged = 0;      ///< frames of MRC, as records once or (received by another device) more often in the log
  uint64_t duplicates = 0;  ///< the same frame again, at another place within 100 us
  uint64_t twice = 0;       ///< interfaces at which every frame comes twice (each_twice.hpp)
  uint64_t damaged = 0;     ///< with an ICRC that is wrong, and nobody is known to have sent them so
  std::array<uint64_t, kLeftOutReasons> left_out{};
  std::optional<uint16_t> other_port;  ///< the first one of LeftOut::OtherPort
  std::optional<uint16_t> other_link;  ///< the first one of LeftOut::LinkType

  uint64_t of(LeftOut reason) const { return left_out[static_cast<std::size_t>(reason)]; }
  /// All that were left out for a reason.
  uint64_t others() const;
  /// Those of them that may be MRC.
  uint64_t may_be() const;
};

/// A line for each reason: "3878 packets cut before the end of the BTH".
std::vector<std::string> words(const CaptureCounts& counts);

/// A frame as far as its bytes are there.
struct Reading {
  wire::Packet packet;         ///< without `why`: with its BTH, all headers that it has, and an IP header
  std::optional<LeftOut> why;  ///< it is none that can be judged
};

/// Reads a frame of a capture; one that the capture cut as if the rest were zeros. The memory of `out` is used again.
void read_frame(Reading& out, const Frame& frame, const wire::WireConfig& wire);

}  // namespace mrc::log
