// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>

namespace mrc::cli {

/// One line on the terminal that long work writes anew again and again; nothing where standard error is no terminal.
class StatusLine {
 public:
  ~StatusLine() { clear(); }
  bool on() const { return on_; }
  void show(const std::string& text) {
    if (!on_) return;
    std::cerr << '\r' << text << "\x1b[K" << std::flush;
    shown_ = true;
  }
  void clear() {
    if (shown_) std::cerr << "\r\x1b[K" << std::flush;
    shown_ = false;
  }

 private:
  bool on_ = ::isatty(STDERR_FILENO) != 0, shown_ = false;
};

/// Time left, as text. seconds: spent so far on the share `done` of the work, 0 to 1.
inline std::string time_left(double seconds, double done) {
  return done > 0.002 ? std::to_string(std::lround(seconds * (1 - std::min(done, 1.0)) / done)) + " s" : "--";
}

}  // namespace mrc::cli
