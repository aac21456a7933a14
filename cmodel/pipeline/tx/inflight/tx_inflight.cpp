// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight.hpp"

namespace mrc {

using inflight::Fsm;
using inflight::Recording;
using inflight::State;

TxInflight::TxInflight(const Preset& preset, const In& in, const Out& out)
    : shared_(preset, out),
      ports_(shared_, preset),
      fsm_(shared_, in, ports_),
      record_(shared_, in),
      sack_(shared_, preset.num_planes),
      answer_(shared_),
      scan_(shared_, in),
      timer_(shared_) {}

void TxInflight::step(const CfgBus& cfg, const CsrOut& csr, unsigned port_up, bool sends) {
  fsm_.begin(cfg, sends);
  ports_.begin();
  shared_.rec_taken = shared_.ctl_taken = false;
  shared_.now.tick = csr.tick;
  shared_.now.port_up = port_up;
  Recording recording = record_.next(csr.time_wait);
  main_machine(cfg, csr, recording);
  // Record last: the main machine has seen nxt, msn_sent and fsent of this cycle.
  if (recording != Recording::No) record_.record(recording == Recording::Begin);
  // Counters too.
  fsm_.end();
  ports_.end(port_up, csr.port_wait, fsm_.cfg_ack());
}

void TxInflight::main_machine(const CfgBus& cfg, const CsrOut& csr, Recording& recording) {
  const bool is_sack = shared_.now.ctl.kind == CtlKind::Sack;
  switch (shared_.now.state) {
    case State::Idle:
      if (fsm_.idle(cfg, csr, record_.mine(), recording) == Fsm::Choice::Visit) {
        const QpIndex index = fsm_.visit();
        ports_.visit(index);
        timer_.visit(index, csr, fsm_.quiet());
      }
      break;
    case State::Rec:
      record_.rec();
      break;
    case State::Reclaim:
      shared_.qps.reclaim();
      break;
    case State::Ctl0:
      if (!fsm_.answer_may_begin()) break;
      is_sack ? sack_.ctl0(csr) : answer_.ctl0(csr);
      break;
    case State::Ctl1:
      if (is_sack) {
        sack_.ctl1(csr);
      } else if (shared_.now.ctl.kind == CtlKind::Returned) {
        answer_.returned();
      } else {
        answer_.nack(csr);
      }
      break;
    case State::Row:
      sack_.row(csr);
      break;
    case State::Done: {
      const bool next = fsm_.next_answer(cfg, record_.mine());
      sack_.done(csr);
      if (next && shared_.now.state == State::Idle) fsm_.go_on(recording);
      break;
    }
    case State::Same0:
      sack_.same0();
      break;
    case State::Same1:
      sack_.same1();
      break;
    case State::Ack: {
      if (!fsm_.answer_may_begin()) break;
      const bool next = fsm_.next_answer(cfg, record_.mine()) && !syndrome_nak(shared_.now.ctl.reason);
      answer_.ack();
      if (next) fsm_.go_on(recording);
      break;
    }
    case State::Retx0:
      scan_.retx0();
      break;
    case State::Scan:
      scan_.scan();
      break;
    case State::Retx1:
      scan_.retx1(csr);
      break;
    case State::RetxW:
      if (scan_.retx_wait(csr)) fsm_.hold();
      break;
    case State::Walk0:
      shared_.rows_from(State::Walk);
      break;
    case State::Walk:
      timer_.walk(csr);
      break;
    case State::Notified0:
      shared_.rows_from(State::Notified);
      break;
    case State::Notified:
      timer_.notified();
      break;
    case State::Seek:
      ports_.seek(csr.state_silent);
      break;
    case State::Port0:
      ports_.port0();
      break;
    case State::Port1:
      ports_.port1();
      break;
    case State::Port2:
      ports_.port2();
      break;
    case State::Port3:
      ports_.port3();
      break;
  }
}

}  // namespace mrc
