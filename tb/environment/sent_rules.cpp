// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/sent_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gen/csr.hpp"
#include "gen/headers.hpp"
#include "gen/streams.hpp"
#include "protocol/psn.hpp"

namespace mrc::tb {
namespace {

/// Where the headers behind the BTH begin.
size_t behind_bth(const FrameInfo& info) {
  return info.inner + wire::Ipv6::kBytes + wire::Udp::kBytes + wire::Bth::kBytes;
}

}  // namespace

SentRules::SentRules(const SidePlan& plan)
    : plan_(plan), own_(plan.qps.size(), static_cast<unsigned>(plan.qps.size())), qps_(plan.qps.size()) {
  const auto none = static_cast<unsigned>(plan.qps.size());
  for (unsigned i = 0; i < none; ++i) {
    if (plan.qps[i].peer >= none) continue;
    own_[plan.qps[i].peer] = i;
    connected(i);
  }
}

unsigned SentRules::index_of(uint32_t dqp) const {
  const unsigned none = plan_.rows(), qp = own_[qpn_row(dqp, none)];
  return qp < none && plan_.peer_qpn(qp) == dqp ? qp : none;
}

std::string SentRules::sent(const std::vector<uint8_t>& frame, const FrameInfo& info) {
  if (!info.mrc) return {};
  const unsigned qp = index_of(info.dqp);
  if (std::string wrong = wrong_class(info, qp); !wrong.empty()) return wrong;
  if (!info.data()) return {};
  if (std::string wrong = wrong_length(frame, info); !wrong.empty()) return wrong;
  return qp < qps_.size() ? immediate(frame, info, qp) : std::string();
}

std::string SentRules::wrong_class(const FrameInfo& info, unsigned qp) const {
  const bool probe = info.is(wire::Opcode::ProbeRequest);
  const bool answer = info.is(wire::Opcode::Sack) || info.is(wire::Opcode::Nack) || info.is(wire::Opcode::Ack) ||
                      info.is(wire::Opcode::EndpointResponse);
  const auto differs = [&](uint32_t code, const char* whose) {
    if (info.dscp == code) return std::string();
    return fmt::format("a frame to QP {:#x} with opcode {:#x}{} has code point {} instead of {}, {}", info.dqp,
                       info.opcode, info.rtx ? ", a retransmission," : "", info.dscp, code, whose);
  };
  if (answer) return differs(csr::kDscpTxCtl.get(plan_.dscp_tx), "that of control packets");
  if (!info.data() && !probe) return {};  // the code point of an endpoint request is its caller's
  if (qp >= qps_.size() || !qps_[qp].connected) return {};
  const bool rtx = info.data() && info.rtx;
  const SidePlan::Qp& q = plan_.qps[qp];
  if (q.own_class) return differs(rtx ? q.class_rtx : q.class_data, "that of its QP's class");
  return differs(rtx ? csr::kDscpTxRtx.get(plan_.dscp_tx) : csr::kDscpTxData.get(plan_.dscp_tx),
                 "that of QPs without a class of their own");
}

std::string SentRules::wrong_length(const std::vector<uint8_t>& frame, const FrameInfo& info) const {
  const size_t meth = behind_bth(info);
  const bool ts = (frame[meth - wire::Bth::kBytes + 8] & 0x10) != 0;
  const size_t reth = meth + wire::Meth::kBytes + (ts ? wire::Tseth::kBytes : 0);
  if (frame.size() < reth + wire::Reth::kBytes) return {};
  const uint32_t length = wire::Reth::read(&frame[reth]).dma_length;
  const bool empty = payload_of(frame, info) == 0;
  const bool only = info.is(wire::Opcode::WriteOnly) || info.is(wire::Opcode::WriteOnlyImm);
  if (empty == (length == 0) && (!empty || only)) return {};
  return fmt::format("a WRITE to QP {:#x} with opcode {:#x} has {} payload and DMA length {}", info.dqp, info.opcode,
                     empty ? "no" : "a", length);
}

std::string SentRules::immediate(const std::vector<uint8_t>& frame, const FrameInfo& info, unsigned qp) {
  Qp& q = qps_[qp];
  const size_t meth = behind_bth(info);
  if (!q.connected || !has_immediate(info.opcode) || frame.size() < meth + wire::Meth::kBytes) return {};
  const uint16_t msn = wire::Meth::read(&frame[meth]).msn;
  if (msn_before(msn, q.acked) || std::ranges::find(q.immediates, msn) != q.immediates.end()) return {};  // again
  q.immediates.push_back(msn);
  const unsigned most = plan_.qps[qp].max_wimm;
  if (q.immediates.size() <= most) return {};
  return fmt::format("QP {} sends a WRITE with immediate, MSN {}, while {} are on their way, and {} may be", qp, msn,
                     q.immediates.size() - 1, most);
}

void SentRules::came(const std::vector<uint8_t>& frame, const FrameInfo& info) {
  if (!info.mrc || !info.is(wire::Opcode::Ack)) return;
  const unsigned index = plan_.qp_of(info.dqp);
  const size_t aeth = behind_bth(info);
  if (index >= qps_.size() || frame.size() < aeth + wire::Aeth::kBytes) return;
  Qp& q = qps_[index];
  const auto msn = static_cast<uint16_t>(wire::Aeth::read(&frame[aeth]).msn);
  if (msn_before(msn, q.acked)) return;
  q.acked = msn;
  std::erase_if(q.immediates, [&](uint16_t sent) { return msn_before(sent, msn); });
}

}  // namespace mrc::tb
