// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ctl/csr.hpp"

#include <bit>

#include "pipeline/ctl/csr_table_write.hpp"
#include "protocol/qp_state.hpp"

namespace mrc {

using csr::Access;

namespace {

/// Is this register part of a command, and so not written while one is under way?
constexpr bool of_command(unsigned word) {
  return word == csr::kTblCmd / 4 || word == csr::kQpAttr / 4 ||
         (word >= csr::kTblData0 / 4 && word < csr::kTblData0 / 4 + csr::kTblData0Count);
}

}  // namespace

Csr::Csr(const Preset& preset, Stream<Evev>& evev, Stream<Pmask>& pmask, const Qperrs& qperr, Stream<Evr>& evr,
         Stream<Evp>& evp)
    : preset_(preset),
      evev_(evev),
      pmask_(pmask),
      qperr_(qperr),
      evr_(evr),
      evp_(evp),
      qps_(preset.num_qps),
      peers_(preset.num_dests, {.mask = static_cast<uint8_t>((1u << preset.num_planes) - 1)}),
      ticks_(preset) {
  for (const csr::Register& r : csr::kRegisters) {
    uint32_t mask = 0;
    for (const csr::Field& f : r.fields) mask |= f.mask();
    for (unsigned i = 0; i < r.count; ++i) {
      const unsigned word = (r.offset + i * r.stride) / 4;
      reg_[word] = r.reset;
      exists_[word] = true;
      writable_[word] = r.access != Access::Ro;
      mask_[word] = r.fields.empty() ? ~0u : mask;
    }
  }
  reg_[csr::kCaps0 / 4] = csr::kCaps0Planes.set(0, preset.num_planes) | csr::kCaps0Qps.set(0, preset.num_qps) |
                          csr::kCaps0WqeLog2.set(0, static_cast<uint32_t>(std::bit_width(preset.wqe_depth - 1)));
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
          .rdata = q_.rdata,
          .irq = q_.irq};
}

