// SPDX-License-Identifier: Apache-2.0
#include "reference/history.hpp"

#include <fmt/format.h>

#include <vector>

#include "reference/history_parts.hpp"

namespace mrc::ref {
namespace history {
namespace {

class History final : public Checker {
 public:
  History(const Profile& profile, Report& report) : world_(profile, report) {
    parts_.push_back(make_wire_part(world_));
    parts_.push_back(make_requestor_part(world_));
    parts_.push_back(make_responder_part(world_));
    parts_.push_back(make_memory_part(world_));
    for (const log::Qp& set : profile.qps) all([&](Part& part) { part.qp(*world_.local(set.qp), 0); });
    for (const log::Mr& region : profile.regions) all([&](Part& part) { part.region(region, 0); });
  }

  void now(Time time) override { world_.now(time); }
  void port(const log::Port& port, Time time) override { world_.port(port, time); }
  void qp(const log::Qp& qp, Time time) override {
    world_.walk(qp);
    world_.qp(qp, time);
    all([&](Part& part) { part.qp(*world_.local(qp.qp), time); });
  }
  void region(const log::Mr& region, Time time) override {
    all([&](Part& part) { part.region(region, time); });
  }
  void received(const Seen& seen) override {
    frame(seen);
    if (seen.mrc() && World::counts(seen) && world_.whose(seen) == Whose::Own) {
      QpWorld* const sender = world_.of_returned(seen.packet);
      if (sender != nullptr) world_.remember(*sender, seen);
      all([&](Part& part) { part.returned(seen, sender); });
      return;
    }
    QpWorld* const qp = seen.mrc() ? world_.of_received(seen) : nullptr;
    all([&](Part& part) { part.received(seen, qp); });
    if (qp != nullptr) world_.remember(*qp, seen);
  }
  void sent(const Seen& seen) override {
    frame(seen);
    QpWorld* const qp = seen.mrc() ? world_.of_sent(seen.packet) : nullptr;
    if (qp != nullptr) world_.remember(*qp, seen);
    all([&](Part& part) { part.sent(seen, qp); });
  }
  void host(const log::Host& host, Time time) override {
    world_.host(host, time);
    all([&](Part& part) { part.host(host, time); });
  }
  void posted(const log::Post& post, Time time) override {
    all([&](Part& part) { part.posted(post, time); });
  }
  void posted(const log::PostReceive&, Time) override {}
  void completed(const log::Cqe& cqe, Time time) override {
    all([&](Part& part) { part.completed(cqe, time); });
  }
  void gap(const log::Gap& gap, Time) override {
    world_.gap();
    const Rule rule = gap.source < log::kMaxPlanes ? Rule::EvidenceDrops : Rule::EvidenceGap;
    world_.broken(
        rule, nullptr, nullptr,
        [&] {
          return fmt::format("{} observations of source {} are missing since {}: {}",
                             gap.lost == 0 ? "some" : std::to_string(gap.lost), gap.source, words(gap.from),
                             gap.reason.empty() ? "no reason is given" : gap.reason);
        },
        [] { return std::string("none missing; record again with more room for what is recorded"); });
  }
  void finish(const log::End& end, Time time) override {
    all([&](Part& part) { part.finish(end, time); });
  }
  uint64_t memory() const override {
    uint64_t bytes = world_.memory();
    for (const auto& part : parts_) bytes += part->memory();
    return bytes;
  }

 private:
  template <class Call>
  void all(Call&& call) {
    for (const auto& part : parts_) call(*part);
  }
  void frame(const Seen& seen) {
    world_.frame(seen);
    const log::Frame& f = seen.frame;
    const bool whole = f.bytes.size() == f.length || f.length == 0 || (f.flags & log::kCut) != 0;
    world_.check(
        Rule::EvidenceWhole, whole, &seen, nullptr,
        [&] { return fmt::format("{} bytes of a frame of {}", f.bytes.size(), f.length); },
        [] { return std::string("all of them, or the mark of a frame that was cut"); });
  }

  World world_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace
}  // namespace history

std::unique_ptr<Checker> make_history(const Profile& profile, Report& report) {
  return std::make_unique<history::History>(profile, report);
}

}  // namespace mrc::ref
