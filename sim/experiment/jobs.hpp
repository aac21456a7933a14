// SPDX-License-Identifier: Apache-2.0
/// The jobs of a scenario in a fabric: ranks in NICs, messages on QPs, steps and what they took
/// (docs/guide/training.md).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/experiment/channels.hpp"
#include "sim/job/ideal.hpp"
#include "sim/job/waits.hpp"

namespace mrc::sim {

/// The file of a job's trace: beside its scenario's.
std::string trace_path(const JobConfig& job);

/// A step of a job (of a trace: all of it): from the last rank's end of the step before until the last rank's end of
/// this one.
struct StepResult {
  Time begin = 0, end = 0;
  Time bound = 0;     ///< what it takes in an ideal fabric, with the same compute
  uint32_t last = 0;  ///< the rank that ended it
  Time spread = 0;    ///< from the first rank's end to the last one's
};

struct JobResult {
  std::string label;
  uint32_t ranks = 0, wanted = 0;       ///< steps that there are to be
  uint64_t messages = 0, bytes = 0;     ///< in all steps
  uint64_t failed = 0;                  ///< messages whose QP failed
  uint64_t calls = 0;                   ///< of its trace (Schedule::calls)
  std::vector<StepResult> steps;        ///< those that have ended
  Time begin = 0, end = 0, bound = 0;   ///< until the last rank has done everything; of all of it in an ideal fabric
  Time computed = 0;                    ///< of all ranks together
  uint32_t restarts = 0, repeated = 0;  ///< after failed QPs; steps that were done, or under way, and done again
  Time stopped = 0;                     ///< time of restarts alone
  std::vector<NodeId> nics;             ///< by rank
  std::optional<WaitChain> waits;       ///< of the step that was to be kept, if it has ended
};

class Jobs final : public Channels::User {
 public:
  /// Goes through all jobs in an ideal fabric. `poll` is called now and then; what it throws ends this. Throws
  /// InputError: ranks without NICs, groups that do not come out even, a schedule that cannot end.
  Jobs(const Scenario& scenario, const Topology& topology, uint64_t seed, const std::function<void()>& poll = {});
  ~Jobs() override;

  /// Calls f(from, to) for all pairs of NICs that have a QP.
  void pairs(const std::function<void(NodeId, NodeId)>& f) const;
  void request(Channels& channels) const;
  /// The channels are open.
  void begin(Fabric& fabric, Channels& channels);
  /// Some job has gone back: bytes arrive more than once.
  bool restarted() const;
  /// Before the run: what the end of that step of each job waits for shall be known.
  void keep(uint32_t step);
  /// Called when the last rank has ended.
  std::function<void()> on_end;

  bool any() const { return !jobs_.empty(); }
  bool over() const { return ended_.load() == ranks_; }
  bool failed() const;
  /// No message is under way: all compute, or wait for those who do.
  bool quiet() const;
  /// When the last rank ended.
  Time end() const;
  /// Bytes of all messages.
  uint64_t bytes() const;
  Time bound(size_t job) const;
  size_t size() const { return jobs_.size(); }
  const Schedule& schedule(size_t job) const;
  /// Steps of all jobs, and how many have ended.
  std::pair<uint64_t, uint64_t> steps() const;
  /// What a rank found wrong, or waits for, in a sentence without full stop; empty: nothing.
  std::string problem() const;
  std::string waiting() const;
  /// Bytes; before begin() about what they will be.
  uint64_t memory() const;
  std::vector<JobResult> results() const;

  void completed(uint32_t channel, uint32_t id, bool ok) override;
  void delivered(uint32_t channel, uint32_t label, uint64_t bytes) override;
  void due(NodeId node) override;

 private:
  class Running;
  static StepResult whole(const Running& job, const JobResult& result);
  struct Place {
    Running* job = nullptr;
    uint32_t rank = 0;
  };
  std::vector<std::unique_ptr<Running>> jobs_;
  std::vector<Place> places_;  // by NIC
  uint64_t ranks_ = 0;
  std::atomic<uint64_t> ended_ = 0;
  const Channels* channels_ = nullptr;
  std::vector<uint64_t> parts_;  // by channel, the receiver's: bytes of a message that is not whole
};

}  // namespace mrc::sim
