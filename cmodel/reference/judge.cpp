// SPDX-License-Identifier: Apache-2.0
#include "reference/judge.hpp"

#include <algorithm>

#include "reference/history.hpp"
#include "reference/requestor_judge.hpp"
#include "reference/responder_judge.hpp"
#include "wire/decode.hpp"

namespace mrc::ref {
namespace {

/// When a record counts: a frame that came with its last byte and as early as its clock allows, one that was sent with
/// its first byte and as late: what may have been known was known.
Time time_of(const log::Record& record) {
  const auto* frame = std::get_if<log::Frame>(&record.body);
  if (frame == nullptr) return record.time;
  if (frame->sent) return record.time + frame->error;
  const Time last = std::max(record.time, frame->last);
  return last - std::min(last, frame->error);
}

/// The source that a record comes from, frames of both directions apart; 255: none.
uint8_t source_of(const log::Record& record) {
  return std::visit(
      [](const auto& body) -> uint8_t {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, log::Frame>) {
          return static_cast<uint8_t>((body.plane & 63) + (body.sent ? 0 : 128));
        } else if constexpr (std::is_same_v<T, log::Host>) {
          return 64;
        } else if constexpr (std::is_same_v<T, log::Post> || std::is_same_v<T, log::PostReceive> ||
                             std::is_same_v<T, log::Cqe> || std::is_same_v<T, log::Qp>) {
          return 65;
        } else if constexpr (std::is_same_v<T, log::Event>) {
          return 66;
        } else {
          return 255;
        }
      },
      record.body);
}

std::size_t bytes_of(const log::Record& record) {
  if (const auto* frame = std::get_if<log::Frame>(&record.body)) return frame->bytes.size();
  if (const auto* host = std::get_if<log::Host>(&record.body)) return host->data.size();
  return 0;
}

/// Bytes of all headers that were decoded.
std::size_t header_bytes(const wire::Packet& p) {
  std::size_t bytes = wire::Eth::kBytes;
  const auto add = [&](const auto& header) {
    using Header = typename std::decay_t<decltype(header)>::value_type;
    if (header) bytes += Header::kBytes;
  };
  add(p.outer_ipv6);
  add(p.srh);
  add(p.ipv6);
  add(p.ipv4);
  add(p.udp);
  add(p.bth);
  wire::Extensions::visit(p, add);
  return bytes;
}

}  // namespace

Judge::Judge(uint32_t device, Profile profile)
    : device_(device),
      profile_(std::make_unique<Profile>(std::move(profile))),
      wire_(profile_->wire()),
      report_(std::make_unique<Report>(device)) {
  checkers_.push_back(make_history(*profile_, *report_));
  checkers_.push_back(std::make_unique<ResponderJudge>(*profile_, *report_));
  checkers_.push_back(std::make_unique<RequestorJudge>(*profile_, *report_));
}
Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;
Judge& Judge::operator=(Judge&&) noexcept = default;

void Judge::in_order(const log::Record& record) {
  const uint8_t source = source_of(record);
  if (source == 255) return;
  const Time before = std::max(newest_[source], until_[source & 127]);
  if (record.time >= before) {
    newest_[source] = record.time;
    report_->ok(Rule::EvidenceOrder);
    return;
  }
  Finding f;
  f.rule = Rule::EvidenceOrder;
  f.time = record.time;
  const auto* frame = std::get_if<log::Frame>(&record.body);
  if (frame != nullptr) f.frame = frame->number;
  f.came = "an observation of source " + std::to_string(source & 127) + " at " + std::to_string(record.time) + " ps";
  f.right = "none before " + std::to_string(before) + " ps, of which the log has told already";
  report_->broken(std::move(f));
}

