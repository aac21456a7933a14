// SPDX-License-Identifier: Apache-2.0
/// What can be observed of NICs, one record for each observation. A log is a list of these; whoever records, imports,
/// judges or edits a log speaks in them. mrc_ref.h says the same in C.
///
/// Times are picoseconds of one clock. A *source* is one port (planes 0 to 63), the host side, the verbs or the events
/// of one device. Records of one source stand in the order of their times; between sources any order is allowed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace mrc::log {

using Time = uint64_t;  ///< ps
inline constexpr Time kNever = ~Time{0};
using Ip = std::array<uint8_t, 16>;  ///< network byte order
inline constexpr unsigned kMaxPlanes = 64;
inline constexpr uint32_t kMaxFrameBytes = 1u << 16;
inline constexpr uint32_t kMaxHostBytes = 1u << 16;  ///< of one host access

/// A NIC comes into the log: before anything else that names it.
struct Device {
  std::string name;
  std::string profile;  ///< JSON, docs/reference/judge.md; "": nothing is known of it
  bool operator==(const Device&) const = default;
};

enum FrameFlag : uint8_t {
  kFcsBad = 1,  ///< the MAC saw a wrong FCS
  kCut = 2,     ///< the capture holds only the first bytes of the frame
  /// received: the frame was seen under way; whether it reached the device is not known. sent: it was trimmed before
  /// it was seen; it left the device, but with its payload and another code point
  kMaybe = 4,
  kChanged = 8,  ///< redaction has put other addresses in: the ICRC does not fit any more
};

/// Bytes that redaction has taken out of a frame.
struct Redacted {
  uint32_t offset = 0, bytes = 0;  ///< bytes 0: nothing was taken out
  uint64_t hash = 0;               ///< digest() of what stood there
  bool operator==(const Redacted&) const = default;
};

/// A frame at a port, from the Ethernet header on, without FCS. Record::time is its first byte's.
struct Frame {
  bool sent = false;  ///< by the device; false: it came to the device
  uint8_t plane = 0;
  uint8_t flags = 0;     ///< FrameFlag
  Time last = 0;         ///< of its last byte
  Time error = 0;        ///< the true times lie at most so far from those given
  uint32_t length = 0;   ///< bytes on the wire, without FCS; more than bytes.size() when kCut
  uint64_t number = 0;   ///< in its capture, from 1 on
  uint32_t capture = 0;  ///< which one of the imported files, from 0 on
  std::vector<uint8_t> bytes;
  Redacted redacted{};  ///< bytes has zeros there
  bool operator==(const Frame&) const = default;
};

/// A port's carrier, as the device sees it. Ports are up until the log says otherwise.
struct Port {
  uint8_t plane = 0;
  bool up = true;
  bool operator==(const Port&) const = default;
};

enum class QpState : uint8_t { Reset, Init, Rtr, Rts, Error };

/// A QP of which a capture's frames alone tell (conversations.hpp): it is older than the log, and what of it is not
/// known is the widest that MRC allows.
enum QpFlag : uint8_t {
  kInferred = 1,
  kSeenWhole = 2,   ///< what came to it, from rq_psn on, is in the log, as far as frames tell
  kNumberless = 4,  ///< no frame names it: `qp` stands for its number
  kNoPdcid = 8,     ///< it sends spdcid and dpdcid as 0
  kSeenTrims = 16,  ///< what switches trimmed on its way to it is in the log as it came
  kSeenMarks = 32,  ///< the same of what they marked CE
  /// Its owner has ordered what is new here (EVs denied or allowed, a window, Reset), which acts from now on at the
  /// earliest. The next record of the QP without this flag tells that all of it acts.
  kOrdered = 64,
  /// The capture has cut packets between the same two addresses inside their headers: which of its own may come back to
  /// it, and with which EVs, is not told.
  kOwnUnread = 128,
};

