// SPDX-License-Identifier: Apache-2.0
/// What evidence may name before it is refused: a judge holds something of each device, QP, region and EV, and a small
/// log can name very many. Everything else that a judge holds is bounded for each QP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "log/record.hpp"

namespace mrc::ref {

class Load {
 public:
  /// More than these are no evidence that anybody has made.
  static constexpr std::size_t kMostDevices = 4096, kMostQps = 1 << 20, kMostRegions = 1 << 20;
  /// Of what is judged at once. EVs count one; each is some 330 bytes of the judge, and so it is no more than 1 GB.
  static constexpr std::size_t kQpWeight = 24, kDeviceWeight = 512, kMostWeight = 2'500'000;

  /// A record of any device, judged or not. Throws InputError: too many devices, QPs or regions.
  void named(const log::Record& record);
  /// One more device is judged.
  void judged() { ++judged_; }
  /// A record of a device that is judged. Throws InputError: that is more than a judge holds.
  void weigh(const log::Record& record);

 private:
  std::unordered_set<uint64_t> qps_, regions_;     ///< device and number
  std::unordered_set<uint32_t> devices_;           ///< that were named
  uint32_t newest_ = ~uint32_t{0};                 ///< of these
  std::unordered_map<uint64_t, std::size_t> evs_;  ///< of each QP that is judged, the most it had
  std::size_t judged_ = 0;                         ///< devices
  std::size_t weight_ = 0;                         ///< of these QPs and EVs
};

}  // namespace mrc::ref
