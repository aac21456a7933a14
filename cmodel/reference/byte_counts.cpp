// SPDX-License-Identifier: Apache-2.0
#include "reference/byte_counts.hpp"

#include <algorithm>
#include <cstdlib>

#include "log/packet.hpp"
#include "reference/queue.hpp"

namespace mrc::ref {
namespace {

using log::Seq, log::unwrap;

constexpr Seq kWidest = 4096;              ///< the largest window: 32 units of 128 PSNs
constexpr Seq kBelowCounted = 512;         ///< PSNs below those that are counted that are still known
constexpr unsigned kSacksInRow = 3;        ///< SACKs in a row
constexpr Seq kRcvdUnit = 256;             ///< of rcvd_bytes
constexpr Seq kLongestRow = Seq{1} << 30;  ///< of a row: rcvd_bytes has 24 bits
constexpr Seq kNominalMore = 40;           ///< A-55

struct CountedPsn {
  uint32_t entropy = 0;
  uint16_t udp = 0;  ///< length; 0: not seen whole
  uint16_t payload = 0;
  bool again = false;  ///< more than one copy was
  bool fresh = false;  ///< seen with rtx 0
};

}  // namespace

struct ByteCounts::Flow {
  Queue<CountedPsn> psns;  ///< from base on
  Seq base = 0, top = 0;
  // The row: its first SACK, and the sums of what came since, by CTRL.nominal.
  std::optional<Seq> counted;
  uint32_t first = 0;
  std::array<Seq, 3> bytes{};
  uint32_t reading = 0;
  unsigned steady = 0;
  bool sure = false;

  const CountedPsn* find(Seq psn) const {
    const Seq at = psn - base;
    return at < 0 || at >= static_cast<Seq>(psns.size()) ? nullptr : &psns[static_cast<std::size_t>(at)];
  }
  /// The SACK names a packet of this life, by PSN and entropy value.
  bool names(const wire::Packet& sack) const {
    const wire::Seth& seth = *sack.seth;
    const uint32_t psn = (seth.cack_psn + static_cast<uint32_t>(int32_t{seth.ack_psn_offset})) & 0xFFFFFF;
    const CountedPsn* const one = find(unwrap(psn, top));
    return one != nullptr && one->udp != 0 && one->entropy == seth.entropy;
  }
  void begin(Seq cack, uint32_t rcvd) {
    counted = cack;
    first = rcvd;
    bytes = {};
    steady = 0;
    sure = true;
  }
  /// Of packets from one to another, each reading's sum. Nothing: one of them was not seen.
  std::optional<std::array<Seq, 3>> sums(Seq from, Seq upto) {
    std::array<Seq, 3> sum{};
    for (Seq psn = from; psn <= upto; ++psn) {
      const CountedPsn* const one = find(psn);
      if (one == nullptr || one->udp == 0) return {};
      sure &= !one->again;
      sum[0] += one->udp + kNominalMore;
      sum[1] += one->payload;
      sum[2] += one->payload + kNominalMore;
    }
    return sum;
  }
  /// Adds what a SACK has taken since the one before. False: it was not seen, or is more than a row can hold.
  bool add(Seq upto) {
    const auto more = sums(*counted + 1, upto);
    if (!more) return false;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] += (*more)[i];
    counted = upto;
    return bytes[0] < kLongestRow;
  }
};