/// A QP as its owner set it: created, changed, or, in Reset, ended. The next one of the same number is another
/// incarnation.
struct Qp {
  uint32_t qp = 0, peer_qp = 0;
  QpState state = QpState::Reset;
  uint32_t dest = 0;                ///< QPs with the same value share a congestion controller
  uint32_t mtu = 4096;              ///< bytes
  uint32_t sq_psn = 0, rq_psn = 0;  ///< first PSN sent, first one expected
  uint16_t msn = 0, rqmsn = 0;      ///< first ones, both directions (A-18)
  uint32_t mpr = 8, mpr_dest = 8;   ///< window as requestor and as responder, units of 128 PSNs
  bool dynamic_mpr = false;
  uint32_t max_wimm = 32, max_wimm_dest = 32;
  uint32_t timeout = 7;  ///< 1.024 us x 2^timeout
  uint32_t retry_linear = 7, retry_exp = 0;
  bool trim_nack = true, svc_time = false, time_stamps = false, controlled = false;
  uint16_t pkey = 0xffff;
  uint8_t encap = 0;  ///< 0 IPv6, 1 SRv6, 2 SRv6 with SRH, 3 IPv4
  Ip own_ip{}, peer_ip{};
  std::vector<uint32_t> evs;       ///< in use and backup; empty: not told
  std::vector<uint8_t> ev_planes;  ///< plane of each; empty: not told
  uint32_t backup = 0;             ///< how many of evs, at their end, begin as backup
  std::vector<uint32_t> denied;    ///< places in evs of those that their owner has taken out of use
  uint32_t window = 0;             ///< as responder, now, in units of 128 PSNs; 0: mpr_dest (A-59)
  bool own_class = false;  ///< its owner gave it code points of its own (A-79); false: it did not, or is not told
  uint8_t dscp_data = 0, dscp_rtx = 0;  ///< those of its data and of its retransmissions
  uint8_t flags = 0;                    ///< QpFlag
  bool operator==(const Qp&) const = default;
};

/// What a QP becomes, and when.
struct QpChange {
  Time time = 0;
  Qp qp;
  bool operator==(const QpChange&) const = default;
};

/// A memory region comes (valid) or goes.
struct Mr {
  uint32_t rkey = 0;
  bool valid = true, write = true;  ///< write: remote writes are allowed
  uint64_t va = 0, bytes = 0;       ///< as remote sides name it
  uint64_t addr = 0;                ///< host address of its first byte, as Host records name it
  bool operator==(const Mr&) const = default;
};

enum class HostOp : uint8_t { Read, ReadDone, Write, Visible };

/// An access of the device to host memory. Write: it leaves the device; Visible: software can see it (a device whose
/// writes are visible at once shows Write alone).
struct Host {
  HostOp op = HostOp::Write;
  uint64_t addr = 0;
  uint32_t bytes = 0;
  uint64_t tag = 0;           ///< the same in Read and ReadDone, Write and Visible
  uint32_t status = 0;        ///< 0: well
  std::vector<uint8_t> data;  ///< ReadDone and Write; empty: not told
  uint64_t hash = 0;          ///< digest() of the data, when data is empty and hash is not 0
  bool operator==(const Host&) const = default;
};

/// A work request of the requestor. The device has it from this time on.
struct Post {
  uint32_t qp = 0;
  uint64_t wr_id = 0;
  uint64_t addr = 0, remote = 0, bytes = 0;
  uint32_t rkey = 0;
  bool immediate = false;
  uint32_t imm = 0;
  bool operator==(const Post&) const = default;
};

/// Receive buffers for immediates: `count` more.
struct PostReceive {
  uint32_t qp = 0, count = 0;
  bool operator==(const PostReceive&) const = default;
};

enum class Status : uint8_t {
  Ok,
  LocalLength,
  WimmOverrun,
  RemoteInvalid,
  RemoteAccess,
  RemoteOperation,
  Retries,
  Flushed,
  Fatal,
  Other
};

/// A completion: of a work request, or (receive) of an immediate.
struct Cqe {
  uint32_t qp = 0;
  bool receive = false;
  Status status = Status::Ok;
  uint64_t wr_id = 0;                    ///< of a work request
  uint32_t imm = 0, msn = 0, rqmsn = 0;  ///< of a receive
  uint64_t bytes = 0;
  bool operator==(const Cqe&) const = default;
};

