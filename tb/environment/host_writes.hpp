// SPDX-License-Identifier: Apache-2.0
/// What a host may rely on when the NIC writes its memory (docs/design/blocks/nic.md, "Host writes"), whatever the
/// bytes are.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "api/pins.h"
#include "gen/presets.hpp"
#include "gen/streams.hpp"

namespace mrc::tb {

/// Of each plane the lines of a packet are in one piece, at rising addresses without a gap; each without `last` is
/// full, and one ends the packet. They have one QP, and a data packet of that QP with as many bytes has come on that
/// plane, behind the one that was written before. It knows the ports and the pins only, so it judges any device.
class HostWrites {
 public:
  explicit HostWrites(const Preset& preset) : preset_(preset) {}

  /// A frame has come in whole at a port, and its MAC saw no error.
  void came(unsigned plane, const std::vector<uint8_t>& frame);
  /// The line that the host takes in this cycle. Returns what is wrong with it, "" if nothing.
  std::string taken(const mrc_pins_out& out) {
    Plane& p = planes_[out.host_wr_plane % kMaxPlanes];
    const bool follows = p.lines != 0;
    const bool right = out.host_wr_plane < preset_.num_planes && out.host_wr_qp < preset_.num_qps &&
                       (out.host_wr_last || out.host_wr_len == preset_.host_bytes) &&
                       (!follows || (out.host_wr_addr == p.next && out.host_wr_qp == p.qp)) && p.lines < most_lines() &&
                       (out.host_wr_last || p.lines + 1 < most_lines());
    if (!right) return wrong(out);
    p.qp = out.host_wr_qp;
    p.bytes += out.host_wr_len;
    if (!out.host_wr_last) {
      p.next = out.host_wr_addr + preset_.host_bytes;
      ++p.lines;
      return {};
    }
    return ends(out);
  }
  /// At the end, when nothing is on its way any more: "" or the packet that has not ended.
  std::string finish() const;

 private:
  /// A data packet that came, or the lines of one.
  struct Packet {
    QpIndex qp;
    uint16_t bytes;
  };
  struct Plane {
    unsigned lines = 0;  ///< of the packet that is being written
    unsigned bytes = 0;
    QpIndex qp = 0;
    uint64_t next = 0;           ///< address of its next line
    std::deque<Packet> waiting;  ///< that have come since the one that was written last
  };
  static constexpr unsigned kMostBytes = 4096;  ///< of a packet
  unsigned most_lines() const { return kMostBytes / preset_.host_bytes; }
  std::string wrong(const mrc_pins_out& out) const;
  std::string ends(const mrc_pins_out& out);

  const Preset& preset_;
  std::array<Plane, kMaxPlanes> planes_;
};

}  // namespace mrc::tb
