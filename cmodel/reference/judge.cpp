// SPDX-License-Identifier: Apache-2.0
#include "reference/judge.hpp"

#include <algorithm>

#include "reference/responder_judge.hpp"
#include "wire/decode.hpp"

namespace mrc::ref {
namespace {

/// When a record counts: a frame that came, with its last byte.
Time time_of(const log::Record& record) {
  const auto* frame = std::get_if<log::Frame>(&record.body);
  return frame != nullptr && !frame->sent ? std::max(record.time, frame->last) : record.time;
}

}  // namespace

Judge::Judge(uint32_t device, Profile profile)
    : device_(device), profile_(std::move(profile)), report_(std::make_unique<Report>(device)) {
  checkers_.push_back(std::make_unique<ResponderJudge>(profile_, *report_));
}
Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;
Judge& Judge::operator=(Judge&&) noexcept = default;

void Judge::push(const log::Record& record) {
  if (const auto* until = std::get_if<log::Until>(&record.body)) {
    if (until->source == static_cast<uint8_t>(log::Source::All)) drain(record.time);
    return;
  }
  held_.push({time_of(record), order_++, record});
  while (held_.size() > kMostHeld) drain(held_.top().time + 1);
}

void Judge::drain(Time until) {
  while (!held_.empty() && held_.top().time < until) {
    const Held held = held_.top();
    held_.pop();
    told_ = std::max(told_, held.time);
    for (const auto& checker : checkers_) checker->now(told_);
    tell(held.record, held.time);
  }
}

void Judge::tell(const log::Record& record, Time time) {
  const auto all = [&](auto&& call) {
    for (const auto& checker : checkers_) call(*checker);
  };
  std::visit(
      [&](const auto& body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, log::Frame>) {
          const wire::Packet packet = wire::decode(body.bytes, profile_.wire());
          const Seen seen{body, packet, record.time, std::max(record.time, body.last)};
          ++packets_;
          all([&](Checker& c) { body.sent ? c.sent(seen) : c.received(seen); });
        } else if constexpr (std::is_same_v<T, log::Port>) {
          all([&](Checker& c) { c.port(body, time); });
        } else if constexpr (std::is_same_v<T, log::Qp>) {
          all([&](Checker& c) { c.qp(body, time); });
        } else if constexpr (std::is_same_v<T, log::Mr>) {
          all([&](Checker& c) { c.region(body, time); });
        } else if constexpr (std::is_same_v<T, log::Host>) {
          all([&](Checker& c) { c.host(body, time); });
        } else if constexpr (std::is_same_v<T, log::Post> || std::is_same_v<T, log::PostReceive>) {
          all([&](Checker& c) { c.posted(body, time); });
        } else if constexpr (std::is_same_v<T, log::Cqe>) {
          all([&](Checker& c) { c.completed(body, time); });
        } else if constexpr (std::is_same_v<T, log::Event>) {
          all([&](Checker& c) { c.event(body, time); });
        } else if constexpr (std::is_same_v<T, log::Counter>) {
          all([&](Checker& c) { c.counter(body, time); });
        } else if constexpr (std::is_same_v<T, log::Gap>) {
          all([&](Checker& c) { c.gap(body, time); });
        } else if constexpr (std::is_same_v<T, log::End>) {
          ended_ = true;
          all([&](Checker& c) { c.finish(body, time); });
        }
      },
      record.body);
}

void Judge::finish() {
  drain(log::kNever);
  if (ended_) return;
  ended_ = true;
  for (const auto& checker : checkers_) checker->finish({true, "the log has no end"}, told_);
}

uint64_t Judge::memory() const {
  uint64_t bytes = held_.size() * 256;
  for (const auto& checker : checkers_) bytes += checker->memory();
  return bytes;
}

}  // namespace mrc::ref
