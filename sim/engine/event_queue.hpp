// SPDX-License-Identifier: Apache-2.0
/// The packet engine's queue of things to come, in the order of (time, key).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory_resource>
#include <queue>
#include <vector>

#include "sim/engine/huge.hpp"
#include "sim/engine/units.hpp"

namespace mrc::sim {

/// A wheel of 16384 slots of 2^kSlotShift ps (4.1 ns: 67 us in all), later events in a heap. Constant time per event
/// whatever their number, but for the sorting of a slot when its turn comes. Events of the same time come in the order
/// of their keys, so the result does not depend on who scheduled first. There is no cancelling: the owner ignores an
/// event it no longer wants.
///
/// A slot is a list of cache lines with seven events each: with millions of events, one by one, each would be a line
/// that is in no cache, as it is put and as it is taken.
template <unsigned kSlotShift = 12>
class EventWheel {
 public:
  struct Event {
    Time time;
    uint32_t key;
  };

  EventWheel() { head_.fill(kNil); }

  /// `time` must not be before the event taken last.
  void push(Time time, uint32_t key) {
    const uint64_t slot = time >> kSlotShift;
    if (slot <= slot_) {
      late_.push({time, key});
    } else if (slot - slot_ < kSlots) {
      push_wheel(time, key);
    } else {
      far_.push({time, key});
    }
  }

  /// Takes the first event if its time is before `limit`.
  bool pop(Time limit, Event& event) {
    if (near_.empty() && late_.empty() && !advance(limit)) return false;
    if (late_.empty()) [[likely]] {
      if (!near_.empty()) {
        event = first_near();
        if (event.time >= limit) return false;
        near_.pop_back();
        return true;
      }
      return false;
    }
    if (near_.empty() || before(late_.top(), first_near())) {
      event = late_.top();
      if (event.time >= limit) return false;
      late_.pop();
    } else {
      event = first_near();
      if (event.time >= limit) return false;
      near_.pop_back();
    }
    return true;
  }

  /// The first event, if its time is before `limit`; it stays.
  bool peek(Time limit, Event& event) {
    if (near_.empty() && late_.empty() && !advance(limit)) return false;
    if (near_.empty() || (!late_.empty() && before(late_.top(), first_near()))) {
      event = late_.top();
    } else {
      event = first_near();
    }
    return event.time < limit;
  }

  /// Key of the event that comes next, unless something is scheduled before it; `none` if that is not known yet.
  uint32_t ahead(uint32_t none) const { return near_.empty() ? none : static_cast<uint32_t>(near_.back()); }

  /// Takes all events before `limit`, in any order.
  template <class F>
  void take(Time limit, F&& f) {
    while (!near_.empty() && first_near().time < limit) {
      f(first_near());
      near_.pop_back();
    }
    while (!late_.empty() && late_.top().time < limit) {
      f(late_.top());
      late_.pop();
    }
    if (!near_.empty() || !late_.empty()) return;
    // Whole slots need no order.
    for (uint64_t slot = next_slot(); slot < limit >> kSlotShift; slot = next_slot()) {
      if (!far_.empty() && far_.top().time >> kSlotShift <= slot) break;
      slot_ = slot;
      open_slot([&](const Entry& entry) { f(Event{(slot << kSlotShift) + entry.offset, entry.key}); });
    }
    for (Event event; pop(limit, event);) f(event);
  }

  /// Time of the first event, kNever if there is none.
  Time next() {
    if (near_.empty() && late_.empty() && !advance(kNever)) return kNever;
    return std::min(near_.empty() ? kNever : first_near().time, late_.empty() ? kNever : late_.top().time);
  }

  /// Only while it is empty: from now on events from that time on can come, even if later ones were taken before.
  void restart(Time time) { slot_ = std::max<uint64_t>(time >> kSlotShift, 1) - 1; }

  uint64_t memory() const {
    return sizeof *this + pool_.capacity() * sizeof(Line) + near_.capacity() * sizeof(uint64_t) +
           (far_.size() + late_.size()) * sizeof(Event);
  }

 private:
  static constexpr unsigned kSlots = 1 << 14, kWords = kSlots / 64;
  static constexpr uint32_t kNil = ~0u;
  struct Entry {
    uint32_t key, offset;  // offset: time within the slot
  };
  struct alignas(64) Line {
    uint32_t next, used;
    Entry entry[7];
  };
  static bool before(const Event& a, const Event& b) { return a.time != b.time ? a.time < b.time : a.key < b.key; }
  struct Later {
    bool operator()(const Event& a, const Event& b) const { return before(b, a); }
  };
  using Heap = std::priority_queue<Event, std::vector<Event>, Later>;

