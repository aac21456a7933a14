// SPDX-License-Identifier: Apache-2.0
/// What benches of single blocks share: inputs that come and outputs that are taken at a pace with a name, table
/// writes, and the clock.
#pragma once

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/stream.hpp"
#include "util/rng.hpp"

namespace mrc::test {

/// In which cycles a side of a stream is willing: how often inputs pause, and outputs push back.
class Pace {
 public:
  /// In every cycle.
  static Pace always() { return Pace(1, 0); }
  /// In none.
  static Pace never() { return Pace(0, 0); }
  /// In one cycle of n: the last of each n.
  static Pace one_in(unsigned n) { return Pace(0, n); }
  /// At random, with this probability.
  static Pace random(double share, uint64_t seed) {
    Pace pace(share, 0);
    pace.rng_ = Rng(seed, "pace");
    return pace;
  }

  /// Is it willing in this cycle? To be asked once per cycle.
  bool operator()() {
    if (every_ != 0) return ++count_ % every_ == 0;
    return rng_.chance(share_);
  }

 private:
  Pace(double share, unsigned every) : share_(share), every_(every) {}
  double share_;
  unsigned every_, count_ = 0;
  Rng rng_{0, "pace"};
};

/// Words that wait to go into a block. Feed::into() gives the stream one when the pace is willing and it is free.
template <class T>
struct Feed {
  std::deque<T> words;
  Pace pace = Pace::always();

  void into(Stream<T>& stream) {
    if (pace() && !words.empty() && stream.free()) stream.load(next());
  }
  void into(Fifo<T>& fifo) {
    if (pace() && !words.empty() && fifo.ready()) fifo.push(next());
  }

 private:
  T next() {
    T word = words.front();
    words.pop_front();
    return word;
  }
};

/// What came out of a block, and when.
template <class T>
struct Taken {
  std::vector<T> words;
  std::vector<unsigned> at;  ///< in which cycle each was taken
  Pace pace = Pace::always();

  /// Takes the head if there is one and the pace is willing.
  void from(Stream<T>& stream, unsigned cycle) {
    if (!pace() || !stream.has()) return;
    add(stream.head(), cycle);
    stream.pop();
  }
  void add(const T& word, unsigned cycle) {
    words.push_back(word);
    at.push_back(cycle);
  }
};

/// An output that leaves the NIC: its ready is a pin. Holds the rule of all streams: while the consumer is not ready,
/// valid and data stay.
template <class T>
struct Pin {
  Taken<T> taken;
  bool ready = false;  ///< of this cycle; for the block's step()

  /// At the beginning of a cycle: `valid` and `data` as the block shows them.
  void look(bool valid, const T& data, unsigned cycle) {
    if (held_) {
      CHECK(valid);
      CHECK(data == word_);
    }
    ready = taken.pace();
    if (valid && ready) taken.add(data, cycle);
    held_ = valid && !ready;
    word_ = data;
  }

 private:
  bool held_ = false;
  T word_{};
};

/// Takes the head of an output that nobody keeps waiting, unless `may` is false.
template <class T>
bool take(Stream<T>& stream, std::vector<T>& to, bool may = true) {
  if (!may || !stream.has()) return false;
  to.push_back(stream.head());
  stream.pop();
  return true;
}

/// Outputs that nobody looks at are taken at once.
template <class... Words>
void pop_all(Stream<Words>&... all) {
  ((all.has() ? all.pop() : void()), ...);
}

/// The end of a cycle.
template <class... Clocked>
void clock_all(Clocked&... all) {
  (all.clock(), ...);
}

/// A bench of one block. Bench has cycle(), which counts `cycles`, and cfg_ack() of the block if it has tables.
template <class Bench>
struct BlockBench {
  CfgBus cfg;
  unsigned cycles = 0;

  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) self().cycle();
  }
  /// Runs until the condition holds; it must within `limit` cycles.
  template <class Condition>
  void run_until(Condition&& holds, unsigned limit = 100'000) {
    for (unsigned i = 0; i < limit && !holds(); ++i) self().cycle();
    REQUIRE(holds());
  }
  /// Writes a row of a table as csr does: request, acknowledgement, end of both. Returns the cycles from the request to
  /// the acknowledgement.
  unsigned configure(CfgTable table, unsigned index, const std::array<uint32_t, 16>& data) {
    cfg = {true, static_cast<uint8_t>(table), static_cast<uint16_t>(index), data};
    unsigned took = 0;
    for (; !self().cfg_ack(); ++took) {
      REQUIRE(took < 100'000);
      self().cycle();
    }
    cfg.req = false;
    self().cycle();
    CHECK_FALSE(self().cfg_ack());
    return took;
  }
  /// The same with a row of the generated tables.
  template <class Row>
  unsigned configure(CfgTable table, unsigned index, const Row& row) {
    std::array<uint32_t, 16> words{};
    row.pack(words.data());
    return configure(table, index, words);
  }

 private:
  Bench& self() { return static_cast<Bench&>(*this); }
};

}  // namespace mrc::test
