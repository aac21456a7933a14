// SPDX-License-Identifier: Apache-2.0
/// Any capture. libpcap reads pcap and pcapng as well, and is not used: it refuses a pcapng file whose interfaces
/// differ in link type or snap length, hands over neither their numbers and names nor directions, drop counts and
/// comments, wants a FILE, and names no byte in an error. What is left, pcap, has a header of 24 bytes, 16 for a
/// packet.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "wire/captured.hpp"

namespace mrc::wire {

/// What begins so may be a capture, or one that is packed.
bool begins_like_a_capture(std::string_view bytes);

/// Reads pcapng or pcap, as it is or packed with gzip or zstd; what it is, its first byte tells. Packets have the
/// link header of their interface: to_ethernet() is next.
class CaptureReader final : public PacketSource {
 public:
  /// `in` must outlive the reader. `name` is used in errors; places in what is packed are those of what is unpacked.
  CaptureReader(std::istream& in, std::string name);
  ~CaptureReader() override;
  bool next(CapturedFrame& frame) override;
  const std::optional<Error>& error() const override;
  const std::vector<CaptureInterface>& interfaces() const override;
  const std::vector<std::string>& comments() const override;
  std::vector<CaptureLoss> take_losses() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mrc::wire