/// What a device may show of its inside (mrc_ref.h, MRC_EV_*). A device that says in its profile that it shows a kind
/// shows all of it.
///
/// Take: a packet that asks something of a responder (WRITE, also trimmed, or probe) has come to the QP's window; in
/// the order in which the window judged them. From Record::time on an answer may count it.
///   arg = {PSN, of a probe its id; TakeResult; plane; entropy; time from which on every answer counts it (not Empty)}
/// Answer: what a SACK says was read from the window; behind a Take of the same time.
///   arg = {opcode; pr; PSN it answers, with pr the probe's id; cack_psn; first PSN of the bitmap}
/// Path: an EV of a QP goes from one state to another.
///   arg = {EV; EvState before; EvState after; its place in Qp::evs}
/// Cc: a congestion controller was told something, at the time at which it took it; `qp` says nothing.
///   arg = {Qp::dest; CcKind, and see CcNotified; bytes of nominal size; round trip in ps; 0; its window afterwards,
///   whole bytes}. The window counts with Ack, Nack, Loss and Begins
enum class EventKind : uint8_t { Take, Answer, Heard, Lost, Path, Cc, Timer, Window, Qp };
enum class TakeResult : uint8_t {
  New,    ///< recorded: cack, counts and bitmap have it
  Other,  ///< a duplicate, refused, without its payload, or the QP has failed
  Probe,
  Empty,  ///< a WRITE of no bytes, in order: New if it is not there yet, else Other; its device does not say which
};
enum class EvState : uint8_t {
  Good,
  Skip,    ///< its next turn passes, or all that begin before its time is over (A-20)
  Bad,     ///< ASSUMED_BAD
  Denied,  ///< by its owner
  Backup,
  SkipTwice,  ///< its next two turns pass (A-20)
};
enum class CcKind : uint8_t {
  Ack,       ///< so many bytes have arrived
  Nack,      ///< so many were refused or trimmed
  Loss,      ///< so many are lost
  Granted,   ///< so many may go, and count as sent
  Returned,  ///< so many of those are not sent
  Begins,    ///< a new controller
};
/// Event::arg[1] of Cc.
struct CcNotified {
  CcKind kind = CcKind::Ack;  ///< bits 7:0
  bool marked = false;        ///< bit 8: the SACK had SKIP_ONCE
  bool restore = false;       ///< bit 9
  bool sampled = false;       ///< bit 10: the round trip counts
  uint8_t pen = 0;            ///< bits 22:16: rcv_cwnd_pen
  uint8_t reason = 0;         ///< bits 31:24: of the NACK
  uint64_t pack() const {
    return uint64_t{static_cast<uint8_t>(kind)} | uint64_t{marked} << 8 | uint64_t{restore} << 9 |
           uint64_t{sampled} << 10 | uint64_t{pen & 0x7fu} << 16 | uint64_t{reason} << 24;
  }
  static CcNotified unpack(uint64_t word) {
    return {static_cast<CcKind>(word & 0xff),
            (word >> 8 & 1) != 0,
            (word >> 9 & 1) != 0,
            (word >> 10 & 1) != 0,
            static_cast<uint8_t>(word >> 16 & 0x7f),
            static_cast<uint8_t>(word >> 24)};
  }
};
struct Event {
  EventKind kind = EventKind::Take;
  uint32_t qp = 0;
  std::array<uint64_t, 6> arg{};
  bool operator==(const Event&) const = default;
};

enum class Source : uint8_t { Plane0 = 0, Host = 64, Verbs = 65, Events = 66, All = 255 };
/// Nothing older than Record::time comes from this source any more.
struct Until {
  uint8_t source = 255;  ///< 0 to 63: the port of a plane; else Source
  bool operator==(const Until&) const = default;
};

/// The evidence has a hole: a source lost observations up to Record::time.
struct Gap {
  uint8_t source = 255;
  uint64_t lost = 0;  ///< how many; 0: not known
  Time from = 0;      ///< since when
  std::string reason;
  bool operator==(const Gap&) const = default;
};

/// A counter of the device, read at this time: "silent_drops": frames it discarded without a word for want of room.
struct Counter {
  std::string name;
  uint64_t value = 0;
  bool operator==(const Counter&) const = default;
};

/// For readers: what happened besides.
struct Note {
  std::string text;
  bool operator==(const Note&) const = default;
};

/// The end of a device's observations.
struct End {
  bool cut = false;  ///< the run was ended from outside: what is open may stay open
  std::string reason;
  bool operator==(const End&) const = default;
};

using Body =
    std::variant<Device, Port, Frame, Qp, Mr, Host, Post, PostReceive, Cqe, Event, Until, Gap, Counter, Note, End>;

struct Record {
  uint32_t device = 0;
  Time time = 0;
  Body body;
  bool operator==(const Record&) const = default;
};

}  // namespace mrc::log
