// SPDX-License-Identifier: Apache-2.0
#include "tb/device/device.hpp"

#include <algorithm>

namespace mrc::tb {

QpConfig first_config(uint32_t qp, const DeviceInfo& info) {
  QpConfig config;
  config.qp = qp;
  config.mpr = config.mpr_dest = std::max(1u, std::min(config.mpr, info.mpr));
  config.max_wimm = config.max_wimm_dest = std::min(config.max_wimm, info.max_wimm);
  return config;
}

}  // namespace mrc::tb
