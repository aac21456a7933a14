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

#include "wire/captured.hpp"

namespace mrc::wire {

struct Capture {
  std::vector<CaptureInterface> interfaces;
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

  /// One more, behind those that there are.
  void add_interface(const CaptureInterface& interface, unsigned port_gbps = 0);
  unsigned interfaces() const { return num_planes_; }

  /// Frame::interface must be below num_planes and the bytes at most kMaxFrameBytes: a frame beyond is not written and
  /// false returned. A comment above 65535 bytes becomes several. Frame::wire is not looked at.
  bool write(const CapturedFrame& frame);
  bool write(uint32_t plane, uint64_t time_ns, std::span<const uint8_t> bytes,
             std::span<const std::string> comments = {}, uint32_t original_length = 0);

  /// A comment about the capture as a whole, behind the frames.
  void note(const std::string& text);

 private:
  std::ostream& out_;
  unsigned num_planes_ = 0;
};

/// Reads pcapng in either byte order with any time resolution. Blocks of other kinds are skipped. Packets are read as
/// the description of their interface says, else as a comment of their section says; one of ours that cannot be
/// understood is an error.
class PcapngReader final : public PacketSource {
 public:
  /// `in` must outlive the reader. `name` is used in errors.
  PcapngReader(std::istream& in, std::string name);
  ~PcapngReader() override;
  bool next(CapturedFrame& frame) override;
  const std::optional<Error>& error() const override;
  const std::vector<CaptureInterface>& interfaces() const override;
  const std::vector<std::string>& comments() const override;
  std::vector<CaptureLoss> take_losses() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// All of a capture that PcapngReader reads.
Result<Capture> read_pcapng(std::span<const uint8_t> file, const std::string& name);

}  // namespace mrc::wire
