// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/driver.hpp"

#include "gen/csr.hpp"

namespace mrc::tb {
namespace {

constexpr unsigned kSlvErr = 2;

}  // namespace

void Driver::begin_row(unsigned table, unsigned index, std::span<const uint32_t> words) {
  for (unsigned i = 0; i < 16 && i < words.size(); ++i) {
    if (known_[i] && shadow_[i] == words[i]) continue;
    known_[i] = true;
    shadow_[i] = words[i];
    write(static_cast<uint16_t>(csr::kTblData0 + 4 * i), words[i]);
  }
  queue_.push_back(
      {Kind::Command, csr::kTblCmd, csr::kTblCmdIndex.set(csr::kTblCmdTable.set(0, table), index), 15, {}});
}

void Driver::end_row(Done done) { queue_.push_back({Kind::Poll, csr::kCmdStatus, 0, 15, std::move(done)}); }

void Driver::fence(Done seen) {
  write(csr::kFence, csr::kFenceBusy.mask());
  queue_.push_back({Kind::Fence, csr::kFence, 0, 15, std::move(seen)});
}

/// The access has been answered.
void Driver::finish(uint32_t data, unsigned resp) {
  state_ = State::Idle;
  const Access& a = queue_.front();
  if (a.kind == Kind::Command) command_resp_ = resp;
  if (a.kind == Kind::Poll && resp == 0) {
    if (csr::kCmdStatusBusy.get(data) != 0) return;  // once more
    resp = csr::kCmdStatusCode.get(data) != 0 ? kSlvErr : command_resp_;
  }
  if (a.kind == Kind::Fence && resp == 0 && csr::kFenceBusy.get(data) != 0) {
    if (a.done) a.done(data, resp);
    return;  // once more
  }
  if (a.done) {
    a.done(data, resp);
  } else if (resp != 0 && a.kind != Kind::Command) {
    ++unexpected_;
  }
  queue_.pop_front();
  ++ended_;
}

void Driver::busy_cycle(const mrc_pins_out& out, mrc_pins_in& in) {
  while (state_ == State::Idle && queue_.front().kind == Kind::Note) {
    queue_.front().done(0, 0);
    queue_.pop_front();
  }
  if (state_ == State::Idle) {
    const Access& a = queue_.front();
    state_ = a.kind == Kind::Write || a.kind == Kind::Command ? State::Write : State::Read;
    aw_done_ = w_done_ = ar_done_ = false;
    aw_wait_ = w_wait_ = ready_wait_ = 0;
    if (dawdle_) {
      const uint64_t r = rng_.next();
      if (r & 1) aw_wait_ = r >> 8 & 7;
      if (r & 2) w_wait_ = r >> 12 & 7;
      if (r & 4) ready_wait_ = r >> 16 & 7;
    }
  }
  const Access& a = queue_.front();
  in.awvalid = in.wvalid = in.arvalid = in.bready = in.rready = 0;
  uint32_t data = 0;
  unsigned resp = 0;
  bool finished = false;
  if (state_ == State::Write) {
    if (!aw_done_) {
      if (aw_wait_ > 0) {
        --aw_wait_;
      } else {
        in.awvalid = 1;
        in.awaddr = a.address;
        aw_done_ = out.awready;
      }
    }
    if (!w_done_) {
      if (w_wait_ > 0) {
        --w_wait_;
      } else {
        in.wvalid = 1;
        in.wdata = a.data;
        in.wstrb = a.strobe;
        w_done_ = out.wready;
      }
    }
    if (out.bvalid && ready_wait_ > 0) {
      --ready_wait_;
    } else {
      in.bready = 1;
      finished = out.bvalid;
      resp = out.bresp;
    }
  } else {
    if (!ar_done_) {
      in.arvalid = 1;
      in.araddr = a.address;
      ar_done_ = out.arready;
    }
    if (out.rvalid && ready_wait_ > 0) {
      --ready_wait_;
    } else {
      in.rready = 1;
      finished = out.rvalid;
      data = out.rdata;
      resp = out.rresp;
    }
  }
  if (finished) finish(data, resp);
}

}  // namespace mrc::tb
