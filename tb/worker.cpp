// SPDX-License-Identifier: Apache-2.0
#include "tb/worker.hpp"

#include <utility>

namespace mrc::tb {

Worker::Worker() : thread_([this] { run(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  more_.notify_one();
  thread_.join();
}

void Worker::post(Job job) {
  std::unique_lock lock(mutex_);
  less_.wait(lock, [&] { return waiting_.size() < kMostJobs || problem_ != nullptr; });
  if (problem_ != nullptr) std::rethrow_exception(problem_);
  waiting_.push_back(std::move(job));
  more_.notify_one();
}

void Worker::wait() {
  std::unique_lock lock(mutex_);
  less_.wait(lock, [&] { return (waiting_.empty() && !busy_) || problem_ != nullptr; });
  if (problem_ != nullptr) std::rethrow_exception(problem_);
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    more_.wait(lock, [&] { return !waiting_.empty() || stop_; });
    if (stop_) return;
    const Job job = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr problem;
    try {
      job();
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    problem_ = problem;
    less_.notify_one();
    if (problem_ != nullptr) return;
  }
}

}  // namespace mrc::tb
