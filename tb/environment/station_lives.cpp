// SPDX-License-Identifier: Apache-2.0
/// How lives of a NIC and of its QPs end and begin: by the pin, by software (docs/design/blocks/reset.md).
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "tb/environment/station.hpp"

namespace mrc::tb {

void Station::take_over(Station& former) {
  rx_ = std::move(former.rx_);
  tx_ = std::move(former.tx_);
  watcher_ = former.watcher_;
  for (TxMac& mac : tx_) {
    while (FramePtr frame = mac.rest()) leave(std::move(frame));
  }
  if (forger_) forger_->forget();  // those frames have numbers of the life before
}

/// The pin is low: the NIC sees anything at its inputs, and what comes in at its ports goes by.
void Station::hold_in_reset(mrc_pins_in& in) {
  const unsigned planes = (1u << preset_.num_planes) - 1;
  if (begin_ != 0) {
    const auto some = [this](auto& pin, uint64_t bits) {
      pin = static_cast<std::remove_reference_t<decltype(pin)>>(reset_rng_.next() & bits);
    };
    for (uint8_t* pin :
         {&in.awvalid, &in.wvalid, &in.bready, &in.arvalid, &in.rready, &in.wqe_valid, &in.cqe_ready, &in.host_rd_ready,
          &in.host_rsp_valid, &in.host_rsp_err, &in.host_fail_valid, &in.host_wr_ready})
      some(*pin, 1);
    for (uint8_t* pin : {&in.tx_tready, &in.rx_tlast, &in.rx_tuser}) some(*pin, planes);
    some(in.awaddr, 0xffff);
    some(in.araddr, 0xffff);
    some(in.wdata, ~uint32_t{0});
    receive(in, now_ps());
  }
  in.rst_n = 0;
  in.link_up = static_cast<uint8_t>(planes);
  if (++cycle_ < begin_ + kResetCycles) return;
  for (unsigned p = 0; p < preset_.num_planes; ++p) planes_[p].rx_frames = rx_[p].halve();
}

void Station::keep_host(Station& former) {
  std::swap(source_, former.source_);
  std::swap(requester_, former.requester_);
  std::swap(responder_, former.responder_);
  responder_->cut_off();
  requester_->withdraw();
  const auto qps = static_cast<unsigned>(own_.requester_plan().size());
  for (unsigned qp = 0; qp < qps; ++qp) requester_->give_up(qp);
}

void Station::reset_qp(unsigned qp) {
  if (requester_->dead(qp)) {  // in ERROR: there is no way out of it but RESET
    force_rts(driver_, own_, qp, [this, qp](uint32_t, unsigned resp) {
      if (resp == 0) fail("a QP in ERROR went to RTS", "csr", static_cast<int>(qp));
    });
  }
  sent_rules_.reset(qp);
  const uint32_t reset = static_cast<uint32_t>(QpState::Reset);
  const auto reported = [this, qp](bool ordered) {
    if (recorder_ != nullptr) recorder_->moved(qp, QpState::Reset, now_ps(), ordered);
  };
  driver_.before_next([reported] { reported(true); });
  driver_.row(csr::kTblQpStateId, qp, std::span(&reset, 1), [this, reported, qp](uint32_t, unsigned resp) {
    if (resp != 0) fail("a QP did not go to RESET", "csr", static_cast<int>(qp));
    reported(false);
  });
}

void Station::fence() {
  driver_.before_next([this] { fences_.begins(cycle_); });
  driver_.fence([this](uint32_t value, unsigned) { see_fence(value); });
}

void Station::see_fence(uint32_t value) {
  if (std::string wrong = fences_.seen(value, cycle_); !wrong.empty()) fail(std::move(wrong), "fence");
}

void Station::reconnect_qp(unsigned qp, bool rows) {
  if (rows) connect_qp(driver_, own_, qp, moving());
  sent_rules_.connected(qp);
  responder_->forget(qp);
  host_errors_.forget(qp);
  if (forger_) forger_->forget();
}

void Station::revive_qp(unsigned qp) {
  requester_->revive(qp, own_.requester_plan(own_.qps[qp]));
  connected_ps_ = now_ps();
}

void Station::give_up_qp(unsigned qp) {
  connected_ps_ = ~uint64_t{0};
  reset_qp(qp);
  requester_->give_up(qp);
  host_errors_.give_up(qp, cycle_);
}

bool Station::gave_up(unsigned qp) const {
  constexpr uint64_t kSettled = 100;  // from the last word of cq_mux to the pins
  return !requester_->offers(qp) && host_errors_.quiet(qp) && cycle_ - cqe_cycle_ > kSettled;
}

}  // namespace mrc::tb
