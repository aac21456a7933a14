// SPDX-License-Identifier: Apache-2.0
/// Which QPs captures show, of each NIC by the frames that are known to have been at its ports.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "log/conversations.hpp"
#include "log/import.hpp"

namespace mrc::cli {

class CaptureQps {
 public:
  /// Reads the captures once. `part`: they may end anywhere. Throws UsageError when they cannot be read, but not when
  /// a signal has ended that.
  explicit CaptureQps(log::ImportOptions captures, bool part = false);

  /// Of a device of those captures: for log::ImportOptions::qps.
  std::vector<log::Qp> of(const log::ImportDevice& device) const;
  /// Why flows are not told: reason -> how many.
  std::map<std::string, uint64_t> untold() const;

 private:
  /// A device with captures of its own ports, or (nothing) all that are seen under way: a frame that is lost between
  /// two NICs is at the ports of one of them alone.
  using View = std::optional<std::size_t>;
  std::map<View, log::Conversations> views_;
  std::map<log::Ip, std::size_t> own_;  ///< addresses of devices with captures of their own
};

}  // namespace mrc::cli