void Csr::step(const In& in) {
  d_.irq = (irq() & reg_[csr::kIrqEnable / 4]) != 0;
  // Reads first: they see the registers of this cycle.
  if (q_.rvalid) {
    if (in.rready) d_.rvalid = false;
  } else if (in.arvalid) {
    const unsigned word = in.araddr / 4;
    const bool ok = word < kWords && exists_[word];
    d_.rvalid = true;
    d_.rdata = ok ? (word == csr::kEvq / 4 ? take_event() : value(word, in)) : 0;
    d_.rresp = ok ? 0 : kSlvErr;
  }
  evp_busy_ = csr::kEvpResState.get(reg_[csr::kEvpRes / 4]) == kEvpOnItsWay;
  if (evr_.has()) {
    const Evr& r = evr_.head();
    reg_[csr::kEvpRes / 4] =
        csr::kEvpResState.set(0, r.answered ? kEvpAnswered : kEvpNotAnswered) | csr::kEvpResRtt.set(0, r.rtt);
    evr_.pop();
    raise(csr::kIrqEvp);
  }
  if (q_.bvalid) {
    if (in.bready) d_.bvalid = d_.aw_full = d_.w_full = false;
  } else if (q_.aw_full && q_.w_full) {
    write();
  }
  reports_ = true;
  switch (q_.state) {
    case State::Idle:
      idle();
      break;
    case State::Cfg:
      if (in.all_ack) {
        d_.cfg_req = false;
        d_.state = State::CfgEnd;
      }
      break;
    case State::CfgEnd:
      if (in.any_ack) break;
      d_.state = State::Idle;
      if (!q_.internal) end_command();
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
  if (evev_.has()) queue_event();
  if (reports_) take_reports();
  d_.happened |= happens_;  // what happens while software clears it stays
  happens_ = 0;
}

/// What a read of a register gives.
uint32_t Csr::value(unsigned word, const In& in) const {
  const uint32_t sel = csr::kQpSelIndex.get(reg_[csr::kQpSel / 4]);
  switch (word * 4) {
    case csr::kQpInfo: {
      const Qp& q = qps_[sel & (qps_.size() - 1)];
      return csr::kQpInfoState.set(0, static_cast<uint32_t>(q.state)) | csr::kQpInfoStatus.set(0, q.status);
    }
    case csr::kPeerInfo:
      return csr::kPeerInfoPorts.set(0, peers_[sel & (peers_.size() - 1)].mask);
    case csr::kPorts:
      return csr::kPortsUp.set(0, in.port_up);
    case csr::kCmdStatus:
      return csr::kCmdStatusBusy.set(reg_[word], q_.busy);
    case csr::kIrq:
      return irq();
    case csr::kFence:
      return fence_go_ ? in.fence | csr::kFenceBusy.mask() | csr::kFenceCore.mask() : in.fence;
    default:
      return reg_[word];
  }
}

/// What IRQ holds in this cycle.
uint32_t Csr::irq() const { return csr::kIrqEvq.set(q_.happened, evq_.valid()); }

/// An error of a QP, else a peer's mask, else the command of software; masks and commands take turns.
void Csr::idle() {
  if (notify_ != 0) {
    notify_error();
  } else if (heard_ != 0 && !(turn_ && q_.busy)) {
    notify_mask();
  } else if (q_.busy) {
    command();
  }
}

void Csr::notify_error() {
  unsigned qp = 0;
  while (!qps_[qp].notify) ++qp;
  qps_[qp].notify = false;
  --notify_;
  start_internal(CfgTable::QpState, static_cast<QpIndex>(qp), static_cast<uint8_t>(QpState::Error));
}

void Csr::notify_mask() {
  const unsigned last = static_cast<unsigned>(peers_.size()) - 1;
  unsigned dest = first_;
  while (!peers_[dest].heard) dest = (dest + 1) & last;
  peers_[dest].heard = false;
  --heard_;
  first_ = (dest + 1) & last;
  turn_ = true;
  start_internal(CfgTable::PeerPorts, static_cast<QpIndex>(dest), peers_[dest].mask);
}

/// What the blocks report is kept, whatever the table machine is doing: none of them ever waits for it.
void Csr::take_reports() {
  if (pmask_.has()) {
    const Pmask& m = pmask_.head();
    set_peer(m.dest, m.mask);
    Peer& peer = peers_[m.dest & (peers_.size() - 1)];
    heard_ += !peer.heard;
    peer.heard = true;
    pmask_.pop();
  }
  for (Stream<Qperr>* from : qperr_.blocks) {
    if (!from->has()) continue;
    qp_error(from->head());
    from->pop();
    return;
  }
  if (qperr_.host.valid()) {
    qp_error(qperr_.host.head());
    qperr_.host.pop();
  }
}

void Csr::qp_error(const Qperr& e) {
  if (e.qp >= qps_.size()) return;  // only the host may name one that there is not
  Qp& q = qps_[e.qp];
  if (!qp_may_fail(q.state)) return;
  q = {.state = QpState::Error, .status = static_cast<uint8_t>(e.status), .notify = true};
  ++notify_;
  ++reg_[csr::kCntQpErr / 4];
  raise(csr::kIrqQpErr);
}

void Csr::start_internal(CfgTable table, QpIndex index, uint8_t value) {
  d_.internal = true;
  d_.table = table;
  d_.index = index;
  d_.value = value;
  republish_ = true;
  d_.cfg_req = true;
  d_.state = State::Cfg;
}

void Csr::set_peer(unsigned dest, unsigned mask) {
  peers_[dest & (peers_.size() - 1)].mask = static_cast<uint8_t>(mask & ((1u << preset_.num_planes) - 1));
}

/// Into the queue of EV events, or lost.
void Csr::queue_event() {
  if (evq_.ready()) {
    evq_.push(evev_.head());
    evq_moved_ = true;
  } else {
    dropped_ = true;
    raise(csr::kIrqEvqDrop);
  }
  evev_.pop();
}

/// A read of EVQ: the oldest event, which the read takes, or 0.
uint32_t Csr::take_event() {
  if (!evq_.valid()) return 0;
  const Evev& e = evq_.head();
  evq_.pop();
  evq_moved_ = true;
  return csr::kEvqValid.set(0, 1) | csr::kEvqQp.set(0, e.qp) | csr::kEvqFloor.set(0, e.floor) |
         csr::kEvqState.set(0, e.state) | csr::kEvqEvIdx.set(0, e.ev_idx);
}

/// AW and W are there: the register is written, and the response goes out in the next cycle.
void Csr::write() {
  const unsigned word = q_.awaddr / 4;
  bool ok = word < kWords && writable_[word];
  if (ok) {
    uint32_t strobes = 0;
    for (unsigned i = 0; i < 4; ++i) strobes |= q_.wstrb >> i & 1 ? 0xffu << (8 * i) : 0;
    const uint32_t value = ((reg_[word] & ~strobes) | (q_.wdata & strobes)) & mask_[word];
    bool stored = true;
    if (word == csr::kIrq / 4) {
      d_.happened &= ~(q_.wdata & strobes);
      stored = false;
    } else if (word == csr::kFence / 4) {
      fence_written_ = csr::kFenceBusy.get(q_.wdata & strobes) != 0;
      stored = false;
    } else if (word == csr::kEvpCmd / 4) {
      ok = stored = probe_write(value);
    } else if (of_command(word)) {
      ok = stored = !q_.busy;
      if (ok && word == csr::kTblCmd / 4) {
        d_.busy = true;
        reg_[csr::kCmdStatus / 4] = 0;
      }
    }
    if (stored) {
      written_ = word;
      written_value_ = value;
    }
  }
  d_.bvalid = true;
  d_.bresp = ok ? 0 : kSlvErr;
}

/// The command of software has its turn: it is judged, and broadcast if it is good.
void Csr::command() {
  turn_ = reports_ = false;
  if (!judge()) {
    end_command();
    return;
  }
  d_.internal = false;
  republish_ = true;
  d_.cfg_req = true;
  d_.state = State::Cfg;
}

void Csr::end_command() {
  d_.busy = false;
  raise(csr::kIrqCmd);
}

/// True when the command is to be broadcast.
bool Csr::judge() {
  const uint32_t command = reg_[csr::kTblCmd / 4];
  const unsigned table = csr::kTblCmdTable.get(command), index = csr::kTblCmdIndex.get(command);
  std::array<uint32_t, csr::kTblData0Count> data{};
  for (unsigned i = 0; i < data.size(); ++i) data[i] = reg_[csr::kTblData0 / 4 + i];
  Qp& qp = qps_[index & (qps_.size() - 1)];
  const CmdOutcome o =
      judge_table_write(table, index, data, csr::kQpAttrMask.get(reg_[csr::kQpAttr / 4]), qp.state, preset_);
  reg_[csr::kCmdStatus / 4] =
      csr::kCmdStatusCode.set(0, static_cast<uint32_t>(o.code)) | csr::kCmdStatusDetail.set(0, o.detail);
  if (o.code != CmdCode::Ok) return false;
  switch (static_cast<CfgTable>(table)) {
    case CfgTable::QpCtx:
    case CfgTable::QpState:
      qp = {.state = csr::TblQpState::unpack(data.data()).state};  // QP_CTX has it in the same place
      break;
    case CfgTable::PeerPorts:
      set_peer(index, csr::TblPeerPorts::unpack(data.data()).mask);
      break;
    default:
      break;
  }
  return true;
}

/// Sends an EV probe; false while one is on its way.
bool Csr::probe_write(uint32_t command) {
  if (evp_busy_) return false;
  evp_.load({.dest = static_cast<uint16_t>(csr::kEvpCmdDest.get(command)),
             .plane = static_cast<uint8_t>(csr::kEvpCmdPlane.get(command)),
             .ev = reg_[csr::kEvpEv / 4],
             .tc_valid = csr::kEvpCmdTcValid.get(command) != 0,
             .tc = static_cast<uint8_t>(csr::kEvpCmdTc.get(command))});
  reg_[csr::kEvpRes / 4] = csr::kEvpResState.set(0, kEvpOnItsWay);
  return true;
}

void Csr::clock() {
  q_ = d_;
  fence_go_ = fence_written_;
  fence_written_ = false;
  cfg_.req = q_.cfg_req;
  if (ticks_.cycle()) ++values_.tick;
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
  if (written_ != kWords) {
    reg_[written_] = written_value_;
    written_ = kWords;
    publish();
  } else if (republish_) {
    publish_cfg();
  }
  republish_ = false;
}

/// What the blocks see of the registers.
void Csr::publish() {
  mrc::publish(values_, [&](uint32_t offset) { return reg_[offset / 4]; });
  publish_cfg();
}

/// The level that the blocks see with cfg_req: software's row, or the NIC's own value in front of it.
void Csr::publish_cfg() {
  const auto reg = [&](uint32_t offset) { return reg_[offset / 4]; };
  if (q_.internal) {
    cfg_.index = q_.index;
    cfg_.table = static_cast<uint8_t>(q_.table);
    cfg_.data = {q_.value};
    return;
  }
  cfg_.index = static_cast<QpIndex>(csr::kTblCmdIndex.get(reg(csr::kTblCmd)));
  cfg_.table = static_cast<uint8_t>(csr::kTblCmdTable.get(reg(csr::kTblCmd)));
  for (unsigned i = 0; i < csr::kTblData0Count; ++i) cfg_.data[i] = reg(csr::kTblData0 + 4 * i);
}

}  // namespace mrc
