// SPDX-License-Identifier: Apache-2.0
#include "tb/agent/monitor.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mrc::tb {
namespace {

constexpr log::Time kSilence = 10'000'000;  ///< after so long the log is told that nothing happened

/// What was taken at the time of an answer is told before it.
std::pair<log::Time, bool> place_of(const Monitor::Record& record) {
  const auto* event = std::get_if<log::Event>(&record->body);
  return {record->time, event != nullptr && event->kind == log::EventKind::Answer};
}

}  // namespace

log::Record& Monitor::add(log::Time time) {
  if (pool_.empty()) {
    added_.push_back(std::make_unique<log::Record>());
  } else {
    added_.push_back(std::move(pool_.back()));
    pool_.pop_back();
  }
  log::Record& record = *added_.back();
  record.device = device_;
  record.time = time;
  return record;
}

void Monitor::add(log::Time first, const SentFrame& frame, uint64_t number) {
  auto& r = add(first).body.emplace<log::Frame>();
  r.sent = true;
  r.plane = static_cast<uint8_t>(frame.plane);
  r.last = frame.last;
  r.length = static_cast<uint32_t>(frame.bytes.size());
  r.number = number;
  r.bytes = frame.bytes;
}

void Monitor::add(log::Time first, log::Time last, unsigned plane, std::span<const uint8_t> frame, bool fcs_bad,
                  uint64_t number) {
  auto& r = add(first).body.emplace<log::Frame>();
  r.plane = static_cast<uint8_t>(plane);
  r.flags = fcs_bad ? log::kFcsBad : 0;
  r.last = last;
  r.length = static_cast<uint32_t>(frame.size());
  r.number = number;
  r.bytes.assign(frame.begin(), frame.end());
}

void Monitor::add(log::Time time, const HostRead& read) {
  auto& r = add(time).body.emplace<log::Host>();
  r.op = log::HostOp::Read;
  r.addr = read.addr;
  r.bytes = read.bytes;
  r.tag = read.tag;
}

void Monitor::add(log::Time time, const HostRead& read, std::span<const uint8_t> data) {
  auto& r = add(time).body.emplace<log::Host>();
  r.op = log::HostOp::ReadDone;
  r.addr = read.addr;
  r.bytes = read.bytes;
  r.tag = read.tag;
  r.data.assign(data.begin(), data.end());
}

void Monitor::add(log::Time time, const HostWrite& write) {
  auto& r = add(time).body.emplace<log::Host>();
  r.op = log::HostOp::Write;
  r.addr = write.addr;
  r.bytes = static_cast<uint32_t>(write.data.size());
  r.data = write.data;
}

std::vector<Monitor::Record> Monitor::taken() {
  if (pool_.empty()) {
    const std::lock_guard lock(mutex_);
    std::swap(pool_, free_);
  }
  std::vector<Record> records;
  records.reserve(added_.capacity());
  std::swap(records, added_);
  return records;
}

std::size_t Monitor::hand_over(std::vector<Record> records, log::Time until) {
  waiting_.insert(waiting_.end(), std::make_move_iterator(records.begin()), std::make_move_iterator(records.end()));
  std::ranges::stable_sort(waiting_, {}, place_of);
  const auto end = std::ranges::lower_bound(waiting_, until, {}, [](const Record& r) { return r->time; });
  const auto reported = end - waiting_.begin();
  for (auto record = waiting_.begin(); sink_ && record != end; ++record) sink_(*record);
  {
    const std::lock_guard lock(mutex_);
    for (auto record = waiting_.begin(); record != end; ++record) {
      if (*record != nullptr) free_.push_back(std::move(*record));
    }
  }
  waiting_.erase(waiting_.begin(), end);
  return static_cast<std::size_t>(reported);
}

void Monitor::report(std::vector<Record> records, log::Time until) {
  const std::size_t reported = hand_over(std::move(records), until);
  if (!sink_ || (reported == 0 && until < until_ + kSilence)) return;
  until_ = until;
  auto passed = std::make_unique<log::Record>(log::Record{device_, until, log::Until{}});
  sink_(passed);
}

void Monitor::end(std::vector<Record> records, std::vector<log::Record> last) {
  hand_over(std::move(records), log::kNever);
  if (!sink_) return;
  for (log::Record& record : last) {
    auto reported = std::make_unique<log::Record>(std::move(record));
    sink_(reported);
  }
}

}  // namespace mrc::tb
