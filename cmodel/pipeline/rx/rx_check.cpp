// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx/rx_check.hpp"

#include "gen/csr.hpp"
#include "pipeline/lib/convert.hpp"
#include "util/check.hpp"

namespace mrc {

namespace {

uint16_t fold_of(U128 address, const CsrOut& csr) {
  return address_fold(address, {.enable = csr.ip_plane_enable, .lsb = csr.ip_plane_lsb});
}

}  // namespace

void RxCheck::step(const CfgBus& cfg, const CsrOut& csr) {
  ack_.begin(cfg);
  pulses_next_ = {};
  const bool pending = ack_.pending(cfg), configures = pending && !a_valid_;
  if (a_valid_ && rxpkt_.free() && ctl_.free() && eprx_.free()) {
    check(csr);
    a_valid_ = false;
  }
  if (configures) configure(cfg, csr);
  if (pending || a_valid_) return;  // a pending table write stops the intake, so that it cannot starve
  const int plane = arb_.pick([&](unsigned p) { return desc_[p].valid(); });
  if (plane < 0) return;
  a_plane_ = static_cast<unsigned>(plane);
  arb_.take(a_plane_);
  a_ = packet_of(desc_[a_plane_].head());
  a_buf_ = desc_[a_plane_].head().buf_valid;
  desc_[a_plane_].pop();
  a_valid_ = true;
}

/// Stage B on a_q.
void RxCheck::check(const CsrOut& csr) {
  const RxQpCtx& qp = qps_[row()];
  const RxDrop drop = rx_drop(a_, qpn_is(a_.dqp, qp.high, rows()) ? &qp : nullptr, csr.zero_length);
  if (drop == RxDrop::None) {
    if (is_data_opcode(a_.opcode)) {
      write(csr, rxpkt_.load());
    } else if (is_probe_opcode(a_.opcode)) {
      probe(rxpkt_.load());
    } else if (is_endpoint_opcode(a_.opcode)) {
      const EndpointPacket e = rx_endpoint(a_);
      eprx_.load({.resp = e.response,
                  .op = e.op,
                  .id = e.id,
                  .plane = static_cast<uint8_t>(a_plane_),
                  .mask = e.mask,
                  .ts = e.tx_timestamp,
                  .tsv = true,
                  .at = a_.at,
                  .sip = e.source});
    } else if (a_.opcode == opcode_byte(wire::Opcode::Sack)) {
      ctl_.load(ctl_of(row(), rx_sack(a_)));
    } else if (a_.opcode == opcode_byte(wire::Opcode::Nack)) {
      ctl_.load(ctl_of(row(), rx_nack(a_)));
    } else {
      ctl_.load(ctl_of(row(), rx_ack(a_)));
    }
    return;
  }
  if (drop == RxDrop::Returned) returned(csr);
  pulses_next_.drop_parse = drop == RxDrop::Parse;
  pulses_next_.drop_icrc = drop == RxDrop::Icrc;
  pulses_next_.drop_qp = drop == RxDrop::Qp;
  pulses_next_.drop_pkey = drop == RxDrop::Pkey;
  pulses_next_.drop_len = drop == RxDrop::Len;
  pulses_next_.returned = drop == RxDrop::Returned;
  if (drop != RxDrop::Parse && a_buf_) discard(rxpkt_.load());
}

/// A packet of our own that came back: its requestor hears of it, if software says so and it is found.
void RxCheck::returned(const CsrOut& csr) {
  MRC_CHECK(!a_buf_, "a packet that came back has payload in its lane");
  if (csr.returned != Returned::Learn) return;
  const uint16_t fold = fold_of(a_.address, csr);
  const ReturnRow& row = row_of(a_.dqp, fold);
  if (!row.valid || !rx_returned(a_, fold, qps_[row.qp])) return;
  ctl_.load(ctl_of(row.qp, ReturnedPacket{.psn = a_.psn, .rtx = a_.rtx, .entropy = a_.entropy}));
}

/// A WRITE, and what is wrong with it. The region: the row that the index in its R_Key names.
void RxCheck::write(const CsrOut& csr, Rxpkt& p) {
  const RxWrite w = rx_write(a_, csr.nominal);
  p = Rxpkt{};
  p.plane = static_cast<uint8_t>(a_plane_);
  p.buf_valid = a_buf_;
  p.qp = row();
  p.psn = w.psn;
  p.ackreq = a_.ackreq;
  p.rtx = a_.rtx;
  p.ce = a_.ce;
  p.trim = a_.trim;
  p.entropy = a_.entropy;
  p.rqmsn = w.rqmsn;
  p.msn = w.msn;
  p.ts = w.tx_timestamp;
  p.tsv = a_.ts;
  p.at = a_.at;
  p.err = qps_[p.qp].state == QpState::Error;
  p.last = w.last;
  if (a_.trim != Trim::None) return;  // nothing to place
  p.dmalen = w.dma_length;
  p.imm_valid = w.imm_valid;
  p.imm = w.imm;
  p.plen = w.plen;
  p.size = w.size;
  const MemoryRegion& mr = mrs_[(w.rkey >> 8) & (mrs_.size() - 1)];
  const bool empty = rx_empty(a_.opcode, w.plen, w.dma_length, csr.zero_length);
  const RxFault fault = rx_fault(mr, w.rkey, w.va, w.plen, w.dma_length, w.imm_valid && qps_[p.qp].no_imm, empty);
  p.syndrome = NakCodes{.invalid = csr.nak_invalid, .access = csr.nak_access}.of(fault);
  p.haddr = fault == RxFault::None && !empty ? mr.addr + (w.va - mr.va) : 0;
  pulses_next_.access = fault == RxFault::Access;
}

/// A reliability probe: psn is its id.
void RxCheck::probe(Rxpkt& p) const {
  const Probe probe = rx_probe(a_);
  p = Rxpkt{};
  p.plane = static_cast<uint8_t>(a_plane_);
  p.probe = true;
  p.qp = row();
  p.psn = probe.id;
  p.ce = a_.ce;
  p.ts = probe.tx_timestamp;
  p.tsv = true;
  p.at = a_.at;
  p.err = qps_[p.qp].state == QpState::Error;
  p.entropy = a_.entropy;
}

/// rx_track's order to free the lane's buffer.
void RxCheck::discard(Rxpkt& p) const {
  p = Rxpkt{};
  p.plane = static_cast<uint8_t>(a_plane_);
  p.drop = true;
  p.buf_valid = true;
}

void RxCheck::configure(const CfgBus& cfg, const CsrOut& csr) {
  RxQpCtx& qp = qps_[cfg.index % qps_.size()];
  if (cfg.is(CfgTable::QpCtx)) {
    const auto row = csr::TblQpCtx::unpack(cfg.data.data());
    const uint32_t high = qpn_anew(row.state) ? 0 : qp.high;
    qp = {.state = row.state,
          .mtu = row.mtu,
          .pkey = row.pkey,
          .no_imm = row.max_wimm_dest == 0,
          .dqpn = row.dqpn,
          .fold = fold_of(row.dip, csr),
          .high = high};
    if (row.state != QpState::Reset) {
      row_of(qp.dqpn, qp.fold) = {.valid = true, .qp = static_cast<QpIndex>(cfg.index % qps_.size())};
    }
  } else if (cfg.is(CfgTable::QpState)) {
    qp.state = csr::TblQpState::unpack(cfg.data.data()).state;
  } else if (cfg.is(CfgTable::QpQpn)) {
    qp.high = qpn_high(csr::TblQpQpn::unpack(cfg.data.data()).high, rows());
  } else if (cfg.is(CfgTable::Mr)) {
    mrs_[cfg.index % mrs_.size()] = region_of(csr::TblMr::unpack(cfg.data.data()));
  }
  ack_.done();
}

}  // namespace mrc
