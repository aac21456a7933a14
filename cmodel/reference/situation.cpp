// SPDX-License-Identifier: Apache-2.0
#include "reference/situation.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace mrc::ref {
namespace {

constexpr log::Time kLossLasts = 50'000'000;

At at_of(bool sent, const wire::Packet& packet) {
  const auto either = [&](At went, At came) { return sent ? went : came; };
  if (!packet.bth) return either(At::OtherSent, At::OtherCame);
  switch (static_cast<wire::Opcode>(packet.bth->opcode)) {
    case wire::Opcode::Sack:
      return either(At::SackSent, At::SackCame);
    case wire::Opcode::Nack:
      return either(At::NackSent, At::NackCame);
    case wire::Opcode::Ack:
      return either(At::AckSent, At::AckCame);
    case wire::Opcode::ProbeRequest:
      return either(At::ProbeSent, At::ProbeCame);
    case wire::Opcode::EndpointRequest:
    case wire::Opcode::EndpointResponse:
      return either(At::EndpointSent, At::EndpointCame);
    default:
      break;
  }
  if (!packet.reth && !packet.meth) return either(At::OtherSent, At::OtherCame);
  const bool again = packet.bth->rtx != 0;
  if (sent) return again ? At::RepeatSent : At::DataSent;
  if (packet.trimmed()) return At::TrimmedCame;
  if (again) return At::RepeatCame;
  return packet.ecn() == 3 ? At::MarkedCame : At::DataCame;
}

}  // namespace

const char* name_of(At at) {
  static constexpr const char* kNames[kNumAt] = {
      "time passed", "data sent",     "repeat sent",   "data came",  "repeat came", "marked came", "trimmed came",
      "SACK sent",   "SACK came",     "NACK sent",     "NACK came",  "ACK sent",    "ACK came",    "probe sent",
      "probe came",  "endpoint sent", "endpoint came", "other sent", "other came",  "verb",        "completion",
      "memory",      "port",          "event",         "end"};
  return kNames[static_cast<std::size_t>(at)];
}

const char* name_of(Fares fares) {
  static constexpr const char* kNames[kNumFares] = {"well", "loss", "QP failed", "port down"};
  return kNames[static_cast<std::size_t>(fares)];
}

void Situation::set(At at, log::Time time) {
  const Fares fares = down_ != 0           ? Fares::PortDown
                      : !errors_.empty()   ? Fares::Failed
                      : time < loss_until_ ? Fares::Loss
                                           : Fares::Well;
  index_ = static_cast<std::size_t>(at) * kNumFares + static_cast<std::size_t>(fares);
}

void Situation::later(log::Time time) { set(At::Later, time); }

void Situation::frame(const log::Frame& frame, const wire::Packet& packet, log::Time time) {
  const At at = at_of(frame.sent, packet);
  if (at == At::RepeatSent || at == At::RepeatCame || at == At::TrimmedCame) loss_until_ = time + kLossLasts;
  set(at, time);
}

void Situation::record(const log::Record& record, log::Time time) {
  At at = At::End;
  std::visit(
      [&](const auto& body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, log::Port>) {
          at = At::Port;
          const uint64_t bit = uint64_t{1} << (body.plane & 63);
          down_ = body.up ? down_ & ~bit : down_ | bit;
        } else if constexpr (std::is_same_v<T, log::Qp>) {
          at = At::Verb;
          const auto place = std::ranges::lower_bound(errors_, body.qp);
          const bool known = place != errors_.end() && *place == body.qp;
          if (body.state == log::QpState::Error && !known) errors_.insert(place, body.qp);
          if (body.state != log::QpState::Error && known) errors_.erase(place);
        } else if constexpr (std::is_same_v<T, log::Mr> || std::is_same_v<T, log::Post> ||
                             std::is_same_v<T, log::PostReceive>) {
          at = At::Verb;
        } else if constexpr (std::is_same_v<T, log::Host>) {
          at = At::Memory;
        } else if constexpr (std::is_same_v<T, log::Cqe>) {
          at = At::Completion;
        } else if constexpr (std::is_same_v<T, log::Event>) {
          at = At::Event;
        }
      },
      record.body);
  set(at, time);
}

}  // namespace mrc::ref
