// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <iosfwd>
#include <string>
#include <string_view>

#include "wire/captured.hpp"

namespace mrc::wire {

/// Reads the format of libpcap ("pcap", version 2), in either byte order, with micro- or nanoseconds. It knows one
/// interface, which has no name, and no comments.
class PcapReader final : public PacketSource {
 public:
  /// `in` must outlive the reader. `name` is used in errors.
  PcapReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}
  bool next(CapturedFrame& frame) override;
  const std::optional<Error>& error() const override { return problem_; }
  const std::vector<CaptureInterface>& interfaces() const override { return interfaces_; }
  const std::vector<std::string>& comments() const override { return comments_; }
  std::vector<CaptureLoss> take_losses() override { return {}; }

 private:
  std::optional<Error> begin();
  std::optional<Error> packet(CapturedFrame& frame);
  Error error(uint64_t offset, std::string what, std::string remedy = {}) const;
  std::size_t read(uint8_t* to, std::size_t bytes);
  uint32_t u32(const uint8_t* from) const;

  std::istream& in_;
  const std::string name_;
  bool begun_ = false, over_ = false, big_ = false;
  uint32_t ns_per_tick_ = 1000;
  uint8_t fcs_bytes_ = 0;
  uint64_t at_ = 0, number_ = 0;
  std::vector<CaptureInterface> interfaces_;
  const std::vector<std::string> comments_;
  std::optional<Error> problem_;
};

}  // namespace mrc::wire
