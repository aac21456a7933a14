// SPDX-License-Identifier: Apache-2.0
/// What a log tells, put together for eyes: packets with their fate, messages, windows, paths. Traces, pictures and
/// pages are drawn from this alone, whatever run the log is of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/record.hpp"
#include "wire/packet.hpp"

namespace mrc::picture {

using log::Time;
inline constexpr uint32_t kNone = ~uint32_t{0};

enum class Kind : uint8_t { Data, Probe, Sack, Nack, Ack, Endpoint, Other };
inline constexpr unsigned kKinds = 7;
/// "WRITE", "probe", "SACK", "NACK", "ACK", "endpoint", "other".
const char* name_of(Kind kind);

/// What became of a frame that a device sent. Unknown: the log does not hold the other side, or ends too early.
enum class Fate : uint8_t { Unknown, Arrived, Lost };

/// A frame at a port of a device. One that was sent and arrived is there twice, `other` links both.
struct Packet {
  uint32_t device = 0;
  Time time = 0, last = 0;  ///< first and last byte, ps
  uint64_t number = 0;      ///< in its capture
  uint32_t length = 0;      ///< bytes
  Kind kind = Kind::Other;
  uint8_t opcode = 0, plane = 0;
  bool sent = false, again = false, trimmed = false, marked = false, damaged = false;
  bool copy = false;  ///< arrived once more than it was sent
  Fate fate = Fate::Unknown;
  uint32_t other = kNone;    ///< the same packet at the other side
  uint32_t flow = kNone;     ///< whose data it is, or answers
  uint32_t message = kNone;  ///< Data: which one, when the log has its work request
  uint32_t ev = 0;           ///< its own
  uint32_t reported_ev = 0;  ///< Sack, Nack: that of the packet it answers
  int64_t psn = 0;   ///< Data, Nack, Sack (the one that it answers): counted from the flow's first one, without wrap
  int64_t cack = 0;  ///< Sack: every one up to it has arrived
  int64_t base = 0;  ///< Sack: of bit 0 of the bitmap
  uint64_t bitmap = 0;
  uint32_t msn = 0;     ///< Data, Ack
  uint8_t reason = 0;   ///< Nack, or the syndrome of an Ack
  uint8_t mark = 0;     ///< Sack: SETH.m
  uint8_t mpr = 0;      ///< Sack
  bool probed = false;  ///< Sack: answers a probe
};

/// Data from one queue pair to its peer, and their answers.
struct Flow {
  uint32_t requestor = kNone, responder = kNone;  ///< devices; kNone: not in the log
  uint32_t qp = kNone, peer_qp = kNone;           ///< kNone: not known
  uint32_t first_psn = 0;                         ///< PSN 0 of Packet::psn stands for this one
  uint32_t mpr = 0;                               ///< window as requestor, units of 128 PSNs; 0: not told
  bool dynamic_mpr = false;
  uint32_t dest = 0;
  std::vector<uint32_t> evs;       ///< places; empty: not told
  std::vector<uint8_t> ev_planes;  ///< plane of each
  uint32_t backup = 0;
  std::vector<uint32_t> packets;  ///< all of it at both sides, in the order of time
  uint64_t data = 0;              ///< packets with data sent
  uint64_t trouble = 0;           ///< of them lost, trimmed or sent again
};

/// A work request.
struct Message {
  uint32_t flow = kNone, device = 0, qp = 0;
  uint64_t wr_id = 0, bytes = 0, remote = 0;
  uint32_t rkey = 0;
  bool immediate = false;
  Time posted = 0, done = log::kNever;
  log::Status status = log::Status::Ok;
  bool known = false;  ///< packets of it were seen
  uint32_t msn = 0;
  int64_t first = 0, last = -1;  ///< PSNs seen
};

struct EvChange {
  uint32_t device = 0, flow = kNone;
  Time time = 0;
  uint32_t ev = 0, place = 0;
  log::EvState before{}, after{};
};
struct Window {
  uint32_t device = 0, dest = 0;
  Time time = 0;
  uint64_t bytes = 0;
  log::CcKind reported{};
  bool marked = false;
};
struct PortChange {
  uint32_t device = 0;
  Time time = 0;
  uint8_t plane = 0;
  bool up = true;
};
/// A packet that a NIC took for lost, as the recorder of a fabric tells it: a note of the log, "loss QP 0x12 PSN 34
/// sent 8123000 known 14200000 again 14300000 back 20100000 plane 5 | time | plane 3 by T1-3-5", times in ps.
struct LossReported {
  uint32_t device = 0, qp = 0, psn = 0;           ///< psn: as it stands in the header
  Time sent = 0, known = 0, again = 0, back = 0;  ///< again, back: 0 when it was not
  unsigned again_plane = 0;
  std::string cause{}, way{};

