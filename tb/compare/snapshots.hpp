// SPDX-License-Identifier: Apache-2.0
/// Copies of a running process, made by fork() and asleep, from which the last cycles before a failure can be run again
/// with waves.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mrc::tb {

/// The two newest copies are kept; the older one is at least `spacing` cycles behind any cycle that the run is in, or
/// it is the beginning of the run. They die with this object, and with the process.
class Snapshots {
 public:
  /// What a copy is woken up for: waves of cycles [from, to) into a file.
  struct Order {
    uint64_t from = 0, to = 0;
    std::string path;
  };

  explicit Snapshots(uint64_t spacing) : spacing_(spacing) {}
  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;
  ~Snapshots();

  /// True when it is time for another one: `spacing` cycles have passed, and so much processor time that copies
  /// cost about a hundredth of it.
  bool due(uint64_t cycle);
  /// Makes a copy of this process. No other thread may be at work: the copy has only the one that calls. Returns
  /// nothing here; in the copy, when it is woken up, the order. The copy must leave with _exit() and touch no open
  /// file.
  std::optional<Order> take(uint64_t cycle);
  /// Wakes up the newest copy from before order.from and waits until it has left. True: with exit code 0.
  bool run(const Order& order);
  uint64_t taken() const { return taken_; }

 private:
  struct Copy {
    pid_t pid;
    int order;  ///< pipe to it
    uint64_t cycle;
  };
  static std::optional<Order> sleep(int pipe);
  void drop(std::size_t index);
  void reap(bool wait);

  const uint64_t spacing_;
  std::vector<Copy> copies_;  // oldest first
  std::vector<pid_t> leaving_;
  double last_ = 0, fork_seconds_ = 0;  // processor time
  long faults_ = 0;
  uint64_t taken_ = 0;
};

}  // namespace mrc::tb
