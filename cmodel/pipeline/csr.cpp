// SPDX-License-Identifier: Apache-2.0
#include "pipeline/csr.hpp"

namespace mrc {

using csr::Access;

Csr::Csr(const Preset& preset, Stream<Evev>& evev) : evev_(evev) {
  for (const csr::Register& r : csr::kRegisters) {
    uint32_t mask = 0;
    for (const csr::Field& f : r.fields) mask |= f.mask();
    for (unsigned i = 0; i < r.count; ++i) {
      const unsigned word = (r.offset + i * r.stride) / 4;
      reg_[word] = r.reset;
      exists_[word] = true;
      writable_[word] = r.access == Access::Rw;
      mask_[word] = r.fields.empty() ? ~0u : mask;
    }
  }
  reg_[csr::kCaps0 / 4] = csr::kCaps0Planes.set(0, preset.num_planes) | csr::kCaps0Qps.set(0, preset.num_qps) |
                          csr::kCaps0WqeDepth.set(0, preset.wqe_depth);
  reg_[csr::kCaps1 / 4] = csr::kCaps1Mpr.set(0, preset.max_mpr) | csr::kCaps1Evs.set(0, preset.evs_per_qp);
  publish();
}

Csr::Out Csr::out() const {
  return {.awready = !q_.aw_full,
          .wready = !q_.w_full,
          .bvalid = q_.bvalid,
          .arready = !q_.rvalid,
          .rvalid = q_.rvalid,
          .bresp = q_.bresp,
          .rresp = q_.rresp,
          .rdata = q_.rdata};
}

void Csr::step(const In& in) {
  if (evev_.has()) queue_event();
  switch (q_.state) {
    case State::Idle:
      if (q_.aw_full && q_.w_full) write();
      break;
    case State::Cfg:
      if (in.all_ack) {
        d_.cfg_req = false;
        d_.state = State::CfgEnd;
      }
      break;
    case State::CfgEnd:
      if (!in.any_ack) {
        d_.bvalid = true;
        d_.bresp = 0;
        d_.state = State::Resp;
      }
      break;
    case State::Resp:
      if (in.bready) {
        d_.bvalid = d_.aw_full = d_.w_full = false;
        d_.state = State::Idle;
      }
      break;
  }
  if (in.awvalid && !q_.aw_full) {
    d_.aw_full = true;
    d_.awaddr = in.awaddr;
  }
  if (in.wvalid && !q_.w_full) {
    d_.w_full = true;
    d_.wdata = in.wdata;
    d_.wstrb = in.wstrb;
  }
  if (q_.rvalid) {
    if (in.rready) d_.rvalid = false;
  } else if (in.arvalid) {
    const unsigned word = in.araddr / 4;
    const bool ok = word < kWords && exists_[word];
    d_.rvalid = true;
    if (word == csr::kEvq / 4) {
      d_.rdata = take_event();
    } else {
      d_.rdata = ok ? reg_[word] : 0;
    }
    d_.rresp = ok ? 0 : kSlvErr;
  }
}

/// Into the queue of EV events, or lost.
void Csr::queue_event() {
  if (evq_.ready()) {
    evq_.push(evev_.head());
    evq_moved_ = true;
  } else {
    dropped_ = true;
  }
  evev_.pop();
}

/// A read of EVQ: the oldest event, which the read takes, or 0.
uint32_t Csr::take_event() {
  if (!evq_.valid()) return 0;
  const Evev& e = evq_.head();
  evq_.pop();
  evq_moved_ = true;
  return csr::kEvqValid.set(0, 1) | csr::kEvqQp.set(0, e.qp & 0x7fffu) | csr::kEvqFloor.set(0, e.floor) |
         csr::kEvqState.set(0, e.state) | csr::kEvqEvIdx.set(0, e.ev_idx);
}

void Csr::write() {
  const unsigned word = q_.awaddr / 4;
  const bool ok = word < kWords && writable_[word];
  if (ok) {
    uint32_t strobes = 0;
    for (unsigned i = 0; i < 4; ++i) strobes |= q_.wstrb >> i & 1 ? 0xffu << (8 * i) : 0;
    written_ = word;
    written_value_ = ((reg_[word] & ~strobes) | (q_.wdata & strobes)) & mask_[word];
  }
  if (ok && word == csr::kTblCmd / 4) {
    d_.cfg_req = true;
    d_.state = State::Cfg;
  } else {
    d_.bvalid = true;
    d_.bresp = ok ? 0 : kSlvErr;
    d_.state = State::Resp;
  }
}

void Csr::clock() {
  q_ = d_;
  cfg_.req = q_.cfg_req;
  if (counted_) {
    counted_ = false;
    for (unsigned i = 0; i < pulses_.size(); ++i) {
      reg_[csr::kCntTx0 / 4 + i] += pulses_[i];
      pulses_[i] = 0;
    }
  }
  if (evq_moved_) {
    evq_moved_ = false;
    evq_.clock();
  }
  if (dropped_) {
    dropped_ = false;
    ++reg_[csr::kEvqDrop / 4];
  }
  if (written_ == kWords) return;
  reg_[written_] = written_value_;
  written_ = kWords;
  publish();
}

/// What the blocks see of the registers.
void Csr::publish() {
  const auto reg = [&](uint32_t offset) { return reg_[offset / 4]; };
  const auto flag = [&](const csr::Field& f) { return f.get(reg(csr::kCtrl)) != 0; };
  values_.sack_base_self = flag(csr::kCtrlSackBaseSelf);
  values_.oor_drop = flag(csr::kCtrlOorDrop);
  values_.ev_swap = flag(csr::kCtrlEvSwap);
  values_.bth_m = flag(csr::kCtrlBthM);
  values_.rtt_rtx = flag(csr::kCtrlRttRtx);
  values_.payload_bytes = flag(csr::kCtrlPayloadBytes);
  values_.udp_port = static_cast<uint16_t>(csr::kUdpPortPort.get(reg(csr::kUdpPort)));
  values_.dscp_data = static_cast<uint8_t>(csr::kDscpTxData.get(reg(csr::kDscpTx)));
  values_.dscp_rtx = static_cast<uint8_t>(csr::kDscpTxRtx.get(reg(csr::kDscpTx)));
  values_.dscp_ctl = static_cast<uint8_t>(csr::kDscpTxCtl.get(reg(csr::kDscpTx)));
  values_.dscp_trimmed = static_cast<uint8_t>(csr::kDscpTrimTrimmed.get(reg(csr::kDscpTrim)));
  values_.dscp_lasthop = static_cast<uint8_t>(csr::kDscpTrimLasthop.get(reg(csr::kDscpTrim)));
  values_.mac = uint64_t{csr::kMacHiMac.get(reg(csr::kMacHi))} << 32 | reg(csr::kMacLo);
  values_.ip = 0;
  for (unsigned i = 0; i < 4; ++i) values_.ip |= U128{reg(csr::kIp0 + 4 * i)} << (32 * i);
  values_.reorder = static_cast<uint16_t>(csr::kReorderPkts.get(reg(csr::kReorder)));
  values_.same_ev = csr::kReorderSameEv.get(reg(csr::kReorder)) != 0;
  values_.sack_trigger = csr::kSackTriggerBytes.get(reg(csr::kSackTrigger));
  values_.ev_min_active = static_cast<uint16_t>(csr::kEvCtlMinActive.get(reg(csr::kEvCtl)));
  values_.probe_interval = static_cast<uint16_t>(csr::kEvProbeInterval.get(reg(csr::kEvProbe)));
  values_.probe_successes = static_cast<uint8_t>(csr::kEvProbeSuccesses.get(reg(csr::kEvProbe)));
  values_.probe_skip_good = csr::kEvProbeSkipGood.get(reg(csr::kEvProbe)) != 0;
  values_.srv6 = reg(csr::kSrv6);
  for (unsigned p = 0; p < kMaxPlanes; ++p) values_.rev_ev[p] = reg(csr::kRevEv0 + 4 * p);
  cfg_.index = static_cast<uint16_t>(csr::kTblCmdIndex.get(reg(csr::kTblCmd)));
  cfg_.table = static_cast<uint8_t>(csr::kTblCmdTable.get(reg(csr::kTblCmd)));
  for (unsigned i = 0; i < csr::kTblData0Count; ++i) cfg_.data[i] = reg(csr::kTblData0 + 4 * i);
}

}  // namespace mrc