void Judge::take(log::Record& record) {
  if (const auto* until = std::get_if<log::Until>(&record.body)) {
    if (until->source == static_cast<uint8_t>(log::Source::All)) {
      until_.fill(record.time);
      // A frame that comes behind this may count from earlier on, as far as its clock may be wrong.
      drain(record.time - std::min(record.time, profile_->skew + largest_error_));
    } else {
      until_[until->source & 127] = std::max(until_[until->source & 127], record.time);
    }
    return;
  }
  in_order(record);
  std::size_t place = records_.size();
  const Time time = time_of(record);
  if (const auto* frame = std::get_if<log::Frame>(&record.body))
    largest_error_ = std::max(largest_error_, frame->error);
  held_bytes_ += bytes_of(record);
  if (free_.empty()) {
    records_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
  }
  std::swap(records_[place], record);
  held_.push({time, order_++, place});
  while (held_.size() > kMostHeld || held_bytes_ > kMostHeldBytes) drain(held_.top().time + 1);
}

void Judge::drain(Time until) {
  while (!held_.empty() && held_.top().time < until) {
    const Held held = held_.top();
    held_.pop();
    told_ = std::max(told_, held.time);
    for (const auto& checker : checkers_) checker->now(told_);
    tell(records_[held.place], held.time);
    held_bytes_ -= bytes_of(records_[held.place]);
    free_.push_back(held.place);
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
          frame(body, record.time);
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

void Judge::frame(const log::Frame& frame, Time time) {
  ++packets_;
  const bool cut = (frame.flags & log::kCut) != 0 && frame.length > frame.bytes.size();
  const bool redacted = frame.redacted.bytes != 0;
  wire::Packet packet;
  if (cut) {
    // What is missing counts as zeros, so that lengths fit; nobody looks at it.
    std::vector<uint8_t> bytes = frame.bytes;
    bytes.resize(std::min(frame.length, log::kMaxFrameBytes));
    packet = wire::decode(bytes, wire_);
    if (header_bytes(packet) > frame.bytes.size()) packet = wire::decode(frame.bytes, wire_);
  } else {
    packet = wire::decode(frame.bytes, wire_);
  }
  const bool whole = !cut && !redacted;
  if (!whole && packet.error && packet.error->code == wire::ErrorCode::BadIcrc) packet.error.reset();
  // Lengths of an outer header are behind no check sum; whether a NIC looks at them is not told: it may take the frame.
  const bool outer = packet.outer_ipv6 && !packet.ipv6;
  if (!frame.sent && !cut && outer && packet.error && packet.error->code == wire::ErrorCode::BadLength) {
    log::Frame mended = frame;
    constexpr std::size_t kLength = wire::Eth::kBytes + 4, kBehind = wire::Eth::kBytes + wire::Ipv6::kBytes;
    const std::size_t length = mended.bytes.size() - kBehind;
    mended.bytes[kLength] = static_cast<uint8_t>(length >> 8);
    mended.bytes[kLength + 1] = static_cast<uint8_t>(length);
    mended.flags |= log::kMaybe;
    const wire::Packet as_meant = wire::decode(mended.bytes, wire_);
    if (!as_meant.error) {
      const Seen seen{mended, as_meant, time, std::max(time, frame.last), whole, true};
      for (const auto& checker : checkers_) checker->received(seen);
      return;
    }
  }
  const Seen seen{frame, packet, time, std::max(time, frame.last), whole};
  for (const auto& checker : checkers_) frame.sent ? checker->sent(seen) : checker->received(seen);
}

void Judge::finish() {
  drain(log::kNever);
  if (ended_) return;
  ended_ = true;
  for (const auto& checker : checkers_) checker->finish({true, "the log has no end"}, told_);
}

uint64_t Judge::memory() const {
  uint64_t bytes = 0;
  for (const log::Record& record : records_) {
    const auto* frame = std::get_if<log::Frame>(&record.body);
    bytes += sizeof(log::Record) + (frame != nullptr ? frame->bytes.capacity() : 0);
  }
  for (const auto& checker : checkers_) bytes += checker->memory();
  return bytes;
}

}  // namespace mrc::ref
