// SPDX-License-Identifier: Apache-2.0
/// Packets of a few QPs between two NICs with any numbers in them, as captures could hold them: what is told of QPs is
/// within the ranges of a log, and the same when it is asked again; so it is of a second reading, which knows the lives
/// that the first one has found. Each packet is 16 bytes of the input.
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "log/conversations.hpp"

namespace {

using namespace mrc;
constexpr log::Ip kOne{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
    kTwo{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
constexpr std::size_t kBytes = 16;
constexpr wire::Opcode kOpcodes[] = {wire::Opcode::WriteFirst, wire::Opcode::WriteMiddle, wire::Opcode::WriteLast,
                                     wire::Opcode::WriteOnly,  wire::Opcode::Sack,        wire::Opcode::Sack,
                                     wire::Opcode::Nack,       wire::Opcode::ProbeRequest};

wire::Packet packet_of(const uint8_t* b) {
  wire::Packet p =
      wire::make_packet(kOpcodes[b[0] & 7], (b[0] & 8) != 0 ? wire::Encapsulation::Ipv4 : wire::Encapsulation::Ipv6);
  const auto number = [&](std::size_t at) {
    return uint32_t{b[at]} | uint32_t{b[at + 1]} << 8 | uint32_t{b[at + 2]} << 16;
  };
  if (p.ipv6) {
    p.ipv6->src = (b[0] & 16) != 0 ? kTwo : kOne;
    p.ipv6->dst = (b[0] & 16) != 0 ? kOne : kTwo;
  }
  p.bth->dqp = 1 + (b[2] & 7);
  p.bth->rtx = b[2] >> 3 & 1;
  p.bth->psn = number(3);
  if (p.reth) p.payload.assign(std::size_t{64} * (b[2] >> 4), 0);
  p.set_entropy(b[6]);
  wire::complete(p);
  p.dscp_class = static_cast<wire::DscpClass>(b[1] % 6);
  if (p.seth) {
    p.seth->cack_psn = number(3);
    p.seth->ack_psn_offset = static_cast<int16_t>(b[7] - 128);
    p.seth->entropy = b[8];
    p.seth->m = b[9] & 3;
    p.seth->pr = b[9] >> 2 & 1;
    p.seth->mpr = b[10];
    p.seth->spdcid = b[11];
    p.seth->dpdcid = b[12];
  }
  if (p.neth) {
    p.neth->nack_psn = number(7);
    p.neth->entropy = b[10];
    p.neth->reason = b[11] & 7;
  }
  return p;
}

void read(log::Conversations& found, const uint8_t* data, size_t size) {
  log::Time time = 0;
  for (; size >= kBytes; data += kBytes, size -= kBytes) {
    time += log::Time{data[13]} * data[13] * 10'000;
    if (data[15] == 0xff) found.lost();
    // A long flow in few bytes: the packet and those behind it.
    wire::Packet packet = packet_of(data);
    for (unsigned n = 0; n <= data[15] >> 4; ++n) {
      const bool cut = (data[0] & 0xE0) == 0xE0;  // of some, headers behind the BTH are missing
      cut ? found.unread(packet, {}, {.time = time}) : found.packet(packet, {}, {.time = time});
      packet.bth->psn = (packet.bth->psn + 1) & 0xFFFFFF;
      if (packet.seth) packet.seth->cack_psn = packet.bth->psn;
    }
  }
}

void judge(const log::Conversations& found) {
  for (const log::Ip& own : {kOne, kTwo}) {
    const std::vector<log::QpChange> qps = found.qps(std::span(&own, 1));
    std::set<uint32_t> alive;
    log::Time time = 0;
    for (const log::QpChange& change : qps) {
      const log::Qp& qp = change.qp;
      const bool ends = qp.state == log::QpState::Reset;
      const bool fits = qp.sq_psn < 1u << 24 && qp.rq_psn < 1u << 24 && (qp.flags & log::kInferred) != 0 &&
                        qp.own_ip == own && change.time >= time &&
                        (ends ? alive.erase(qp.qp) != 0 : alive.insert(qp.qp).second);
      if (!fits) std::abort();
      time = change.time;
    }
    if (found.qps(std::span(&own, 1)) != qps) std::abort();
  }
  for (const auto& [reason, flows] : found.unreported()) {
    if (reason.empty() || flows == 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  log::Conversations found;
  read(found, data, size);
  judge(found);
  if (found.lives().empty()) return 0;
  log::Conversations lives(found.lives());
  read(lives, data, size);
  lives.end();
  judge(lives);
  return 0;
}
