// SPDX-License-Identifier: Apache-2.0
/// mrc_ram_1r1w of docs/blocks/conventions.md.
#pragma once

#include <cstddef>
#include <vector>

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
    raddr_ = row;
    re_ = true;
  }
  void write(std::size_t row, const T& v) {
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

}  // namespace mrc
