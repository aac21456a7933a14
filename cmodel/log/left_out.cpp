// SPDX-License-Identifier: Apache-2.0
#include "log/left_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "wire/decode.hpp"

namespace mrc::log {
namespace {

constexpr const char* kSnap = "Capture whole packets, or with a snap length of 256 (dumpcap -s 256).";
constexpr std::array<LeftOutInfo, kLeftOutReasons> kInfo = {{
    {"cut_before_bth", "cut before the end of the BTH", true, kSnap},
    {"cut_in_headers", "cut inside the headers behind the BTH", true, kSnap},
    {"mpls", "with MPLS labels, which are not read", true, "Capture where packets have no labels."},
    {"link_type", "of a link type that is not read", true, "Capture on an Ethernet interface (link type 1)."},
    {"malformed", "with lengths or check sums that do not fit", true,
     "Say with --at whose ports were captured, so that it answers for what it sent."},
    {"arp", "ARP", false, ""},
    {"other_type", "neither IPv4 nor IPv6", false, ""},
    {"other_protocol", "of other IP protocols than UDP", false, ""},
    {"fragment", "IP fragments", false, ""},
    {"other_port", "of other UDP ports", false, ""},
    {"nobody", "MRC of no device that is wanted", false, ""},
}};

/// Why a packet has no BTH. `there`: so many of its bytes are; what lies behind them counts for nothing.
LeftOut reason_of(const wire::DecodeError& error, std::size_t there) {
  using enum wire::ErrorCode;
  constexpr std::size_t kCheckSum = 10;  // bytes behind its beginning that it needs
  const std::size_t needs = error.code == BadChecksum                                 ? kCheckSum
                            : error.code == BadNextHeader || error.code == BadVersion ? 1
                                                                                      : 2;
  if (error.offset + needs > there) return LeftOut::CutBeforeBth;
  switch (error.code) {
    case BadEthertype:
      return error.got == 0x0806                          ? LeftOut::Arp
             : error.got == 0x8847 || error.got == 0x8848 ? LeftOut::Mpls
                                                          : LeftOut::OtherType;
    case BadNextHeader:
    case BadSrh:
      return error.got == 44 ? LeftOut::Fragment : LeftOut::OtherProtocol;
    case Fragment:
      return LeftOut::Fragment;
    case NotMrc:
      return LeftOut::OtherPort;
    default:
      return LeftOut::Malformed;
  }
}

}  // namespace

const LeftOutInfo& info(LeftOut reason) { return kInfo[static_cast<std::size_t>(reason)]; }

uint64_t CaptureCounts::others() const { return std::accumulate(left_out.begin(), left_out.end(), uint64_t{0}); }

uint64_t CaptureCounts::may_be() const {
  uint64_t sum = 0;
  for (std::size_t i = 0; i < left_out.size(); ++i) sum += kInfo[i].may_be_mrc ? left_out[i] : 0;
  return sum;
}

std::vector<std::string> words(const CaptureCounts& counts) {
  std::vector<std::string> lines;
  const auto line = [&](uint64_t n, std::string_view text) {
    if (n != 0) lines.push_back(fmt::format("{} packet{} {}", n, n == 1 ? "" : "s", text));
  };
  line(counts.duplicates, "seen again at another place within 100 us: counted once");
  if (counts.twice != 0) {
    lines.push_back(
        fmt::format("{} interface{} every frame of all senders twice, as a mirror port does that copies both "
                    "directions: two are one",
                    counts.twice, counts.twice == 1 ? " shows" : "s show"));
  }
  line(counts.damaged, "damaged under way: their ICRC or lengths are wrong, and nobody is known to have sent them so");
  for (std::size_t i = 0; i < kLeftOutReasons; ++i) {
    std::string text = kInfo[i].text;
    if (static_cast<LeftOut>(i) == LeftOut::OtherPort && counts.other_port) {
      text += fmt::format(" (the first one: {})", *counts.other_port);
    }
    if (static_cast<LeftOut>(i) == LeftOut::LinkType && counts.other_link) {
      text += fmt::format(" (the first one: {})", *counts.other_link);
    }
    line(counts.left_out[i], text);
  }
  return lines;
}

void read_frame(Reading& out, const Frame& frame, const wire::WireConfig& wire) {
  const std::size_t there = frame.bytes.size();
  const bool cut = (frame.flags & kCut) != 0 && frame.length > there;
  if (cut) {
    wire::decode_cut(out.packet, frame.bytes, std::min(frame.length, kMaxFrameBytes), wire);
  } else {
    wire::decode_into(out.packet, frame.bytes, wire);
  }
  out.why.reset();
  const wire::Packet& p = out.packet;
  if (!p.bth && p.error) {
    out.why = reason_of(*p.error, cut ? there : frame.length + 10);
  } else if (!p.bth || (cut && wire::bytes_to_bth(p) > there)) {  // cut by a switch, or by the capture
    out.why = LeftOut::CutBeforeBth;
  } else if (cut && wire::header_bytes(p) > there) {
    out.why = LeftOut::CutInHeaders;
  }
}

}  // namespace mrc::log
