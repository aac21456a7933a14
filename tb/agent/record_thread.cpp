// SPDX-License-Identifier: Apache-2.0
#include "tb/agent/record_thread.hpp"

#include <utility>

namespace mrc::tb {

RecordThread::RecordThread(Take take) : take_(std::move(take)), thread_([this] { run(); }) {}

RecordThread::~RecordThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  more_.notify_one();
  thread_.join();
}

void RecordThread::push(log::Record&& record) {
  if (used_ == batch_.size()) {
    batch_.push_back(std::make_unique<log::Record>(std::move(record)));
  } else if (batch_[used_] == nullptr) {
    batch_[used_] = std::make_unique<log::Record>(std::move(record));
  } else {
    *batch_[used_] = std::move(record);
  }
  if (++used_ == kBatch) hand_over();
}

void RecordThread::hand_over() {
  std::unique_lock lock(mutex_);
  less_.wait(lock, [&] { return waiting_.size() < kMostBatches || problem_ != nullptr; });
  if (problem_ != nullptr) std::rethrow_exception(problem_);
  batch_.resize(used_);
  waiting_.push_back(std::move(batch_));
  more_.notify_one();
  used_ = 0;
  batch_.clear();
  if (free_.empty()) return;
  batch_ = std::move(free_.back());
  free_.pop_back();
}

void RecordThread::sync() {
  if (used_ != 0) hand_over();
  std::unique_lock lock(mutex_);
  less_.wait(lock, [&] { return (waiting_.empty() && !busy_) || problem_ != nullptr; });
  if (problem_ != nullptr) std::rethrow_exception(problem_);
}

void RecordThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    more_.wait(lock, [&] { return !waiting_.empty() || stop_; });
    if (stop_) return;
    Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr problem;
    try {
      for (std::unique_ptr<log::Record>& record : batch) take_(record);
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    free_.push_back(std::move(batch));
    if (problem != nullptr) problem_ = problem;
    less_.notify_one();
    if (problem_ != nullptr) return;
  }
}

}  // namespace mrc::tb
