// SPDX-License-Identifier: Apache-2.0
/// Captures as logs. A capture knows packets and times; which NIC sent and received them, and how much of it is
/// certain, is told here.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "log/left_out.hpp"
#include "log/record.hpp"
#include "wire/captured.hpp"
#include "wire/packet.hpp"
#include "wire/result.hpp"

namespace mrc::log {

/// A NIC whose packets are wanted.
struct ImportDevice {
  std::vector<Ip> addresses;  ///< its own, of inner IP headers; IPv4 as ::ffff:a.b.c.d
  std::string name;           ///< empty: the first address
  std::string profile;        ///< JSON of its Device record; empty: ImportOptions::profile
};

struct ImportFile {
  std::string path;  ///< any capture (wire/capture.hpp); "-": standard input
  /// Taken at the ports of this device (index into ImportOptions::devices): what it holds left the device or came to
  /// it. Nothing: taken under way, or at somebody else's ports.
  std::optional<std::size_t> at{};
  std::string name{};  ///< in sentences; empty: that of the path
};

struct ImportOptions {
  std::vector<ImportFile> files{};
  /// Empty: every address that MRC packets name is one, when it is first seen.
  std::vector<ImportDevice> devices{};
  /// Profile of devices that have none of their own, made of how the first packet of the captures is to be read: ours
  /// say so. Null: none.
  std::function<std::string(const wire::WireConfig&)> profile{};
  /// Called with each packet that is in the log, once, and how it is read. The frame may have lost its bytes to a
  /// record. Null: nobody asks.
  std::function<void(const wire::Packet&, const wire::WireConfig&, const Frame&)> packet{};
  /// Called with each packet that was told before, as another place saw it. Null: nobody asks.
  std::function<void(const wire::Packet&, const Frame&)> again{};
  /// Called once with each packet that the capture has cut before its BTH or between that and the end of its headers,
  /// and with frames that a switch may have trimmed with a code point that is not told: they have an IP header alone.
  /// Null: nobody asks.
  std::function<void(const wire::Packet&, const wire::WireConfig&, const Frame&)> unread{};
  /// Called with each packet whose ICRC or lengths are wrong, unless its sender's ports were captured: it was damaged
  /// under way, or a switch has trimmed it with a code point that is not told. Null: nobody asks.
  std::function<void(const wire::Packet&, const Frame&)> damaged{};
  /// Called with each packet as it is read, in the order of its capture; the rest is not in the log yet. Null: nobody.
  std::function<void(const wire::CapturedFrame&, const wire::PacketSource&)> captured{};
  /// QPs of a device that is not told of any, in the order of time: conversations.hpp. Those of time 0 follow its
  /// Device record, others stand in front of the first frame that is not older. Null: none.
  std::function<std::vector<QpChange>(const ImportDevice&)> qps{};
  bool frames = true;  ///< false: nobody looks at Frame records, and none are handed over
  /// Overrules what the captures say.
  std::optional<wire::WireConfig> wire{};
  /// Called now and then with the bytes that were read. False: what has been read is all. Null: nobody asks.
  std::function<bool(uint64_t bytes)> progress{};
  /// So often that is, and an Until is told: each so many packets.
  uint64_t each = 4096;
  /// How far the times of each plane may be wrong, ps.
  std::array<Time, kMaxPlanes> clock_error{};
  /// So many ns of the captures' clock are one of the devices': of NICs that run slower than the wall's
  /// (docs/guide/ports.md).
  uint64_t slow = 1;
};

/// What was read.
struct Imported {
  CaptureCounts counts;
  uint64_t records = 0;            ///< frames in the log: one for each device that sent or got it
  uint64_t cut = 0;                ///< packets of which the captures hold the first bytes only
  uint64_t trimmed_under_way = 0;  ///< sent ones of which a switch took the payload before they were captured
  uint64_t lost = 0;               ///< packets that the capturing hosts say they dropped
  uint64_t backwards = 0;          ///< packets older than one before on their interface, too far off to be put right
  uint64_t base_ns = 0;            ///< time 0 of the log, in the captures' clock
  std::vector<ImportDevice> devices;
};

/// Is told of a record, and may take its memory: the next one is another.
using Sink = std::function<void(Record&)>;

/// Reads captures packet by packet, in bounded memory, and hands over Device, Frame, Gap, Until, Note and End records
/// in the order of the captures' times. A packet up to 64 places or 200 us from its own in its capture (both
/// directions of a port, queues of a NIC) is put there, as long as what waits has no more than 32 MB; what is farther
/// off stays where it is, and is counted.
///
/// - A frame whose source is an address of a device was sent by it. In a capture taken at its ports all others came to
///   it. Elsewhere a frame to one of its addresses is received with kMaybe.
/// - A device with a capture of its own ports has the frames of those captures alone.
/// - Planes: interfaces "plane<n>" by their number, others in the order in which they are described, counted anew at
///   each device. Of cooked captures (SLL2) each interface of the host is one, in the order in which they show MRC.
/// - A packet of which the capture holds the first bytes has kCut. One that was trimmed before it was captured, away
///   from its sender's ports, is sent with kCut and kMaybe.
/// - What the capturing host dropped becomes a Gap.
/// - The same frame at another interface, in another file, or at another hop within 100 us is one frame, the first.
/// - Where every frame of all senders comes twice, unchanged, two are one (each_twice.hpp).
/// - A frame whose ICRC is wrong, or that cannot be read, counts where it was captured at its sender's ports. Others
///   were damaged under way, and are counted.
/// - What is left out is counted by its reason.
///
/// An Error: a file that cannot be read or is no capture; records of what stood before it have been handed over.
wire::Result<Imported> import_captures(const ImportOptions& options, const Sink& sink);

}  // namespace mrc::log
