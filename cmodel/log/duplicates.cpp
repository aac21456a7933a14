// SPDX-License-Identifier: Apache-2.0
#include "log/duplicates.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "log/digest.hpp"
#include "log/frame_key.hpp"
#include "wire/packet.hpp"

namespace mrc::log {
namespace {

constexpr std::size_t kEth = wire::Eth::kBytes, kHead = 192, kEnd = 16;
constexpr std::size_t kHops6 = kEth + 7, kHops4 = kEth + 8;

/// Of what no switch changes: neither what stands around the innermost IP header, nor its traffic class and hops. The
/// ICRC stands for the payload.
uint64_t key_of(std::span<const uint8_t> frame, uint64_t length) {
  const std::span<const uint8_t> ip = innermost_ip(frame);
  std::array<uint8_t, kHead + kEnd + sizeof length> bytes{};
  const std::size_t head = std::min(ip.size(), kHead), tail = std::min(ip.size(), kEnd);
  std::copy_n(ip.begin(), head, bytes.begin());
  if (is_ipv4(ip)) {
    bytes[1] = bytes[8] = bytes[10] = bytes[11] = 0;
  } else {
    bytes[0] &= 0xF0;
    bytes[1] &= 0x0F;
    bytes[7] = 0;
  }
  std::copy_n(ip.end() - static_cast<std::ptrdiff_t>(tail), tail, bytes.begin() + static_cast<std::ptrdiff_t>(head));
  for (std::size_t i = 0; i < sizeof length; ++i) bytes[head + tail + i] = static_cast<uint8_t>(length >> (8 * i));
  return digest(std::span(bytes).first(head + tail + sizeof length));
}

/// What routers change.
uint64_t hop_of(std::span<const uint8_t> frame) {
  std::array<uint8_t, 13> bytes{};
  std::copy_n(frame.begin(), std::min<std::size_t>(frame.size(), 12), bytes.begin());
  const std::size_t hops = is_ipv4(frame.subspan(std::min(frame.size(), kEth))) ? kHops4 : kHops6;
  if (frame.size() > hops) bytes[12] = frame[hops];
  return digest(bytes);
}

}  // namespace

void Duplicates::enter(Entry entry) {
  std::size_t i = home(entry.tag);
  while (index_[i].tag != 0) i = (i + 1) & (index_.size() - 1);
  index_[i] = entry;
}

void Duplicates::grow() {
  std::vector<Seen> ring(2 * ring_.size());
  index_.assign(2 * index_.size(), {});
  for (uint32_t number = oldest_; number != next_; ++number) {
    const Seen& seen = at(number);
    ring[number & (ring.size() - 1)] = seen;
    enter({static_cast<uint32_t>(seen.key) | 1, number});
  }
  ring_ = std::move(ring);
}

Duplicates::Seen& Duplicates::remember(uint64_t key, uint64_t ns) {
  const uint32_t tag = static_cast<uint32_t>(key) | 1;
  for (std::size_t i = home(tag); index_[i].tag != 0; i = (i + 1) & (index_.size() - 1)) {
    if (index_[i].tag == tag && at(index_[i].number).key == key) return at(index_[i].number);
  }
  if (next_ - oldest_ == ring_.size()) grow();
  enter({tag, next_});
  Seen& seen = at(next_++);
  seen = {ns, key, 0, false, {}};
  return seen;
}

void Duplicates::forget_oldest() {
  const Seen& seen = at(oldest_);
  for (uint32_t one = seen.place.next; one != kNone;) {
    const uint32_t next = std::exchange(more_[one].next, free_);
    free_ = std::exchange(one, next);
  }
  const std::size_t mask = index_.size() - 1;
  std::size_t gap = home(static_cast<uint32_t>(seen.key) | 1);
  while (index_[gap].number != oldest_) gap = (gap + 1) & mask;
  // What stands behind it moves up, as far as its home allows.
  for (std::size_t i = (gap + 1) & mask; index_[i].tag != 0; i = (i + 1) & mask) {
    if (((i - home(index_[i].tag)) & mask) < ((i - gap) & mask)) continue;
    index_[gap] = index_[i];
    gap = i;
  }
  index_[gap].tag = 0;
  ++oldest_;
}

Duplicates::Place* Duplicates::place(Seen& seen, uint64_t interface, uint64_t hop) {
  Place* one = &seen.place;
  for (std::size_t count = 1; one->times != 0 && (one->interface != interface || one->hop != hop); ++count) {
    if (one->next == kNone) {
      if (count == kMostPlaces) return nullptr;
      if (free_ == kNone) {
        one->next = static_cast<uint32_t>(more_.size());
        more_.emplace_back();
      } else {
        one->next = std::exchange(free_, more_[free_].next);
        more_[one->next] = {};
      }
    }
    one = &more_[one->next];
  }
  one->interface = interface;
  one->hop = hop;
  return one;
}

uint32_t Duplicates::times_at(const Seen& seen, const Place& of) const {
  if (known(of.interface, of.interface)) return of.times;
  uint32_t sum = 0;
  for (const Place* one = &seen.place;; one = &more_[one->next]) {
    if (one->interface == of.interface) sum += one->times;
    if (one->next == kNone) return sum;
  }
}

bool Duplicates::again(std::span<const uint8_t> frame, uint64_t length, const Sight& sight) {
  while (oldest_ != next_ && (next_ - oldest_ >= kMost || at(oldest_).ns + kWindowNs < sight.ns)) forget_oldest();
  Seen& seen = remember(key_of(frame, length), sight.ns);
  Place* const here = place(seen, sight.interface, hop_of(frame));
  if (here == nullptr) return false;
  if (sight.each_twice && here->half) {
    here->half = false;
    return true;
  }
  here->half = sight.each_twice;
  ++here->times;
  const auto times = [&](const Place& of) { return sight.unique ? of.times : times_at(seen, of); };
  if (times(*here) <= seen.reported) {
    bool same = false;
    for (const Place* other = &seen.place;; other = &more_[other->next]) {
      if (other != here && times(*other) >= times(*here)) {
        if (sight.unique && alike_.size() < kMost) {
          alike_.emplace(std::min(sight.interface, other->interface), std::max(sight.interface, other->interface));
        }
        same |= sight.unique || known(sight.interface, other->interface);
      }
      if (other->next == kNone) break;
    }
    if (same && (seen.marked || !sight.marked)) return true;
  }
  ++seen.reported;
  seen.marked |= sight.marked;
  return false;
}

}  // namespace mrc::log
