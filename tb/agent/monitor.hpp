// SPDX-License-Identifier: Apache-2.0
/// Observes one NIC, and reports what it did to a sink, in the order of time, as records of a log. The run makes
/// records; another thread may report them. Records are used again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "log/record.hpp"
#include "tb/device/device.hpp"

namespace mrc::tb {

class Monitor {
 public:
  using Record = std::unique_ptr<log::Record>;
  /// May keep the record: then it leaves another one, or none. Empty: nobody wants records.
  using Sink = std::function<void(Record&)>;
  Monitor(uint32_t device, Sink sink) : device_(device), sink_(std::move(sink)) {}

  // By the run.

  /// A record of the device, to be filled in and reported later.
  log::Record& add(log::Time time);
  // What it put out; a frame has the number that its owner counts.
  void add(log::Time first, const SentFrame& frame, uint64_t number);
  void add(log::Time time, const HostRead& read);
  void add(log::Time time, const HostWrite& write);
  /// A frame that comes in.
  void add(log::Time first, log::Time last, unsigned plane, std::span<const uint8_t> frame, bool fcs_bad,
           uint64_t number);
  /// What the host has answered to a read.
  void add(log::Time time, const HostRead& read, std::span<const uint8_t> data);
  /// The records since the last call of this.
  std::vector<Record> taken();

  // By whoever reports; one call after the other.

  /// Takes `records`, and reports those of a time before `until`. Without any, it reports the time now and then.
  void report(std::vector<Record> records, log::Time until);
  /// Reports all that waits, then `last`, whatever their time.
  void end(std::vector<Record> records, std::vector<log::Record> last);

 private:
  std::size_t hand_over(std::vector<Record> records, log::Time until);

  const uint32_t device_;
  const Sink sink_;
  std::vector<Record> added_, pool_;  ///< of the run
  std::vector<Record> waiting_;       ///< of who reports
  log::Time until_ = 0;
  std::mutex mutex_;
  std::vector<Record> free_;  ///< of both, by mutex_
};

}  // namespace mrc::tb