  std::string text() const;
  /// Nothing: the note says something else.
  static std::optional<LossReported> of(std::string_view note);
};
/// How a stream between two blocks was used since the entry of the same name before.
struct StreamUse {
  uint32_t device = 0;
  Time from = 0, until = 0;
  std::string name;               ///< "tx_path.path"
  std::string taker;              ///< block that takes it
  double moved = 0, blocked = 0;  ///< share of the cycles: something moved; it wanted to, and the taker did not
};
/// A packet's time within a block.
struct Stay {
  uint32_t device = 0;
  std::string block, text;
  const char* way = "";  ///< "sends", "answers", "receives"
  uint32_t packet = 0;   ///< stays of one packet have the same number
  Time from = 0, until = 0;
  uint32_t flow = kNone;
  int64_t psn = 0;
};
struct DeviceSeen {
  std::string name;
  unsigned planes = 1;
  double port_gbps = 0;
  Time end = 0;
  bool there = false;
};

/// Names of counters that a recorder uses for streams: "stream tx_path.path>tx_header moved".
struct StreamCounter {
  static std::string name(std::string_view stream, std::string_view taker, const char* what);
};

class Story {
 public:
  /// More packets than this are refused by full().
  static constexpr std::size_t kMostPackets = std::size_t{1} << 24;

  Story();
  ~Story();
  Story(Story&&) noexcept;
  Story& operator=(Story&&) noexcept;

  /// In any order between sources. Throws InputError: a device's profile cannot be read.
  void add(const log::Record& record);
  /// Nothing more is taken: there are kMostPackets.
  bool full() const { return packets.size() >= kMostPackets; }
  /// Puts it together; once, behind the last add().
  void finish();

  std::map<uint32_t, DeviceSeen> devices;
  std::vector<Packet> packets;  ///< in the order of time
  std::vector<Flow> flows;
  std::vector<Message> messages;
  std::vector<EvChange> ev_changes;
  std::vector<Window> windows;
  std::vector<PortChange> ports;
  std::vector<StreamUse> streams;
  std::vector<Stay> stays;
  std::vector<LossReported> losses;  ///< no notes
  std::vector<std::pair<Time, std::string>> notes;
  Time begin = log::kNever, end = 0;  ///< of packets and messages

  /// "dut QP 0x10 to peer QP 0x12".
  std::string name_of(const Flow& flow) const;
  std::string device_name(uint32_t device) const;
  /// "WRITE PSN 5 again", "SACK cack 7".
  std::string name_of(const Packet& packet) const;
  /// PSN as it stands in the header.
  static uint32_t raw_psn(const Flow& flow, int64_t psn) {
    return static_cast<uint32_t>(flow.first_psn + static_cast<uint64_t>(psn)) & 0xffffffu;
  }
  /// Packet that a picture shows: it is within [from, until].
  static bool within(const Packet& p, Time from, Time until) { return p.time >= from && p.time <= until; }

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// "12.345" microseconds of a time in ps.
std::string us_text(Time time);

/// What SACKs brought to the requestor of a flow.
struct Acknowledged {
  uint32_t packet = 0;         ///< the SACK, as it arrived
  std::vector<int64_t> fresh;  ///< PSNs that no SACK before had
  int64_t cack = -1;           ///< highest so far
};
std::vector<Acknowledged> acknowledged(const Story& story, const Flow& flow);

/// Packets that are sent and not acknowledged, after each change.
struct Flight {
  Time time = 0;
  uint64_t packets = 0, bytes = 0;
};
std::vector<Flight> flight(const Story& story, const Flow& flow, const std::vector<Acknowledged>& acks);

}  // namespace mrc::picture
