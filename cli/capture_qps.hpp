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

/// One of so many packets is damaged: nobody's links are like that.
inline constexpr uint64_t kMuchDamaged = 20;
bool much_damaged(const log::CaptureCounts& counts);
/// The other reading of A-14.
wire::WireConfig icrc_outer();

class CaptureQps {
 public:
  /// Reads the captures once. `part`: they may end anywhere. Throws UsageError when they cannot be read, but not when
  /// a signal has ended that.
  explicit CaptureQps(log::ImportOptions captures, bool part = false);

  /// The same. Where nothing but an ICRC from the outer IP header on makes SRv6 packets right, `captures` are
  /// read so from then on.
  static CaptureQps as_they_read(log::ImportOptions& captures);

  /// Of a device of those captures: for log::ImportOptions::qps.
  std::vector<log::Qp> of(const log::ImportDevice& device) const;
  /// What they stand on, of each way of data.
  std::vector<log::FactsOfWay> facts() const;
  /// Why flows are not told: reason -> how many.
  std::map<std::string, uint64_t> untold() const;

 private:
  /// A device with captures of its own ports, or (nothing) all that are seen under way: a frame that is lost between
  /// two NICs is at the ports of one of them alone.
  using View = std::optional<std::size_t>;
  std::map<View, log::Conversations> views_;
  log::CaptureCounts counts_;
  uint64_t wrong_icrcs_ = 0;            ///< of SRv6 packets that are judged
  std::map<log::Ip, std::size_t> own_;  ///< addresses of devices with captures of their own
};

}  // namespace mrc::cli
