// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/opcodes.hpp"

namespace mrc::tb {

/// What a link did to a frame.
enum Fate : uint16_t {
  kFateLost = 1,
  kFateTrimmed = 2,
  kFateLastHop = 4,
  kFateMarked = 8,      ///< ECN-CE
  kFateCorrupt = 16,    ///< bits flipped
  kFateMacError = 32,   ///< flipped, and the FCS tells
  kFateDuplicate = 64,  ///< a second copy
  kFateRogue = 128,     ///< an altered copy that must have no effect
  kFateDelayed = 256,
  kFatePenalty = 512,    ///< a SACK that was given a window penalty or its end
  kFateNoBytes = 1024,   ///< a WRITE that lost its payload
  kFateSpoiled = 2048,   ///< before the link: the sender's host could not read a line of it, its ICRC is wrong
  kFateReturned = 4096,  ///< a switch has trimmed it and sent it back to its sender
  kFateSwapped = 8192,   ///< the same, with the addresses exchanged
  kFateHalf = 16384,     ///< behind the link: the receiver was reset while it came in, and sees its end alone
  kFateForged = 32768,   ///< no NIC has sent it: a peer that does what it may not
};

/// Where a NIC must count a frame that was forged (docs/design/blocks/nic.md, "Frames that no peer may send").
enum class Forged : uint8_t {
  No,        ///< it was not
  Parse,     ///< CNT_DROP_PARSE
  Icrc,      ///< CNT_DROP_ICRC
  Qp,        ///< CNT_DROP_QP
  Pkey,      ///< CNT_DROP_PKEY
  Length,    ///< CNT_DROP_LEN
  Beyond,    ///< CNT_OOR
  Past,      ///< CNT_DUP
  Trimmed,   ///< CNT_TRIM
  Endpoint,  ///< CNT_EP_DROP
  Nowhere    ///< no counter tells of it
};
inline constexpr unsigned kForgedKinds = static_cast<unsigned>(Forged::Nowhere) + 1;

/// An Ethernet frame on its way, from the destination MAC to the ICRC, without FCS.
struct Frame {
  std::vector<uint8_t> bytes;
  uint64_t sent_ps = 0;    ///< start of its preamble at the sender's port
  uint64_t arrive_ps = 0;  ///< earliest start of its preamble at the receiver's port
  uint64_t seq = 0;        ///< order of entry into the link
  uint8_t plane = 0;
  bool mac_error = false;  ///< the receiver's MAC sees a wrong FCS
  Forged forged = Forged::No;
  uint16_t fate = 0;
};
using FramePtr = std::unique_ptr<Frame>;

/// "trimmed, delayed", "" when nothing happened.
std::string fate_text(unsigned fate);

/// The few fields the bench looks at, read without checking anything but the length.
struct FrameInfo {
  bool mrc = false;    ///< long enough for a BTH behind IPv6 headers
  unsigned outer = 0;  ///< bytes of outer headers: 0, 40, or 64 with a routing header
  uint8_t dscp = 0, ecn = 0;
  uint8_t opcode = 0;
  bool rtx = false, ackreq = false;
  uint32_t dqp = 0, psn = 0;
  uint32_t entropy = 0;  ///< UDP source port in the upper half (the wire's order; see ev_swap)
  unsigned inner = 0;    ///< offset of the inner IPv6 header
  bool is(wire::Opcode code) const { return opcode == opcode_byte(code); }
  bool data() const { return mrc && is_data_opcode(opcode); }
};
FrameInfo look_at(const std::vector<uint8_t>& bytes);

/// Bytes of payload of a WRITE, by the length of its frame; 0: none, or headers that lie.
size_t payload_of(const std::vector<uint8_t>& frame, const FrameInfo& info);

/// All length fields of a frame as its size says.
void fix_lengths(std::vector<uint8_t>& frame, const FrameInfo& info);

/// The ICRC that a frame of MRC with an inner IPv6 header at `inner` must have; `icrc_outer` says where it starts
/// (CTRL).
uint32_t right_icrc(const std::vector<uint8_t>& frame, unsigned inner, bool icrc_outer);
/// Puts it at the end of the frame.
void fix_icrc(std::vector<uint8_t>& frame, unsigned inner, bool icrc_outer);

}  // namespace mrc::tb
