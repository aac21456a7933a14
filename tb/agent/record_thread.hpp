// SPDX-License-Identifier: Apache-2.0
/// Records of a run, taken by a thread of their own while the run goes on: whoever judges them costs no time of the
/// run, as long as they are judged faster than they come.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "log/record.hpp"

namespace mrc::tb {

class RecordThread {
 public:
  /// Called in that thread, record by record, in their order. What it leaves behind in the pointer is used again.
  using Take = std::function<void(std::unique_ptr<log::Record>&)>;
  explicit RecordThread(Take take);
  /// What has not been taken is dropped; call sync() before.
  ~RecordThread();
  RecordThread(const RecordThread&) = delete;
  RecordThread& operator=(const RecordThread&) = delete;

  /// Waits while kMostBatches batches of kBatch records wait. Throws what `take` threw; then nothing is taken any more.
  void push(log::Record&& record);
  /// Returns when all is taken: until the next push() nobody else is at work. Throws as push() does.
  void sync();

  static constexpr std::size_t kBatch = 256, kMostBatches = 16;

 private:
  using Batch = std::vector<std::unique_ptr<log::Record>>;
  void hand_over();
  void run();

  Take take_;
  Batch batch_;           ///< being filled; all of its records exist
  std::size_t used_ = 0;  ///< of batch_
  std::mutex mutex_;
  std::condition_variable more_, less_;
  std::deque<Batch> waiting_;
  std::vector<Batch> free_;
  bool busy_ = false, stop_ = false;
  std::exception_ptr problem_;
  std::thread thread_;
};

}  // namespace mrc::tb
