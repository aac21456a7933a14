// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/fast/fast_ev_set.hpp"

#include <bit>

namespace mrc::sim {

namespace {
constexpr uint32_t kMaxPlanes = 8, kMaxGroups = 256;
}

bool EvSet::init(const QpSpec& spec, uint32_t seed, std::string& why) {
  const auto planes = spec.planes;
  if (planes == 0 || planes > kMaxPlanes || !std::has_single_bit(planes)) {
    why = std::to_string(planes) + " planes are not 1, 2, 4 or 8";
    return false;
  }
  if (spec.ev_active.empty()) {
    why = "the QP has no entropy values";
    return false;
  }
  if (spec.ev_active.size() % planes != 0 || spec.ev_backup.size() % planes != 0) {
    why = std::to_string(spec.ev_active.size()) + " active and " + std::to_string(spec.ev_backup.size()) +
          " backup entropy values are not the same number for each of " + std::to_string(planes) + " planes";
    return false;
  }
  const size_t groups = (spec.ev_active.size() + spec.ev_backup.size()) / planes;
  if (groups > kMaxGroups) {
    why = std::to_string(groups) + " entropy values of one plane are more than " + std::to_string(kMaxGroups);
    return false;
  }
  planes_ = static_cast<uint8_t>(planes);
  plane_bits_ = static_cast<uint8_t>(std::countr_zero(planes));
  active_groups_ = static_cast<uint16_t>(spec.ev_active.size() / planes);
  real_groups_ = static_cast<uint16_t>(groups);
  groups_ = static_cast<uint16_t>(std::bit_ceil(groups));
  rows_.reserve(groups_);
  rows_.assign(groups_, ev_uniform(planes, kEvDenied));
  for (unsigned g = 0; g < real_groups_; ++g) rows_[g] = ev_uniform(planes, g < active_groups_ ? kEvGood : kEvStandby);
  values_.reserve(groups * planes);
  values_ = spec.ev_active;
  values_.insert(values_.end(), spec.ev_backup.begin(), spec.ev_backup.end());
  active_ = static_cast<uint16_t>(spec.ev_active.size());
  lfsr_ = static_cast<uint16_t>(0xACE1u ^ (seed & 0x7fffu));
  return true;
}

void EvSet::next_group(Walk& w) const {
  w.used = 0;
  if (++w.group == groups_) {
    w.group = 0;
    w.lfsr = ev_key_next(w.lfsr);
    w.whole = true;
  }
}

void EvSet::keep(const Walk& walk, unsigned used, unsigned up) {
  Walk w = walk;
  const unsigned all = (1u << planes_) - 1u;
  if (((used | ~up) & all) == all) {
    next_group(w);
  } else {
    w.used = static_cast<uint8_t>(used);
  }
  group_ = w.group;
  lfsr_ = w.lfsr;
  used_ = w.used;
}

EvSet::Found EvSet::walk(Walk& w, unsigned all_up, unsigned room, const EvSkipping& skip, bool bad, uint16_t& ev_idx) {
  all_up &= (1u << planes_) - 1u;
  if (all_up == 0) return Found::NoPath;
  for (;;) {
    const unsigned up = all_up & ~unsigned{w.barred};
    const unsigned klo = w.lfsr & (planes_ - 1u), khi = w.lfsr >> plane_bits_ & (groups_ - 1u);
    const unsigned group = w.group ^ khi;
    EvGroup g{.row = rows_[group],
              .u = w.used,
              .restored = w.restored,
              .restored_idx = w.restored_idx,
              .spare = w.spare,
              .spare_idx = w.spare_idx};
    g = ev_walk_group(g, group, klo,
                      {.planes = planes_,
                       .up = up,
                       .room = room,
                       .avoid_on = w.avoid_on,
                       .avoid_ev = w.avoid,
                       .skip = skip,
                       .bad = bad});
    if (g.chosen >= 0) {
      rows_[group] = g.row;
      ev_idx = static_cast<uint16_t>(group * planes_ + static_cast<unsigned>(g.chosen));
      keep(w, g.u, up);
      return Found::Ev;
    }
    if (g.busy) return Found::Busy;
    // The group is exhausted.
    if (ev_walk_over(w.whole, w.group, groups_)) {
      // The EV that was restored; when nothing is to be avoided either, the spare one.
      const bool restored = g.restored && (up >> plane(g.restored_idx) & 1) != 0;
      if (!w.copy && (restored || (!w.avoid_on && g.spare != EvSpare::None && (up >> plane(g.spare_idx) & 1) != 0))) {
        const uint16_t found = restored ? g.restored_idx : g.spare_idx;
        if ((room >> plane(found) & 1) == 0) return Found::Busy;
        rows_[group] = g.row;
        ev_idx = found;
        keep(w, g.u, up);
        return Found::Ev;
      }
      rows_[group] = g.row;
      if (!w.avoid_on) {
        w.used = static_cast<uint8_t>(g.u);
        group_ = w.group;
        lfsr_ = w.lfsr;
        used_ = w.used;
        return Found::NoPath;
      }
      w.avoid_on = false;
      w.barred = 0;
    } else {
      rows_[group] = g.row;
    }
    w.restored = g.restored;
    w.restored_idx = g.restored_idx;
    w.spare = g.spare;
    w.spare_idx = g.spare_idx;
    next_group(w);
  }
}

bool EvSet::swap_backup(unsigned p, bool to_use, unsigned except) {
  for (unsigned g = active_groups_; g < real_groups_; ++g) {
    const unsigned state = ev_state(rows_[g], p);
    if (to_use ? state == kEvStandby : ev_in_use(state) && g * planes_ + p != except) {
      rows_[g] = ev_with_state(rows_[g], p, to_use ? kEvGood : kEvStandby);
      return true;
    }
  }
  return false;
}

EvSet::Change EvSet::feedback(unsigned ev_idx, FbKind kind, uint32_t entropy, unsigned up, unsigned min_active,
                              const EvSkipping& skip) {
  if (ev_idx >= values_.size()) return Change::None;
  const unsigned p = plane(ev_idx);
  EvRow& row = rows_[ev_idx >> plane_bits_];
  const unsigned before = ev_state(row, p);
  const unsigned after = ev_after(before, kind, values_[ev_idx] == entropy, ((up >> p) & 1u) != 0, skip);
  if (after == before) return Change::None;
  row = ev_with_state(row, p, after);
  if (after == kEvBad) {
    if (swap_backup(p, true, ev_idx)) return Change::Bad;
    if (active_ > min_active) {
      --active_;
      return Change::Bad;
    }
    row = ev_with_state(row, p, before);
    return Change::Floor;
  }
  if (before == kEvBad) {
    if (!swap_backup(p, false, ev_idx)) ++active_;
    return Change::Revived;
  }
  return Change::Skip;
}

bool EvSet::deny(unsigned ev_idx, bool deny) {
  if (ev_idx >= values_.size()) return false;
  EvRow& row = rows_[ev_idx >> plane_bits_];
  const unsigned before = ev_state(row, plane(ev_idx)), after = ev_after_deny(before, deny);
  row = ev_with_state(row, plane(ev_idx), after);
  active_ = static_cast<uint16_t>(active_ + ev_active_change(before, after));
  return true;
}

EvCounts EvSet::counts() const {
  EvCounts c;
  for (unsigned i = 0; i < values_.size(); ++i) {
    switch (state(i)) {
      case kEvGood:
        ++c.good;
        break;
      case kEvSkip:
      case kEvSkip2:
      case kEvSkip3:
        ++c.skip;
        break;
      case kEvBad:
        ++c.assumed_bad;
        break;
      case kEvDenied:
        ++c.denied;
        break;
      default:
        break;
    }
  }
  return c;
}

}  // namespace mrc::sim
