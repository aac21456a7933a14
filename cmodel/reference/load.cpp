// SPDX-License-Identifier: Apache-2.0
#include "reference/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "input/error.hpp"

namespace mrc::ref {

void Load::named(const log::Record& record) {
  const auto limit = [&](std::unordered_set<uint64_t>& known, uint32_t number, std::size_t most, const char* what) {
    known.insert(uint64_t{record.device} << 32 | number);
    if (known.size() <= most) return;
    throw InputError(fmt::format("the evidence has more than {} {}.", most, what), "Judge a part of it.");
  };
  if (const auto* qp = std::get_if<log::Qp>(&record.body)) limit(qps_, qp->qp, kMostQps, "QPs");
  if (const auto* mr = std::get_if<log::Mr>(&record.body)) limit(regions_, mr->rkey, kMostRegions, "regions");
  if (record.device == newest_) return;
  newest_ = record.device;
  devices_.insert(record.device);
  if (devices_.size() <= kMostDevices) return;
  throw InputError(fmt::format("the evidence has more than {} devices.", kMostDevices),
                   "Name those that are wanted when it is recorded or imported.");
}

void Load::weigh(const log::Record& record) {
  if (const auto* qp = std::get_if<log::Qp>(&record.body)) {
    const auto [at, fresh] = evs_.try_emplace(uint64_t{record.device} << 32 | qp->qp, 0);
    const std::size_t before = std::exchange(at->second, std::max(at->second, qp->evs.size()));
    weight_ += (fresh ? kQpWeight : 0) + at->second - before;
  }
  if (weight_ + judged_ * kDeviceWeight <= kMostWeight) return;
  throw InputError(fmt::format("the evidence has more devices, QPs and EVs than are checked at once: {}, {}, {}.",
                               judged_, evs_.size(), weight_ - evs_.size() * kQpWeight),
                   "Judge some devices at a time: --device NAME.");
}

}  // namespace mrc::ref
