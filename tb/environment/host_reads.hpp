// SPDX-License-Identifier: Apache-2.0
/// What a NIC makes of the lines that its host gives it (docs/design/blocks/nic.md, "Host errors"), whatever the bytes
/// are.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "tb/environment/frame.hpp"

namespace mrc::tb {

/// The lines of a plane come in the order of its packets, and each was asked for in the name of its packet's QP. If one
/// of them could not be read every bit of the packet's ICRC is wrong. It knows the ports and the pins only, so it
/// judges any device.
class HostReads {
 public:
  /// peers: of each QP the QPN at the other end. icrc: ICRCs are looked at, `icrc_outer` says where they start.
  HostReads(const Preset& preset, std::vector<uint32_t> peers, bool icrc, bool icrc_outer)
      : preset_(preset), peers_(std::move(peers)), icrc_(icrc), icrc_outer_(icrc_outer) {}

  /// The host gives a line that was asked for with that plane and QP.
  void given(unsigned plane, QpIndex qp, bool error) { lines_[plane].push_back({qp, error}); }
  /// A frame goes out. One with a line that could not be read has kFateSpoiled from now on. Returns what is wrong with
  /// it, "" if nothing.
  std::string sent(Frame& frame, const FrameInfo& info);

  /// Frames with a line that could not be read.
  uint64_t spoiled() const { return spoiled_; }

 private:
  struct Line {
    QpIndex qp;
    bool error;
  };

  const Preset& preset_;
  std::vector<uint32_t> peers_;
  bool icrc_, icrc_outer_;
  std::array<std::deque<Line>, kMaxPlanes> lines_;  ///< given, in no frame yet
  uint64_t spoiled_ = 0;
};

}  // namespace mrc::tb
