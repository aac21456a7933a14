// SPDX-License-Identifier: Apache-2.0
/// Captures: pcapng with one interface per plane, nanosecond time stamps and comments per packet.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wire/packet.hpp"
#include "wire/result.hpp"

namespace mrc::wire {

/// What both directions hold, here and in JSON: captures beyond are refused.
inline constexpr uint32_t kMaxInterfaces = 1u << 17;
inline constexpr uint32_t kMaxFrameBytes = 1u << 18;  ///< Wireshark's limit, too

/// One frame of a capture, from the Ethernet header on, without FCS.
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
  uint8_t fcs_bytes = 0;  ///< of an FCS at the end of `bytes`
  uint64_t dropped = 0;   ///< packets that the capturing host lost between the one before and this one
  bool operator==(const CapturedFrame&) const = default;
};

struct Capture {
  std::vector<std::string> interfaces;  ///< names, "" where the capture gives none
  std::vector<CapturedFrame> frames;
  std::vector<std::string> comments;  ///< of sections and statistics; not those that say how to read them
};

/// Writes section and interface blocks at once, then one block per frame. The section and, for tools that do not see
/// it, every interface say how to read the frames: "mrc decode --udp-port 4971 ...".
class PcapngWriter {
 public:
  /// Frames are to be read with `wire`. Interfaces are "plane0".. "plane<n-1>" of Ethernet, `port_gbps` each (0: not
  /// said). `comments` are about the whole capture. `out` must outlive the writer; errors show in its state.
  PcapngWriter(std::ostream& out, const WireConfig& wire, unsigned num_planes, unsigned port_gbps = 0,
               std::span<const std::string> comments = {});

  /// Frame::interface must be below num_planes and the bytes at most kMaxFrameBytes: a frame beyond is not written and
  /// false returned. A comment above 65535 bytes becomes several. Frame::wire is not looked at.
  bool write(const CapturedFrame& frame);
  bool write(uint32_t plane, uint64_t time_ns, std::span<const uint8_t> bytes,
             std::span<const std::string> comments = {}, uint32_t original_length = 0);

  /// A comment about the capture as a whole, behind the frames.
  void note(const std::string& text);

 private:
  std::ostream& out_;
  unsigned num_planes_;
};

/// What the capturing host says that it dropped.
struct CaptureLoss {
  uint32_t interface = 0;
  uint64_t time_ns = 0;  ///< of the statistics
  uint64_t dropped = 0;  ///< packets since the capture began
};

/// Reads a capture packet by packet, in memory for one block and what the capture says about itself. As read_pcapng().
class PcapngReader {
 public:
  /// `in` must outlive the reader.
  PcapngReader(std::istream& in, std::string name);
  ~PcapngReader();
  PcapngReader(const PcapngReader&) = delete;
  PcapngReader& operator=(const PcapngReader&) = delete;
  /// The next packet; the memory of `frame` is used again. False: there is none, or error().
  bool next(CapturedFrame& frame);
  const std::optional<Error>& error() const;
  /// Those described so far.
  const std::vector<std::string>& interfaces() const;
  const std::vector<std::string>& comments() const;
  /// Statistics that have been read since the last call.
  std::vector<CaptureLoss> take_losses();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads a capture in either byte order with any time resolution. Blocks of other kinds are skipped.
/// `name` is used in errors. Interfaces other than Ethernet are an error. Frames are read as the description of their
/// interface says, else as a comment of their section says; one of ours that cannot be understood is an error.
Result<Capture> read_pcapng(std::span<const uint8_t> file, const std::string& name);

}  // namespace mrc::wire