  Event first_near() const {
    return {(slot_ << kSlotShift) + (near_.back() >> 32), static_cast<uint32_t>(near_.back())};
  }
  void push_wheel(Time time, uint32_t key) {
    const auto at = static_cast<unsigned>((time >> kSlotShift) % kSlots);
    uint32_t n = head_[at];
    if (n == kNil || pool_[n].used == std::size(pool_[n].entry)) {
      n = free_;
      if (n != kNil) {
        free_ = pool_[n].next;
      } else {
        n = static_cast<uint32_t>(pool_.size());
        pool_.emplace_back();
      }
      pool_[n].next = head_[at];
      pool_[n].used = 0;
      head_[at] = n;
    }
    Line& line = pool_[n];
    line.entry[line.used++] = {key, static_cast<uint32_t>(time % (1u << kSlotShift))};
    words_[at / 64] |= uint64_t{1} << at % 64;
    summary_[at / 4096] |= uint64_t{1} << at / 64 % 64;
  }
  /// First used slot after slot_, kNever if the wheel is empty.
  uint64_t next_slot() const {
    const auto from = static_cast<unsigned>((slot_ + 1) % kSlots);
    const uint64_t first = words_[from / 64] >> from % 64;
    if (first != 0) return slot_ + 1 + static_cast<unsigned>(std::countr_zero(first));
    unsigned word = from / 64 + 1;
    for (unsigned i = 0; i <= kWords / 64; ++i) {
      word %= kWords;
      const uint64_t used = summary_[word / 64] >> word % 64;
      if (used != 0) {
        word += static_cast<unsigned>(std::countr_zero(used));
        const unsigned at = word * 64 + static_cast<unsigned>(std::countr_zero(words_[word]));
        return slot_ + 1 + (at - from) % kSlots;
      }
      word = (word / 64 + 1) * 64;
    }
    return kNever;
  }
  /// Empties the wheel's slot slot_.
  template <class F>
  void open_slot(F&& f) {
    const auto at = static_cast<unsigned>(slot_ % kSlots);
    for (uint32_t n = head_[at]; n != kNil;) {
      Line& line = pool_[n];
      const uint32_t next = line.next;
      if (next != kNil) __builtin_prefetch(&pool_[next]);
      for (uint32_t i = 0; i < line.used; ++i) f(line.entry[i]);
      line.next = free_;
      free_ = n;
      n = next;
    }
    head_[at] = kNil;
    if ((words_[at / 64] &= ~(uint64_t{1} << at % 64)) == 0) summary_[at / 4096] &= ~(uint64_t{1} << at / 64 % 64);
  }
  /// Opens the next slot that has events, if it begins before `limit`. False: there is none.
  bool advance(Time limit) {
    uint64_t slot = next_slot();
    if (!far_.empty()) slot = std::min(slot, far_.top().time >> kSlotShift);
    if (slot == kNever || slot << kSlotShift >= limit) return false;
    slot_ = slot;
    open_slot([&](const Entry& entry) { near_.push_back(uint64_t{entry.offset} << 32 | entry.key); });
    while (!far_.empty() && (far_.top().time >> kSlotShift) - slot_ < kSlots) {
      const Event event = far_.top();
      far_.pop();
      if (event.time >> kSlotShift == slot_)
        late_.push(event);
      else
        push_wheel(event.time, event.key);
    }
    // Often in order: nodes that do the same at the same time were worked through in the order of their keys.
    if (!std::is_sorted(near_.begin(), near_.end(), std::greater<>{})) {
      std::sort(near_.begin(), near_.end(), std::greater<>{});
    }
    return true;
  }

  uint64_t slot_ = 0;           // the open one
  std::vector<uint64_t> near_;  // events of the open slot: offset, key; sorted, the first one last
  Heap late_;                   // what was pushed when their slot was open already
  uint32_t free_ = kNil;
  HugeMemory huge_;
  std::pmr::vector<Line> pool_{&huge_};
  std::array<uint32_t, kSlots> head_;
  std::array<uint64_t, kWords> words_{};
  std::array<uint64_t, kWords / 64> summary_{};
  Heap far_;
};
using EventQueue = EventWheel<>;

}  // namespace mrc::sim
