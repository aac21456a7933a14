// SPDX-License-Identifier: Apache-2.0
/// A thread that carries out jobs one after the other while a run goes on: the peer (L0, L1, L2), and what is told of
/// both NICs (L1, L2).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace mrc::tb {

class Worker {
 public:
  using Job = std::function<void()>;
  Worker();
  /// Jobs that have not begun are dropped; call wait() before.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Waits while kMostJobs jobs have not begun. Throws what a job threw; then none is carried out any more.
  void post(Job job);
  /// Returns when all jobs are done: until the next post() nobody else is at work. Throws as post() does.
  void wait();

  static constexpr std::size_t kMostJobs = 16;

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable more_, less_;
  std::deque<Job> waiting_;
  bool busy_ = false, stop_ = false;
  std::exception_ptr problem_;
  std::thread thread_;
};

}  // namespace mrc::tb
