// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/host_errors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gen/csr.hpp"
#include "tb/environment/traffic.hpp"

namespace mrc::tb {

bool HostErrors::reads(QpIndex qp, uint64_t cycle) {
  if (read_ <= 0 || !rng_.chance(read_)) return false;
  if (rng_.chance(0.5)) give_up(qp, CqStatus::HostRead, cycle);
  return true;
}

void HostErrors::fill(uint8_t* line, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) line[i] = static_cast<uint8_t>(rng_.next());
}

void HostErrors::wrote(QpIndex qp, uint64_t cycle) {
  if (write_ > 0 && rng_.chance(write_)) give_up(qp, CqStatus::HostWrite, cycle);
}

/// Soon or late, and now and then with a reason of the host's own, again, or for a QP that there is not.
void HostErrors::give_up(QpIndex qp, CqStatus status, uint64_t cycle) {
  const auto say = [&](QpIndex of) {
    const uint64_t later = rng_.below(rng_.chance(0.5) ? 16 : 4000);
    const auto own = static_cast<CqStatus>(rng_.below(256));
    reports_.emplace(cycle + 1 + later, Qperr{.qp = of, .status = rng_.chance(0.2) ? own : status});
  };
  say(qp);
  if (rng_.chance(0.2)) say(qp);
  if (rng_.chance(0.8)) return;
  const auto nobody = [&] { return static_cast<QpIndex>(rng_.between(preset_.num_qps, 0xffff)); };
  say(nobody());
  if (rng_.chance(0.5)) return;
  const uint64_t due = cycle + 1 + rng_.below(100);  // of many at once
  for (uint64_t n = rng_.between(2, 60); n > 0; --n) reports_.emplace(due, Qperr{.qp = nobody(), .status = status});
}

void HostErrors::give_up(unsigned qp, uint64_t cycle) {
  std::erase_if(reports_, [&](const auto& each) { return each.second.qp == qp && each.first > cycle; });
}

bool HostErrors::quiet(unsigned qp) const {
  return std::ranges::none_of(reports_, [&](const auto& each) { return each.second.qp == qp; });
}

void HostErrors::taken(uint64_t cycle) {
  const Qperr said = reports_.begin()->second;
  reports_.erase(reports_.begin());
  ++said_;
  if (said.qp < given_up_.size() && !given_up_[said.qp]) given_up_[said.qp] = {cycle, said.status};
}

std::string HostErrors::info(unsigned qp, uint32_t info, uint64_t cycle) const {
  constexpr uint64_t kSoon = 200;  // csr takes reports of the NIC's blocks, and a command, before the host's
  const auto state = static_cast<QpState>(csr::kQpInfoState.get(info));
  const auto status = static_cast<CqStatus>(csr::kQpInfoStatus.get(info));
  const std::optional<GivenUp>& host = given_up_[qp];
  const bool of_host = status == CqStatus::HostRead || status == CqStatus::HostWrite;
  if (host && host->cycle + kSoon < cycle && state != QpState::Error)
    return fmt::format("the host gave QP {} up in cycle {}, its state is {}", qp, host->cycle,
                       static_cast<unsigned>(state));
  if (of_host && (!host || host->status != status))
    return fmt::format(
        "QP {} has status {}, the host {}", qp, status_text(status),
        host ? fmt::format("said {} first", status_text(host->status)) : std::string("did not give it up"));
  return {};
}

}  // namespace mrc::tb
