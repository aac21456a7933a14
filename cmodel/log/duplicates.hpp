// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace mrc::log {

/// Tells frames that were captured twice from those that were sent twice. A frame that comes again at the same place
/// was sent again. At another place within 100 us it is the same one: both ends of a link, or a mirror port. Of a frame
/// that was seen n times at one place and m times at another one, max(n, m) count.
///
/// A NIC may send the same bytes on two planes, as an ACK that it repeats. So what is not unique counts as the same
/// only between interfaces that have shown a unique frame twice before.
///
/// At an interface that shows every frame twice, two of them are one.
///
/// Frames beyond the newest 65536, and places of one beyond six, are forgotten: what they show again counts again.
class Duplicates {
 public:
  /// Where and when a frame was captured.
  struct Sight {
    uint64_t ns = 0;          ///< about in the order of time
    uint64_t interface = 0;   ///< any number that is its own
    bool unique = false;      ///< no NIC sends these bytes twice: data that are no retransmission, SACKs
    bool marked = false;      ///< a probe with CE: behind one without it, it counts, since its answer says so
    bool each_twice = false;  ///< the interface shows every frame twice (each_twice.hpp): two of them are one
  };
  /// True: the frame has been told before.
  bool again(std::span<const uint8_t> frame, uint64_t length, const Sight& sight);

 private:
  static constexpr uint64_t kWindowNs = 100'000;
  static constexpr std::size_t kMost = std::size_t{1} << 16;  ///< frames that are remembered
  static constexpr std::size_t kMostPlaces = 6;               ///< of one; beyond them each counts
  static constexpr std::size_t kLeast = 1 << 8;               ///< room for so many at first
  static constexpr uint32_t kNone = ~uint32_t{0};
  /// An interface, and the hop that a frame was at: at a mirror port, packets of several hops come through one.
  struct Place {
    uint64_t interface = 0, hop = 0;
    uint32_t times : 31 = 0;  ///< 0: there is none
    bool half : 1 = false;    ///< the second one of two has not come yet
    uint32_t next = kNone;
  };
  struct Seen {
    uint64_t ns = 0, key = 0;
    uint32_t reported = 0;  ///< so many of them count
    bool marked = false;    ///< one of these was
    Place place;            ///< the first one; others are in more_
  };
  /// A frame in index_. What is looked up most often is small.
  struct Entry {
    uint32_t tag = 0;  ///< bits of its key; 0: there is none
    uint32_t number = 0;
  };
  bool known(uint64_t a, uint64_t b) const { return alike_.contains({std::min(a, b), std::max(a, b)}); }
  Seen& at(uint32_t number) { return ring_[number & (ring_.size() - 1)]; }
  std::size_t home(uint32_t tag) const { return (tag >> 1) & (index_.size() - 1); }
  Seen& remember(uint64_t key, uint64_t ns);
  void forget_oldest();
  void grow();
  void enter(Entry entry);
  /// How often the frame was seen there; at all hops of an interface that has never shown one frame at two.
  uint32_t times_at(const Seen& seen, const Place& of) const;
  /// That place of the frame; null: it would be one too many.
  Place* place(Seen& seen, uint64_t interface, uint64_t hop);

  std::vector<Seen> ring_ = std::vector<Seen>(kLeast);         ///< by number, of the newest ones
  std::vector<Entry> index_ = std::vector<Entry>(2 * kLeast);  ///< by key: an entry stands at its home or behind it
  uint32_t oldest_ = 0, next_ = 0;                             ///< numbers
  std::deque<Place> more_;
  uint32_t free_ = kNone;                          ///< of more_
  std::set<std::pair<uint64_t, uint64_t>> alike_;  ///< interfaces that show the same
};

}  // namespace mrc::log