void ByteCounts::came(const wire::Packet& p, const wire::WireConfig& wire) {
  if (!p.reth || !p.udp || p.trimmed()) return;
  const Key key{log::mapped_source(p), log::mapped_destination(p), p.bth->dqp};
  auto at = flows_.find(key);
  if (at == flows_.end()) {
    if (flows_.size() >= kMostFlows) return;
    at = flows_.emplace(key, std::make_shared<Flow>()).first;
    at->second->base = at->second->top = p.bth->psn;
  }
  Flow& f = *at->second;
  const Seq psn = unwrap(p.bth->psn, f.top);
  const bool fresh = p.bth->rtx == 0;
  const CountedPsn* const before = f.find(psn);
  if (std::abs(psn - f.top) > 2 * kWidest || (fresh && before != nullptr && before->fresh)) {
    // Its QP was set up anew, or the PSN is wrong.
    f.psns.clear();
    f.counted.reset();
    f.base = f.top = psn;
  }
  for (; psn < f.base; --f.base) f.psns.emplace_front();
  if (psn >= f.top) {
    f.psns.resize(static_cast<std::size_t>(psn - f.base) + 1);
    f.top = psn + 1;
  }
  const Seq headers = wire::Udp::kBytes + wire::Bth::kBytes + wire::Meth::kBytes + wire::Reth::kBytes +
                      (p.tseth ? wire::Tseth::kBytes : 0) + (p.immdt ? wire::Immdt::kBytes : 0) + wire::kIcrcBytes +
                      p.bth->pad_count;
  if (p.udp->length < headers) return;
  CountedPsn& one = f.psns[static_cast<std::size_t>(psn - f.base)];
  one = {p.entropy(wire), p.udp->length, static_cast<uint16_t>(p.udp->length - headers), one.udp != 0,
         fresh || one.fresh};
  const Seq keep = std::max(f.top - 2 * kWidest, f.counted ? std::min(*f.counted, f.top) - kBelowCounted : f.base);
  for (; f.base < keep; ++f.base) f.psns.pop_front();
}

/// The flow of which the SACK names a packet, if one alone fits.
ByteCounts::Flow* ByteCounts::flow_of(const wire::Packet& sack) {
  const log::Ip from = log::mapped_destination(sack), to = log::mapped_source(sack);
  const Key key{from, to, sack.bth->dqp};
  const auto known = answered_.find(key);
  if (known != answered_.end() && known->second.second >= kSacksInRow) return known->second.first.get();
  std::shared_ptr<Flow> found;
  for (auto at = flows_.lower_bound({from, to, 0}); at != flows_.end() && at->first.from == from && at->first.to == to;
       ++at) {
    if (!at->second->names(sack)) continue;
    if (found) return nullptr;
    found = at->second;
  }
  if (!found || answered_.size() >= kMostFlows) return found.get();
  auto& [flow, times] = answered_[key];
  times = flow == found ? times + 1 : 1;
  flow = found;
  return flow.get();
}

const char* ByteCounts::words(uint32_t nominal) {
  static constexpr std::array kWords{"packets count as UDP length + 40", "packets count as payload",
                                     "packets count as payload + 40"};
  return kWords[nominal];
}

std::optional<ByteCounts::Shown> ByteCounts::sent(const wire::Packet& sack) {
  if (!sack.seth || !sack.cc_state || sack.seth->pr != 0 || sack.trimmed() || sack.cc_state->ooo_count != 0) return {};
  Flow* const f = flow_of(sack);
  if (f == nullptr || !f->names(sack)) return {};
  const Seq cack = unwrap(sack.seth->cack_psn, f->top);
  if (f->counted && cack <= *f->counted && cack > *f->counted - 2 * kWidest) return {};
  const uint32_t rcvd = sack.cc_state->rcvd_bytes;
  // rcvd_bytes is of the packet that the SACK answers; cack_psn may be of a later time.
  const Seq later = -std::min<Seq>(sack.seth->ack_psn_offset, 0);
  const auto begin = [&] { later == 0 ? f->begin(cack, rcvd) : f->counted.reset(); };
  const bool goes_on = f->counted && cack >= *f->counted && f->add(cack);
  const auto open = goes_on ? f->sums(cack - later + 1, cack) : std::nullopt;
  if (!open) {
    begin();
    return {};
  }
  const Seq shown = Seq{(rcvd - f->first) & 0xFFFFFF} * kRcvdUnit;
  std::optional<uint32_t> fits;
  unsigned readings = 0;
  for (uint32_t nominal = 0; nominal < f->bytes.size(); ++nominal) {
    const Seq most = f->bytes[nominal], least = most - (*open)[nominal];
    if (shown <= least - kRcvdUnit || shown >= most + kRcvdUnit) continue;
    fits = nominal;
    ++readings;
  }
  if (readings == 0) begin();
  if (readings != 1) return {};
  f->steady = f->reading == *fits ? f->steady + 1 : 1;
  f->reading = *fits;
  if (f->steady < kSacksInRow) return {};
  return Shown{*fits, f->sure};
}

}  // namespace mrc::ref
