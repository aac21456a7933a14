// SPDX-License-Identifier: Apache-2.0
/// Captures: pcapng with one interface per plane, nanosecond time stamps and comments per packet.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "wire/result.hpp"

namespace mrc::wire {

/// One frame of a capture, from the Ethernet header on, without FCS.
struct CapturedFrame {
  uint32_t interface = 0;  ///< index into Capture::interfaces; the plane in captures written here
  uint64_t time_ns = 0;
  std::vector<uint8_t> bytes;
  uint32_t original_length = 0;  ///< bytes on the wire; 0 when writing: as many as there are
  std::vector<std::string> comments;
  bool operator==(const CapturedFrame&) const = default;
};

struct Capture {
  std::vector<std::string> interfaces;  ///< names, "" where the capture gives none
  std::vector<CapturedFrame> frames;
};

/// Writes section and interface blocks at once, then one block per frame.
class PcapngWriter {
 public:
  /// Interfaces are "plane0".. "plane<n-1>" of Ethernet, `port_gbps` each (0: not said).
  /// `out` must outlive the writer; errors show in its state.
  PcapngWriter(std::ostream& out, unsigned num_planes, unsigned port_gbps = 0);

  /// Frame::interface must be below num_planes; a frame beyond is not written and false returned.
  bool write(const CapturedFrame& frame);
  bool write(uint32_t plane, uint64_t time_ns, std::span<const uint8_t> bytes,
             std::span<const std::string> comments = {}, uint32_t original_length = 0);

 private:
  std::ostream& out_;
  unsigned num_planes_;
};

/// Reads a capture in either byte order with any time resolution. Blocks of other kinds are skipped.
/// `name` is used in errors. Interfaces other than Ethernet are an error.
Result<Capture> read_pcapng(std::span<const uint8_t> file, const std::string& name);

}  // namespace mrc::wire
