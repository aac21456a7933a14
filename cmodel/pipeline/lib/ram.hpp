// SPDX-License-Identifier: Apache-2.0
/// mrc_ram_1r1w and mrc_rf_1r1w of docs/design/blocks/conventions.md.
#pragma once

#include <cstddef>
#include <vector>

#include "util/check.hpp"

namespace mrc {

/// Memory with one synchronous read and one write port. read() in cycle t makes rdata() the row in t+1, and it holds
/// until the next read. A write to the same row in the same cycle: the read gives the old row. One read and one write
/// per cycle at most. Rows start as T{}; the contracts say who initialises them.
template <class T>
class Ram1r1w {
 public:
  explicit Ram1r1w(std::size_t depth) : mem_(depth) {}

  std::size_t depth() const { return mem_.size(); }
  const T& rdata() const { return rdata_; }
  void read(std::size_t row) {
    MRC_CHECK(row < mem_.size(), "a row is read that does not exist");
    MRC_CHECK(!re_ || raddr_ == row, "two rows of a memory are read in a cycle");
    raddr_ = row;
    re_ = true;
  }
  void write(std::size_t row, const T& v) {
    MRC_CHECK(row < mem_.size(), "a row is written that does not exist");
    MRC_CHECK(!we_, "a memory is written twice in a cycle");
    waddr_ = row;
    wdata_ = v;
    we_ = true;
  }
  void clock() {
    if (re_) {
      rdata_ = mem_[raddr_];
      re_ = false;
    }
    if (we_) {
      mem_[waddr_] = wdata_;
      we_ = false;
    }
  }

 private:
  std::vector<T> mem_;
  T rdata_{}, wdata_{};
  std::size_t raddr_ = 0, waddr_ = 0;
  bool re_ = false, we_ = false;
};

/// Register file: a row is read within the cycle and written at its end. One write per cycle at most. Reading several
/// rows in a cycle stands for several copies, or for what a contract calls forwarded.
template <class T>
class Rf1r1w {
 public:
  explicit Rf1r1w(std::size_t depth) : mem_(depth) {}

  const T& operator[](std::size_t row) const {
    MRC_CHECK(row < mem_.size(), "a row is read that does not exist");
    return mem_[row];
  }
  void write(std::size_t row, const T& v) { write(row) = v; }
  /// As write(v): the caller changes the row in place before clock(). It holds the row as it is now.
  T& write(std::size_t row) {
    MRC_CHECK(row < mem_.size(), "a row is written that does not exist");
    MRC_CHECK(!we_, "a register file is written twice in a cycle");
    waddr_ = row;
    wdata_ = mem_[row];
    we_ = true;
    return wdata_;
  }
  void clock() {
    if (we_) {
      mem_[waddr_] = wdata_;
      we_ = false;
    }
  }

 private:
  std::vector<T> mem_;
  T wdata_{};
  std::size_t waddr_ = 0;
  bool we_ = false;
};

}  // namespace mrc
