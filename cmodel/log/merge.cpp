// SPDX-License-Identifier: Apache-2.0
#include "log/merge.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <vector>

namespace mrc::log {
namespace {

class Merger {
 public:
  Merger(std::span<Reader* const> logs, bool apart, const std::function<void(const Record&)>& sink)
      : sink_(sink), apart_(apart) {
    for (Reader* log : logs) inputs_.push_back({log, {}, {}});
  }

  bool run() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!fetch(i)) return false;
    }
    while (!heap_.empty()) {
      const std::size_t i = heap_.top().input;
      heap_.pop();
      take(i);
      if (!fetch(i)) return false;
    }
    for (auto& [device, end] : ends_) sink_({device, end.time, end.body});
    return true;
  }

 private:
  struct Input {
    Reader* log;
    Record record;
    std::map<uint32_t, uint32_t> numbers;  // of its devices here
  };
  struct Next {
    Time time;
    std::size_t input;
    bool operator<(const Next& other) const { return time != other.time ? time > other.time : input > other.input; }
  };
  struct Ending {
    Time time;
    End body;
  };

  bool fetch(std::size_t i) {
    Input& input = inputs_[i];
    if (input.log->next(input.record)) {
      heap_.push({input.record.time, i});
      return true;
    }
    return !input.log->error();
  }

  uint32_t number(Input& input, uint32_t device) {
    const auto found = input.numbers.find(device);
    if (found != input.numbers.end()) return found->second;
    devices_.push_back({"", "not told"});  // the log has no Device record for it: nobody else's
    return input.numbers[device] = static_cast<uint32_t>(devices_.size() - 1);
  }

  void take(std::size_t i) {
    Input& input = inputs_[i];
    Record& record = input.record;
    if (const auto* device = std::get_if<Device>(&record.body)) {
      const auto same = std::ranges::find(devices_, *device);
      if (!apart_ && same != devices_.end()) {
        input.numbers[record.device] = static_cast<uint32_t>(same - devices_.begin());
        return;
      }
      devices_.push_back(*device);
      input.numbers[record.device] = static_cast<uint32_t>(devices_.size() - 1);
    }
    record.device = number(input, record.device);
    if (const auto* end = std::get_if<End>(&record.body)) {
      auto [at, first] = ends_.try_emplace(record.device, Ending{record.time, *end});
      if (!first) {
        at->second.time = std::max(at->second.time, record.time);
        at->second.body.cut = at->second.body.cut || end->cut;
        if (at->second.body.reason != end->reason) at->second.body.reason += "; " + end->reason;
      }
      return;
    }
    // One log cannot say it for the others.
    if (std::holds_alternative<Until>(record.body) && inputs_.size() > 1) return;
    sink_(record);
  }

  const std::function<void(const Record&)>& sink_;
  const bool apart_;
  std::vector<Input> inputs_;
  std::priority_queue<Next> heap_;
  std::vector<Device> devices_;
  std::map<uint32_t, Ending> ends_;
};

}  // namespace

bool merge(std::span<Reader* const> logs, bool apart, const std::function<void(const Record&)>& sink) {
  return Merger(logs, apart, sink).run();
}

}  // namespace mrc::log
