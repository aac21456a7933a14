// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/check.hpp"

namespace mrc {

/// First-word-fall-through FIFO of the contracts (docs/design/blocks/conventions.md), with changes that take effect at
/// clock(). Capacity is fixed at construction. Reading head() of an empty FIFO is undefined.
template <class T>
class Fifo {
 public:
  /// touched: set to true whenever clock() has something to do; whoever clocks several FIFOs looks at that alone.
  explicit Fifo(std::size_t depth, bool* touched = nullptr)
      : depth_(static_cast<uint32_t>(depth)), touched_(touched), mem_(depth) {}

  bool ready() const { return count_ != depth_; }
  bool valid() const { return count_ != 0; }
  std::size_t count() const { return count_; }
  std::size_t depth() const { return depth_; }
  const T& head() const { return mem_[rd_]; }
  /// The word `i` places behind the head; i is less than count(). For checks.
  const T& at(std::size_t i) const { return mem_[(rd_ + i) % depth_]; }

  /// Takes the head at the end of this cycle; the caller has seen valid(). Once or more often in a cycle is the same.
  void pop() {
    MRC_CHECK(valid(), "an empty FIFO is popped");
    pop_ = true;
    touch();
  }
  /// Appends at the end of this cycle; the caller has seen ready(). The slot is free: not visible before clock().
  void push(const T& v) { push() = v; }
  /// As push(v): the caller fills the word in place before clock(). It holds an older word.
  T& push() {
    MRC_CHECK(ready(), "a word is pushed into a full FIFO");
    MRC_CHECK(!push_, "two words are pushed into a FIFO in a cycle");
    push_ = true;
    touch();
    return mem_[wr_];
  }
  /// True when the next clock() changes anything.
  bool busy() const { return push_ | pop_; }
  void clock() {
    if (!busy()) return;
    // Without branches: whether a busy one is pushed or popped is anybody's guess.
    const uint32_t wr = wr_ + push_, rd = rd_ + pop_;
    wr_ = wr == depth_ ? 0 : wr;
    rd_ = rd == depth_ ? 0 : rd;
    count_ += uint32_t{push_} - uint32_t{pop_};
    push_ = pop_ = false;
    MRC_CHECK(count_ <= depth_, "a FIFO holds more words than it has places");
    MRC_CHECK((rd_ == wr_) == (count_ == 0 || count_ == depth_), "a FIFO's pointers are not as far apart as its words");
  }
  /// As told by push() and pop().
  void touch() {
    if (touched_) *touched_ = true;
  }

 private:
  bool push_ = false, pop_ = false;  // what most cycles look at is first, in one cache line
  uint32_t depth_, rd_ = 0, wr_ = 0, count_ = 0;
  bool* touched_;
  std::vector<T> mem_;
};

/// Output register of a block whose consumer is outside (a pin, or a demultiplexer): the caller gives clock() the
/// ready.
template <class T>
class OutReg {
 public:
  bool valid() const { return valid_; }
  const T& data() const { return reg_[at_]; }
  bool free(bool ready) const { return !valid_ || ready; }
  void load(const T& v) { load() = v; }
  /// As load(v): the caller fills the next register value in place before clock(). It holds an older value.
  T& load() {
    MRC_CHECK(!load_, "an output register is loaded twice in a cycle");
    load_ = true;
    return reg_[at_ ^ 1u];
  }
  /// True when the next clock() changes anything.
  bool busy() const { return valid_ | load_; }
  void clock(bool ready) {
    MRC_CHECK(!load_ || free(ready), "a word that nobody has taken is overwritten");
    if (load_) {
      at_ ^= 1u;
      valid_ = true;
      load_ = false;
    } else if (ready) {
      valid_ = false;
    }
  }

 private:
  bool valid_ = false, load_ = false;
  unsigned at_ = 0;
  T reg_[2]{};  // this cycle's value, and the next one's: load() copies once
};

/// A stream from one block's output register to the next block's input FIFO. The producer uses free() and load(), the
/// consumer has(), head() and pop(), the lockstep valid(), ready() and data(). All of them see the registers of this
/// cycle; changes take effect at clock().
template <class T>
class Stream {
 public:
  /// touched: as for Fifo.
  explicit Stream(std::size_t depth = 2, bool* touched = nullptr) : fifo_(depth, touched) {}

  bool valid() const { return out_.valid(); }
  bool ready() const { return fifo_.ready(); }
  const T& data() const { return out_.data(); }

  bool free() const { return out_.free(fifo_.ready()); }
  void load(const T& v) { load() = v; }
  /// As load(v): the caller fills the value in place before clock(). It holds an older value.
  T& load() {
    MRC_CHECK(free(), "a stream is loaded that is not free");
    fifo_.touch();
    return out_.load();
  }

  bool has() const { return fifo_.valid(); }
  const T& head() const { return fifo_.head(); }
  void pop() { fifo_.pop(); }
  std::size_t count() const { return fifo_.count(); }

  /// True when the next clock() changes anything.
  bool busy() const { return out_.busy() | fifo_.busy(); }
  void clock() {
    if (!busy()) return;
    const bool ready = fifo_.ready();
    if (out_.valid() && ready) fifo_.push(out_.data());
    fifo_.clock();
    out_.clock(ready);
    if (out_.valid()) fifo_.touch();  // it goes on, or waits
  }

 private:
  Fifo<T> fifo_;
  OutReg<T> out_;
};

/// Round-robin arbiter of the contracts. pick(n, request) gives the granted index or -1; take(i) records it.
class RrArb {
 public:
  explicit RrArb(unsigned n) : n_(n), last_(n - 1) {}
  template <class Req>
  int pick(Req&& request) const {
    unsigned i = last_;
    for (unsigned k = 0; k < n_; ++k) {
      i = i + 1 == n_ ? 0 : i + 1;
      if (request(i)) return static_cast<int>(i);
    }
    return -1;
  }
  void take(unsigned i) {
    MRC_CHECK(i < n_, "a request is granted that there is not");
    last_ = i;
  }

 private:
  unsigned n_, last_;
};

}  // namespace mrc
