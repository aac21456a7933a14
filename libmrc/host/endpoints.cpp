// SPDX-License-Identifier: Apache-2.0
#include "libmrc/host/endpoints.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "wire/bytes.hpp"
#include "wire/decode.hpp"

namespace mrc::libmrc {
namespace {

/// Behind Ethernet, IPv6 and UDP.
constexpr std::size_t kOpcodeAt = 14 + 40 + 8;
/// Ids of the NIC's own requests have 16 bits.
constexpr uint32_t kOwnIds = 0xe00000, kIds = 1u << 16;

}  // namespace

void Endpoints::lose(Program& program, const EpRequest& wanted, Time now) {
  open_[kOwnIds | next_] = {&program, wanted.id, now};
  next_ = (next_ + 1) % kIds;
}

void Endpoints::request(Program& program, const EpRequest& wanted, Time now) {
  const uint32_t psn = kOwnIds | next_;
  lose(program, wanted, now);
  const auto mac = network_.mac_of(wanted.to);
  if (!mac) return;
  wire::Packet p = wire::make_packet(wire::Opcode::EndpointRequest, wire::Encapsulation::Ipv6);
  wire::store_be<6>(p.eth->dst.data(), *mac);
  wire::store_be<6>(p.eth->src.data(), mac_);
  p.ipv6->src = ip_;
  p.ipv6->dst = wanted.to;
  p.ipv6->dscp = static_cast<uint8_t>(wanted.dscp);
  p.ipv6->hop_limit = 64;
  p.bth->p_key = 0xffff;
  p.bth->psn = psn;
  p.erth->op = static_cast<uint8_t>(wanted.op);
  p.erth->port_status_mask = wanted.ports_up;
  p.set_entropy(wanted.ev);
  wire::complete(p);
  tb::SentFrame frame;
  frame.plane = wanted.port - 1;
  frame.bytes = wire::encode(p);
  network_.send(mac_, std::move(frame), now);
}

void Endpoints::wait(Program& program, Time until, Reply reply) {
  waits_[&program] = {until, std::move(reply)};
  settle(&program, 0);
}

void Endpoints::answer(const wire::Packet& request, unsigned plane, Time last) {
  wire::Packet p = wire::make_packet(wire::Opcode::EndpointResponse, wire::Encapsulation::Ipv6);
  p.eth->dst = request.eth->src;
  p.eth->src = request.eth->dst;
  p.ipv6->src = ip_;
  p.ipv6->dst = request.ipv6->src;
  p.ipv6->dscp = wire::kDscpControl;
  p.ipv6->hop_limit = 64;
  p.bth->p_key = 0xffff;
  p.bth->psn = request.bth->psn;
  p.eeth->op = request.erth->op;
  p.eeth->tx_timestamp16 = request.erth->tx_timestamp16;
  p.set_entropy(request.entropy());
  wire::complete(p);
  tb::SentFrame frame;
  frame.plane = plane;
  frame.bytes = wire::encode(p);
  network_.send(mac_, std::move(frame), last);
}

bool Endpoints::take(unsigned plane, Time last, std::span<const uint8_t> frame) {
  if (frame.size() <= kOpcodeAt || (frame[kOpcodeAt] != static_cast<uint8_t>(wire::Opcode::EndpointRequest) &&
                                    frame[kOpcodeAt] != static_cast<uint8_t>(wire::Opcode::EndpointResponse)))
    return false;
  const wire::Packet p = wire::decode(frame);
  if (p.error || !p.eth || !p.ipv6 || !p.bth) return false;
  if (p.erth && (p.bth->psn & ~(kIds - 1)) == kOwnIds && !known_(p.ipv6->src)) {
    answer(p, plane, last);
    return true;
  }
  if (p.bth->opcode != static_cast<uint8_t>(wire::Opcode::EndpointResponse)) return false;
  const auto found = open_.find(p.bth->psn);
  if (found == open_.end()) return false;
  const Open open = found->second;
  open_.erase(found);
  ++answered_[open.program];
  open.program->answered({open.id, plane + 1, static_cast<uint32_t>((last - open.sent) / 1000)});
  settle(open.program, 0);
  return true;
}

/// The program's wait is over when nothing of it is open; with an error it is over in any case.
void Endpoints::settle(Program* program, int error) {
  const auto found = waits_.find(program);
  if (found == waits_.end()) return;
  const auto is_its = [program](const auto& o) { return o.second.program == program; };
  if (error == 0 && std::ranges::any_of(open_, is_its)) return;
  std::erase_if(open_, is_its);
  const Reply reply = std::move(found->second.reply);
  waits_.erase(found);
  const uint32_t count = std::exchange(answered_[program], 0);
  reply(error, count);
}

void Endpoints::leave(const Program& program) {
  std::erase_if(open_, [&](const auto& o) { return o.second.program == &program; });
  std::erase_if(waits_, [&](const auto& w) { return w.first == &program; });
  std::erase_if(answered_, [&](const auto& a) { return a.first == &program; });
}

void Endpoints::tick(Time now) {
  std::vector<Program*> late;
  for (const auto& [program, wait] : waits_) {
    if (wait.until <= now) late.push_back(program);
  }
  for (Program* program : late) settle(program, ETIMEDOUT);
}

}  // namespace mrc::libmrc
