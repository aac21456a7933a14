// SPDX-License-Identifier: Apache-2.0
#include "reference/judge.hpp"

#include <algorithm>
#include <optional>

#include "reference/hindsight.hpp"
#include "reference/history.hpp"
#include "reference/requestor_judge.hpp"
#include "reference/responder_judge.hpp"
#include "wire/decode.hpp"

namespace mrc::ref {
namespace {

template <class Kind, std::size_t At = 0>
constexpr std::size_t kind_of() {
  if constexpr (std::is_same_v<std::variant_alternative_t<At, log::Body>, Kind>) {
    return At;
  } else {
    return kind_of<Kind, At + 1>();
  }
}
constexpr std::size_t kFrame = kind_of<log::Frame>(), kHost = kind_of<log::Host>();
constexpr uint8_t kCame = 128;  ///< sources of frames that came, from there on

/// What the order of a record depends on.
struct Facts {
  /// When it counts: a frame that came with its last byte and as early as its clock allows, one that was sent with its
  /// first byte and as late: what may have been known was known.
  Time time = 0;
  std::size_t bytes = 0;  ///< that it holds
  uint8_t source = 255;   ///< that it comes from, frames of both directions apart; 255: none
};

Facts facts_of(const log::Record& record) {
  switch (record.body.index()) {
    case kHost:
      return {record.time, std::get_if<log::Host>(&record.body)->data.capacity(), 64};
    case kFrame: {
      const auto& frame = *std::get_if<log::Frame>(&record.body);
      const auto source = static_cast<uint8_t>((frame.plane & 63) + (frame.sent ? 0 : kCame));
      if (frame.sent) return {record.time + frame.error, frame.bytes.capacity(), source};
      const Time last = std::max(record.time, frame.last);
      return {last - std::min(last, frame.error), frame.bytes.capacity(), source};
    }
    case kind_of<log::Qp>(): {
      const auto& qp = *std::get_if<log::Qp>(&record.body);
      return {record.time, (qp.evs.capacity() + qp.denied.capacity()) * sizeof(uint32_t) + qp.ev_planes.capacity(), 65};
    }
    case kind_of<log::Post>():
    case kind_of<log::PostReceive>():
    case kind_of<log::Cqe>():
      return {record.time, 0, 65};
    case kind_of<log::Event>():
      return {record.time, 0, 66};
    case kind_of<log::Counter>():
      return {record.time, std::get_if<log::Counter>(&record.body)->name.capacity(), 255};
    case kind_of<log::Gap>():
      return {record.time, std::get_if<log::Gap>(&record.body)->reason.capacity(), 255};
    case kind_of<log::Note>():
      return {record.time, std::get_if<log::Note>(&record.body)->text.capacity(), 255};
    case kind_of<log::End>():
      return {record.time, std::get_if<log::End>(&record.body)->reason.capacity(), 255};
    default:
      return {record.time, 0, 255};
  }
}

/// What stands in front of the inner IP header, and the check sum of IPv4, is behind no ICRC; whether a NIC looks at it
/// is not told: it may take the frame. Makes a copy with the field that does not fit set right.
std::optional<log::Frame> mend(const log::Frame& frame, const wire::Packet& packet) {
  using enum wire::ErrorCode;
  constexpr std::size_t kType = 12, kIp = wire::Eth::kBytes, kLength = kIp + 4, kBehind = kIp + wire::Ipv6::kBytes;
  const wire::ErrorCode code = packet.error->code;
  const bool length = packet.outer_ipv6 && (code == BadLength || code == Short);
  const bool version = code == BadVersion && packet.error->offset == kIp;
  if ((!length && !version && code != BadEthertype && code != BadChecksum) || frame.bytes.size() < kBehind) return {};
  log::Frame mended = frame;
  mended.flags |= log::kMaybe;
  const auto store = [&](std::size_t at, std::size_t value) {
    mended.bytes[at] = static_cast<uint8_t>(value >> 8);
    mended.bytes[at + 1] = static_cast<uint8_t>(value);
  };
  const bool ipv4 = code == BadEthertype ? mended.bytes[kIp] == 0x45 : packet.ipv4.has_value();
  if (code == BadChecksum) {
    store(packet.error->offset, packet.error->want);
  } else if (code == BadEthertype) {
    store(kType, ipv4 ? wire::kEthertypeIpv4 : wire::kEthertypeIpv6);
  } else if (version && !ipv4) {
    mended.bytes[kIp] = static_cast<uint8_t>(0x60 | (mended.bytes[kIp] & 0x0f));
  } else if (length) {
    store(kLength, mended.bytes.size() - kBehind);
  }
  return mended;
}

}  // namespace

SpareRecords::Owned SpareRecords::get(std::size_t kind) {
  std::vector<Spare>& some = of_kind_[kind];
  if (some.empty()) return std::make_unique<log::Record>();
  Owned record = std::move(some.back().record);
  bytes_ -= some.back().bytes;
  some.pop_back();
  return record;
}

void SpareRecords::put(Owned record, std::size_t bytes) {
  bytes += sizeof(log::Record);
  if (bytes_ + bytes > kMostBytes) return;
  bytes_ += bytes;
  std::vector<Spare>& some = of_kind_[record->body.index()];
  some.push_back({std::move(record), bytes});
}

Judge::Judge(uint32_t device, Profile profile, std::shared_ptr<SpareRecords> spare)
    : device_(device),
      profile_(std::make_unique<Profile>(std::move(profile))),
      wire_(profile_->wire()),
      report_(std::make_unique<Report>(device)),
      spare_(std::move(spare)) {
  checkers_.push_back(make_history(*profile_, *report_));
  checkers_.push_back(make_hindsight(*profile_, *report_));
  checkers_.push_back(std::make_unique<ResponderJudge>(*profile_, *report_));
  checkers_.push_back(std::make_unique<RequestorJudge>(*profile_, *report_));
}
Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;
Judge& Judge::operator=(Judge&&) noexcept = default;

void Judge::in_order(const log::Record& record, uint8_t source) {
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

void Judge::take(Owned& record) {
  if (const auto* until = std::get_if<log::Until>(&record->body)) {
    if (until->source == static_cast<uint8_t>(log::Source::All)) {
      until_.fill(record->time);
      // A frame that comes behind this may count from earlier on, as far as its clock may be wrong.
      drain(record->time - std::min(record->time, profile_->skew + largest_error_));
    } else {
      until_[until->source & 127] = std::max(until_[until->source & 127], record->time);
    }
    return;
  }
  const Facts facts = facts_of(*record);
  in_order(*record, facts.source);
  const std::size_t kind = record->body.index();
  if (const auto* frame = std::get_if<log::Frame>(&record->body))
    largest_error_ = std::max(largest_error_, frame->error);
  held_bytes_ += facts.bytes;
  ++held_;
  // A frame that came counts from its end on: behind most of what the log has next.
  std::deque<Held>& queue = kind == kFrame && facts.source >= kCame ? came_ : in_order_;
  Held held{facts.time, order_++, facts.bytes, std::move(record)};
  if (queue.empty() || queue.back().time <= facts.time) {
    queue.push_back(std::move(held));
  } else {
    late_.push_back(std::move(held));
    std::ranges::push_heap(late_, Held::heap);
  }
  record = spare_->get(kind);
  while (held_ > kMostHeld || held_bytes_ > kMostHeldBytes) drain(oldest_time() + 1);
}

Time Judge::oldest_time() const {
  Time oldest = late_.empty() ? log::kNever : late_.front().time;
  for (const auto* queue : {&in_order_, &came_}) {
    if (!queue->empty()) oldest = std::min(oldest, queue->front().time);
  }
  return oldest;
}

/// The record that is told next; there is one.
Judge::Held Judge::oldest() {
  std::deque<Held>* from = nullptr;
  for (auto* queue : {&in_order_, &came_}) {
    if (!queue->empty() && (from == nullptr || queue->front().before(from->front()))) from = queue;
  }
  if (from != nullptr && (late_.empty() || from->front().before(late_.front()))) {
    Held held = std::move(from->front());
    from->pop_front();
    return held;
  }
  std::ranges::pop_heap(late_, Held::heap);
  Held held = std::move(late_.back());
  late_.pop_back();
  return held;
}

void Judge::drain(Time until) {
  while (held_ != 0 && oldest_time() < until) {
    Held held = oldest();
    --held_;
    if (held.time > notified_ || !some_notified_) {
      some_notified_ = true;
      notified_ = std::max(notified_, held.time);
      situation_.later(notified_);
      report_->situation(situation_.index());
      for (const auto& checker : checkers_) checker->now(notified_);
    }
    notify(*held.record, held.time);
    held_bytes_ -= held.bytes;
    spare_->put(std::move(held.record), held.bytes);
  }
}

void Judge::notify(const log::Record& record, Time time) {
  if (!std::holds_alternative<log::Frame>(record.body)) {
    situation_.record(record, time);
    report_->situation(situation_.index());
  }
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
  const bool whole = !cut && !redacted;
  wire::Packet& packet = packet_;
  // What is missing counts as zeros, so that lengths fit; nobody looks at it.
  if (cut) wire::decode_cut(packet, frame.bytes, std::min(frame.length, log::kMaxFrameBytes), wire_);
  if (!cut || wire::header_bytes(packet) > frame.bytes.size()) {
    wire::decode_into(packet, frame.bytes, wire_, whole);
  }
  if (!frame.sent && !cut && packet.error && !packet.bth) {
    if (const auto mended = mend(frame, packet)) {
      const wire::Packet as_meant = wire::decode(mended->bytes, wire_);
      if (!as_meant.error) {
        situation_.frame(frame, as_meant, time);
        report_->situation(situation_.index());
        const Seen seen{*mended, as_meant, time, std::max(time, frame.last), whole, true};
        for (const auto& checker : checkers_) checker->received(seen);
        return;
      }
    }
  }
  situation_.frame(frame, packet, time);
  report_->situation(situation_.index());
  const Seen seen{frame, packet, time, std::max(time, frame.last), whole};
  for (const auto& checker : checkers_) frame.sent ? checker->sent(seen) : checker->received(seen);
}

void Judge::finish() {
  drain(log::kNever);
  if (ended_) return;
  ended_ = true;
  situation_.record({}, notified_);
  report_->situation(situation_.index());
  for (const auto& checker : checkers_) checker->finish({true, "the log has no end"}, notified_);
}

uint64_t Judge::memory() const {
  uint64_t bytes = held_bytes_ + held_ * (sizeof(log::Record) + sizeof(Held));
  if (report_ != nullptr) bytes += report_->memory();
  for (const auto& checker : checkers_) bytes += checker->memory();
  return bytes;
}

}  // namespace mrc::ref
