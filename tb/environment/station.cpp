// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/station.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "gen/headers.hpp"
#include "protocol/nscc_config.hpp"

namespace mrc::tb {
namespace {

uint64_t cycles_of(double ns, const Preset& preset) { return static_cast<uint64_t>(ns * 1000 / preset.clock_ps); }

std::vector<uint32_t> peers_of(const SidePlan& side) {
  std::vector<uint32_t> peers;
  for (unsigned qp = 0; qp < side.rows(); ++qp) peers.push_back(side.peer_qpn(qp));
  return peers;
}

}  // namespace

Station::Station(const Setup& s)
    : preset_(s.preset),
      scenario_(s.scenario),
      own_(s.own),
      is_dut_(s.is_dut),
      recorder_(s.recorder),
      cycle_(s.begin),
      begin_(s.begin),
      host_rng_(s.seed, random_stream("host", s.is_dut)),
      csr_rng_(s.seed, random_stream("csr", s.is_dut)),
      driver_(Rng(s.seed, random_stream("bus", s.is_dut))),
      source_(std::make_unique<SourceMemory>(s.own.source_size, s.own.source_base,
                                             Rng(s.seed, random_stream("memory", s.is_dut)))),
      requester_(std::make_unique<Requester>(s.preset, s.scenario, *source_, s.own.requester_plan(), s.other.regions,
                                             s.packets, Rng(s.seed, random_stream("traffic", s.is_dut)))),
      host_writes_(s.preset),
      host_reads_(s.preset, peers_of(s.own), s.scenario.read_errors > 0, csr::kCtrlIcrcOuter.get(s.own.ctrl) != 0),
      host_errors_(s.preset, s.scenario, Rng(s.seed, random_stream("host errors", s.is_dut))),
      sent_rules_(s.own),
      interrupts_(s.preset.num_qps),
      fences_(s.preset),
      other_host_size_(s.other.host_size),
      read_cycles_(std::max<uint64_t>(1, cycles_of(s.scenario.read_ns, s.preset))),
      read_jitter_(cycles_of(s.scenario.read_jitter_ns, s.preset)),
      stall_threshold_(static_cast<uint32_t>(s.scenario.stall * 65536)),
      pause_per_cycle_(s.scenario.pause * s.preset.clock_ps * 1e-6),
      cqe_pause_per_cycle_(s.scenario.cqe_pause * s.preset.clock_ps * 1e-6),
      pause_cycles_(cycles_of(s.scenario.pause_ns, s.preset)),
      cqe_pause_cycles_(cycles_of(s.scenario.cqe_pause_ns, s.preset)),
      flap_rng_(s.seed, random_stream("ports", s.is_dut)),
      stand_rng_(s.seed, random_stream("standing ports", s.is_dut)),
      ports_up_((1u << s.preset.num_planes) - 1),
      reset_rng_(s.seed, random_stream("inputs in reset", s.is_dut)),
      link_(s.preset, s.scenario, s.seed, s.is_dut) {
  link_.trim_codes(csr::kDscpTrimTrimmed.get(s.own.dscp_trim), csr::kDscpTrimLasthop.get(s.own.dscp_trim));
  if (csr::kDscpTrimReturnedValid.get(s.own.dscp_trim) != 0)
    link_.return_code(csr::kDscpTrimReturned.get(s.own.dscp_trim));
  if (s.own.dests > 1) link_.receiver(s.other.ip);
  link_.zero_legal(csr::kCtrlZeroLength.get(s.own.ctrl) == static_cast<uint32_t>(ZeroLength::Legal));
  link_.icrc_outer(csr::kCtrlIcrcOuter.get(s.own.ctrl) != 0);
  if (scenario_.read_ns == 0 && scenario_.read_jitter_ns == 0) {
    // A lane prefetches LineFifo lines: its port sends them in this time.
    const double prefetch_ns = 8.0 * preset_.line_fifo * preset_.host_bytes / preset_.port_gbps;
    read_cycles_ = std::max<uint64_t>(1, cycles_of(0.4 * prefetch_ns, preset_));
    read_jitter_ = cycles_of(0.3 * prefetch_ns, preset_);
  }
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    tx_.emplace_back(preset_, p);
    rx_.emplace_back(preset_, p);
  }
  if (scenario_.fuzz_us > 0 && !is_dut_) forger_.emplace(preset_, scenario_, s.seed, s.other);
  configure(driver_, preset_, own_, moving());
}

Moving Station::moving() {
  if (recorder_ == nullptr) return {};
  return [this](unsigned qp, QpState to) {
    if (recorder_ != nullptr) recorder_->moved(qp, to, now_ps());
  };
}

void Station::connect(Station& other) {
  responder_ = std::make_unique<Responder>(preset_, *other.source_, own_.host_size, own_.host_base, 0);
  if (scenario_.may_fail) responder_->expect_refusals();
  if (may_overrun(scenario_)) responder_->expect_overruns(scenario_.max_wimm_dest);
}

void Station::start_traffic() {
  if (traffic_) return;
  traffic_ = true;
  traffic_begin_ = series_next_ = cycle_;
  connected_ps_ = now_ps();
  link_.begin(connected_ps_);
}

void Station::fail(std::string what, const char* block, int qp) {
  if (!problem_.empty()) return;
  problem_ = std::move(what);
  problem_block_ = block;
  problem_cycle_ = cycle_;
  problem_qp_ = qp;
}

void Station::cycle(const mrc_pins_out& out, mrc_pins_in& in) {
  if (in_reset()) {
    hold_in_reset(in);
    return;
  }
  if (!in.rst_n) in = {};
  in.rst_n = 1;
  in.link_up = static_cast<uint8_t>(ports_up_);
  irq_ = out.irq != 0;
  if (interrupts_.stray(irq_)) fail("pin irq is up while IRQ_ENABLE is 0", "csr");
  if (cycle_ >= wait_until_ && (!driver_.idle() || in.awvalid || in.wvalid || in.arvalid)) driver_.cycle(out, in);
  if (traffic_) {
    host(out, in);
    if (scenario_.csr_gap > 0 && is_dut_ && !resting_ && cycle_ >= next_csr_) random_access();
    if (scenario_.flap_us > 0 && (is_dut_ || scenario_.peer_flap)) flap();
    if (scenario_.stand_us > 0 && is_dut_) stand();
    if (scenario_.cut_planes > 0 && is_dut_) cut();
    if (cycle_ >= series_next_) {
      if (cycle_ != traffic_begin_)
        series_.push_back(static_cast<uint32_t>(responder_->bytes_written() - series_bytes_));
      series_bytes_ = responder_->bytes_written();
      series_next_ = cycle_ + 1'000'000 / preset_.clock_ps;
    }
    in.link_up = static_cast<uint8_t>(ports_up_);
    if (recorder_) recorder_->ports(ports_up_ & ~stalled(), now_ps());
  }
  ports(out, in);
  ++cycle_;
}

void Station::host(const mrc_pins_out& out, mrc_pins_in& in) {
  // Readiness of this cycle.
  in.host_rd_ready = in.host_wr_ready = in.cqe_ready = 1;
  if (stall_threshold_ != 0) {
    const uint64_t r = host_rng_.next();
    in.host_rd_ready = (r & 0xffff) >= stall_threshold_;
    in.host_wr_ready = (r >> 16 & 0xffff) >= stall_threshold_;
    in.cqe_ready = (r >> 32 & 0xffff) >= stall_threshold_;
  }
  const auto paused = [&](double per_cycle, uint64_t cycles, uint64_t& until) {
    if (per_cycle <= 0) return false;
    if (cycle_ < until) return true;
    if (host_rng_.chance(per_cycle)) until = cycle_ + 1 + host_rng_.below(2 * cycles + 1);
    return false;
  };
  if (paused(pause_per_cycle_, pause_cycles_, pause_until_)) in.host_wr_ready = 0;
  if (paused(cqe_pause_per_cycle_, cqe_pause_cycles_, cqe_pause_until_)) in.cqe_ready = 0;

  // Reads.
  if (out.host_rd_valid && in.host_rd_ready) {
    const Rdreq rd = Rdreq::unpack(out.host_rd);
    const uint8_t* data = source_->at(rd.addr, rd.len);
    if (!data || rd.len == 0 || rd.len > preset_.host_bytes || rd.plane >= preset_.num_planes) {
      fail(fmt::format("host read of {} bytes at {:#x} for plane {}: no WQE names those", rd.len, rd.addr, rd.plane),
           "tx_fetch");
      return;
    }
    uint64_t ready = cycle_ + read_cycles_;
    if (read_jitter_ > 0) ready += host_rng_.below(read_jitter_ + 1);
    uint64_t& order = read_ready_[rd.plane];
    order = std::max(order, ready);
    reads_[rd.plane].push_back({order, data, rd.qp});
    fences_.requested(rd.plane);
    if (recorder_) recorder_->read(rd, now_ps());
    reads_pending_ |= 1u << rd.plane;
  }
  in.host_rsp_valid = 0;
  if (reads_pending_ != 0) {
    const unsigned rotated = (reads_pending_ | reads_pending_ << 8) >> (last_rsp_ + 1);
    for (unsigned m = rotated & 0xff; m != 0; m &= m - 1) {
      const unsigned p = (last_rsp_ + 1 + static_cast<unsigned>(std::countr_zero(m))) & 7;
      std::deque<Read>& queue = reads_[p];
      if (queue.front().ready_cycle > cycle_) continue;
      answer(p, in);
      break;
    }
  }

  // Writes.
  if (out.host_wr_valid) line_cycle_ = cycle_;
  if (out.host_wr_valid && in.host_wr_ready && !write(out)) return;

  // What it says about QPs.
  in.host_fail_valid = 0;
  if (const Qperr* says = host_errors_.says(cycle_)) {
    in.host_fail_valid = 1;
    says->pack(in.host_fail);
    if (out.host_fail_ready) {
      if (recorder_ && says->qp < own_.requester_plan().size()) recorder_->moved(says->qp, QpState::Error, now_ps());
      host_errors_.taken(cycle_);
    }
  }

  // Completions.
  if (out.cqe_valid) cqe_cycle_ = cycle_;
  if (out.cqe_valid && in.cqe_ready) {
    const Cqe cqe = Cqe::unpack(out.cqe);
    if (recorder_) recorder_->completed(cqe, now_ps());
    std::string wrong = cqe.recv ? responder_->completion(cqe) : requester_->completion(cqe);
    if (!wrong.empty()) fail(std::move(wrong), "cq_mux", cqe.qp);
    last_progress_ = cycle_;
  }

  // Work requests.
  in.wqe_valid = 0;
  if (const Wqe* wqe = requester_->offer()) {
    in.wqe_valid = 1;
    wqe->pack(in.wqe);
    if (out.wqe_ready) {
      if (recorder_) recorder_->posted(*wqe, now_ps());
      requester_->taken();
    }
  }
}

/// The oldest read of a plane is answered: with its line, or with anything and an error.
void Station::answer(unsigned plane, mrc_pins_in& in) {
  std::deque<Read>& queue = reads_[plane];
  const Read read = queue.front();
  queue.pop_front();
  if (queue.empty()) reads_pending_ &= ~(1u << plane);
  last_rsp_ = plane;
  const bool error = host_errors_.reads(read.qp, cycle_);
  in.host_rsp_valid = 1;
  in.host_rsp_plane = static_cast<uint8_t>(plane);
  in.host_rsp_err = error;
  if (error) {
    host_errors_.fill(in.host_rsp_data, preset_.host_bytes);
  } else {
    std::memcpy(in.host_rsp_data, read.data, preset_.host_bytes);  // bytes beyond len: whatever follows
  }
  host_reads_.given(plane, read.qp, error);
  fences_.answered(plane);
  if (recorder_) recorder_->read_done(plane, in.host_rsp_data, error, now_ps());
}

/// A line that the host takes. False: it cannot be in memory.
bool Station::write(const mrc_pins_out& out) {
  if (recorder_) recorder_->wrote(out.host_wr_addr, out.host_wr_len, out.host_wr_data, now_ps());
  if (out.host_wr_len == 0 || out.host_wr_len > preset_.host_bytes) {
    fail(fmt::format("host write of {} bytes", out.host_wr_len), "rx_place");
    return false;
  }
  if (const char* wrong = responder_->write(out.host_wr_addr, out.host_wr_len, out.host_wr_data)) {
    fail(fmt::format("host write of {} bytes at {:#x} {}", out.host_wr_len, out.host_wr_addr, wrong), "rx_place");
    return false;
  }
  last_progress_ = cycle_;
  if (const int qp = responder_->qp_at(out.host_wr_addr); std::cmp_not_equal(qp, out.host_wr_qp)) {
    fail(fmt::format("host write of {} bytes at {:#x} names QP {}: the message that goes there is one of QP {}",
                     out.host_wr_len, out.host_wr_addr, out.host_wr_qp, qp),
         "rx_place", qp);
  }
  if (std::string wrong = host_writes_.taken(out); !wrong.empty()) fail(std::move(wrong), "rx_place", out.host_wr_qp);
  if (out.host_wr_last) host_errors_.wrote(out.host_wr_qp, cycle_);
  return true;
}

std::string Station::finish() const {
  if (std::string wrong = responder_->finish(); !wrong.empty()) return wrong;
  // Packets of QPs that have failed may still be on their way: then the next line is there, or soon.
  constexpr uint64_t kSoon = 1000;
  return cycle_ - line_cycle_ < kSoon ? std::string() : host_writes_.finish();
}

void Station::ports(const mrc_pins_out& out, mrc_pins_in& in) {
  const uint64_t now = now_ps();
  // Transmit: tready is a function of the MAC's state at the beginning of the cycle.
  unsigned ready = 0;
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    TxMac& mac = tx_[p];
    const bool take = mac.ready() && !(traffic_ && (standing_ >> p & 1));
    ready |= unsigned{take} << p;
    if (take || !(out.tx_tvalid >> p & 1)) waits_from_[p] = cycle_ + 1;
    if (take && (out.tx_tvalid >> p & 1)) {
      if (const char* wrong = mac.beat(out.tx_tdata[p], out.tx_tkeep[p], out.tx_tlast >> p & 1, now)) {
        fail(fmt::format("port {}: {}", p, wrong), "tx_lane");
      }
    }
    if (forger_ && forge(p, now)) continue;
    if (FramePtr frame = mac.start(now)) sent(std::move(frame));
  }
  in.tx_tready = static_cast<uint8_t>(ready);
  receive(in, now);
}

void Station::receive(mrc_pins_in& in, uint64_t now) {
  unsigned valid = 0, last = 0, error = 0;
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    RxMac::Beat beat;
    RxMac& mac = rx_[p];
    if (!mac.beat(now, beat)) continue;
    valid |= 1u << p;
    in.rx_tkeep[p] = beat.bytes == 32 ? ~0u : (1u << beat.bytes) - 1;
    std::memcpy(in.rx_tdata[p], beat.data, beat.bytes);
    if (const Frame* frame = mac.begun()) {
      ++planes_[p].rx_frames;
      if (watcher_) watcher_->frame(false, p, mac.begun_ps(), frame->bytes, frame->fate);
      if (recorder_) recorder_->begun(p, mac.begun_ps());
    }
    if (beat.last) {
      const bool half = (mac.finished()->fate & kFateHalf) != 0;
      if (recorder_ && half) recorder_->half_received(p, now);
      if (recorder_ && !half && !in_reset()) recorder_->received(*mac.finished(), mac.begun_ps(), now);
      came(*mac.finished(), p, now);
      last |= 1u << p;
      error |= unsigned{beat.error} << p;
    }
  }
  in.rx_tvalid = static_cast<uint8_t>(valid);
  in.rx_tlast = static_cast<uint8_t>(last);
  in.rx_tuser = static_cast<uint8_t>(error);
}

/// A frame has come in whole; or its end alone, after a reset: nobody knows it.
void Station::came(const Frame& frame, unsigned plane, uint64_t now) {
  if (in_reset()) return;
  if (!traffic_ || (frame.fate & kFateHalf) != 0) ++perhaps_returned_;  // who it is the NIC does not know
  if ((frame.fate & kFateHalf) != 0) return;
  if ((frame.fate & kFateReturned) != 0) {
    returned_ += distinct(frame);
    return;
  }
  if (frame.forged != Forged::No) {
    // Before, nothing is set up to judge it. Of a life before, its numbers mean something else by now.
    if (traffic_ && (scenario_.lives == 1 || frame.sent_ps >= connected_ps_)) forged_.came(frame.forged);
    ++perhaps_returned_;
    if (frame.forged != Forged::Nowhere) return;  // and nothing of it may be written
  }
  if (!frame.mac_error) host_writes_.came(plane, frame.bytes);
  perhaps_returned_ += (frame.fate & kFateCorrupt) != 0;  // flipped bits of addresses and code points
  if ((frame.fate & (kFateCorrupt | kFateTrimmed | kFateRogue | kFateSpoiled | kFateForged)) != 0) return;
  const FrameInfo info = look_at(frame.bytes);
  sent_rules_.came(frame.bytes, info);
  if (!info.data()) return;
  const auto again = [&](std::unordered_map<uint64_t, uint64_t>& missing, Recovery& recovery) {
    const auto found = missing.empty() ? missing.end() : missing.find(key_of(info));
    if (found == missing.end()) return;
    ++recovery.recovered;
    recovery.worst_ps = std::max(recovery.worst_ps, now - found->second);
    missing.erase(found);
  };
  again(missing_, recovery_);
  again(missing_on_links_, link_recovery_);
}

/// Must the NIC know of a frame that it is its own? By its code point, or by its addresses, unless a switch has
/// exchanged them.
bool Station::distinct(const Frame& frame) const {
  if (csr::kCtrlReturned.get(own_.ctrl) == static_cast<uint32_t>(Returned::Peer)) return false;
  const FrameInfo info = look_at(frame.bytes);
  constexpr unsigned kBth = wire::Ipv6::kBytes + wire::Udp::kBytes;
  constexpr unsigned kLeast = kBth + wire::Bth::kBytes + wire::Meth::kBytes;  // and the time stamp, if there is one
  const bool stamped = info.mrc && (frame.bytes[info.inner + kBth + 8] & 0x10) != 0;
  if (frame.bytes.size() < info.inner + kLeast + (stamped ? wire::Tseth::kBytes : 0)) return false;
  const bool own_code =
      csr::kDscpTrimReturnedValid.get(own_.dscp_trim) != 0 && info.dscp == csr::kDscpTrimReturned.get(own_.dscp_trim);
  return own_code || (frame.fate & kFateSwapped) == 0;
}

/// A forged frame takes the wire of a port, in turn with those of the NIC.
bool Station::forge(unsigned plane, uint64_t now) {
  TxMac& mac = tx_[plane];
  const unsigned bit = 1u << plane;
  if (!traffic_ || resting_ || mac.free_ps() > now || (ports_up_ & bit) == 0) return false;
  const bool turn = !mac.waits() || (forged_last_ & bit) == 0;
  forged_last_ &= ~bit;
  if (!turn || !forger_->due(plane, now)) return false;
  FramePtr frame = forger_->frame(plane, now);
  if (!frame) return false;
  forged_last_ |= bit;
  mac.put(*frame, now);
  if (watcher_) watcher_->frame(true, plane, now, frame->bytes, kFateForged);
  link_.forged(std::move(frame));
  return true;
}

void Station::sent(FramePtr frame) {
  const FrameInfo info = look_at(frame->bytes);
  if (std::string wrong = host_reads_.sent(*frame, info); !wrong.empty()) fail(std::move(wrong), "tx_lane");
  if (std::string wrong = sent_rules_.sent(frame->bytes, info); !wrong.empty()) fail(std::move(wrong), "tx_header");
  PlaneCounters& c = planes_[frame->plane];
  ++c.tx_frames;
  const unsigned on_wire = wire_bytes(static_cast<unsigned>(frame->bytes.size()));
  c.tx_wire_bytes += on_wire;
  if (info.data()) {
    last_data_cycle_ = cycle_;
    ++(info.rtx ? c.tx_rtx : c.tx_data);
    if (!info.rtx) c.tx_payload_frames_wire_bytes += on_wire;
    ++per_ev_[info.entropy];
    if (first_data_ps_ == 0) first_data_ps_ = frame->sent_ps;
    last_data_ps_ = frame->sent_ps + uint64_t{on_wire} * byte_ps(preset_);
  } else {
    ++(info.is(wire::Opcode::Sack)   ? c.tx_sack
       : info.is(wire::Opcode::Nack) ? c.tx_nack
       : info.is(wire::Opcode::Ack)  ? c.tx_ack
                                     : c.tx_other);
  }
  leave(std::move(frame));
}

/// It is on its way, whatever the link makes of it.
void Station::leave(FramePtr frame) {
  const FrameInfo info = look_at(frame->bytes);
  if (recorder_) recorder_->sent(*frame);
  if (forger_) forger_->heard(frame->bytes, info);
  if (!(ports_up_ >> frame->plane & 1)) {
    ++frames_at_down_ports_;
    if (info.data()) port_lost(info);
    if (watcher_) watcher_->frame(true, frame->plane, frame->sent_ps, frame->bytes, kFateLost);
    return;
  }
  const unsigned plane = frame->plane;
  const uint64_t time = frame->sent_ps;
  const auto lost = [&] {
    if (info.data() && (link_.last_fate() & kFateLost) != 0) link_lost_.emplace_back(key_of(info), time);
  };
  if (!watcher_) {
    link_.transmit(std::move(frame));
    lost();
    return;
  }
  const std::vector<uint8_t> bytes = frame->bytes;
  link_.transmit(std::move(frame));
  lost();
  watcher_->frame(true, plane, time, bytes, link_.last_fate());
}

/// A cycle within twice so many microseconds.
uint64_t Station::within(Rng& rng, double us) const {
  return cycle_ + 1 + static_cast<uint64_t>(2 * rng.unit() * us * 1e6 / preset_.clock_ps);
}

void Station::flap() {
  const auto after = [&](double us) { return within(flap_rng_, us); };
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    if (flap_at_[p] == 0) flap_at_[p] = after(scenario_.flap_us * preset_.num_planes);
    if (cycle_ != flap_at_[p]) continue;
    ports_up_ ^= 1u << p;
    const bool down = !(ports_up_ >> p & 1);
    flap_at_[p] = after(down ? scenario_.flap_down_us : scenario_.flap_us * preset_.num_planes);
  }
}

/// Not later than the device knows it: its tick may end just behind the cycle in which the port begins to wait.
unsigned Station::stalled() const {
  if (own_.port_stall == 0) return 0;
  const uint64_t least = (own_.port_stall - uint64_t{1}) * kNsccTickNs * 1000;
  unsigned planes = 0;
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    const uint64_t waited = cycle_ - waits_from_[p];
    planes |= unsigned{waited != 0 && waited * preset_.clock_ps >= least} << p;
  }
  return planes;
}

void Station::stand() {
  for (unsigned p = 0; p < std::min(scenario_.stand_ports, preset_.num_planes); ++p) {
    uint64_t& at = stand_at_[p];
    if (at == cycle_) standing_ ^= 1u << p;
    if (at > cycle_) continue;
    at = within(stand_rng_, standing_ >> p & 1 ? scenario_.stand_for_us : scenario_.stand_us * preset_.num_planes);
  }
}

void Station::cut() {
  const auto at = [&](double us) { return traffic_begin_ + static_cast<uint64_t>(us * 1e6 / preset_.clock_ps); };
  const unsigned all = (1u << preset_.num_planes) - 1;
  const unsigned n = std::min(scenario_.cut_planes, preset_.num_planes);
  if (cycle_ == at(scenario_.cut_us)) ports_up_ = all >> n;
  if (scenario_.back_us > 0 && cycle_ == at(scenario_.back_us)) ports_up_ = all;
}

template <class Report>
void Station::reported(Report report) {
  if (recorder_ == nullptr) return;
  driver_.before_next([this, report] {
    if (recorder_ != nullptr) report(*recorder_, now_ps());
  });
}

/// What a controller does while traffic runs: denies and allows EVs (a quarter of a QP's at most), probes EVs, and
/// moves the windows of responders.
void Station::controller_access() {
  const auto ignore = [](uint32_t, unsigned) {};
  const auto qp = static_cast<unsigned>(csr_rng_.below(own_.requester_plan().size()));
  switch (csr_rng_.below(scenario_.dyn_mpr || scenario_.move_mpr ? 4 : 3)) {
    case 0: {
      auto ev = static_cast<uint32_t>(csr_rng_.below(preset_.evs_per_qp / 4));
      if (scenario_.backup != 0 && ev % 2 != 0) ev = preset_.evs_per_qp - ev;  // backups are at the end
      const uint32_t row = ev | static_cast<uint32_t>(csr_rng_.chance(0.6)) << 16;
      reported([qp, ev, row](Recorder& r, uint64_t now) { r.denied(qp, ev, row >> 16 != 0, now); });
      driver_.row(csr::kTblEvStateId, qp, std::span(&row, 1));
      break;
    }
    case 1: {
      const uint64_t ev = csr_rng_.next();  // what is above it: a code point, or none
      driver_.write(csr::kEvpEv, static_cast<uint32_t>(ev));
      uint32_t command = csr::kEvpCmdPlane.set(0, static_cast<uint32_t>(csr_rng_.below(preset_.num_planes)));
      command = csr::kEvpCmdDest.set(command, static_cast<uint32_t>(csr_rng_.below(own_.dests + 1)));
      uint32_t code = static_cast<uint32_t>(ev >> 32) % 64;
      while (!own_.fits_data(code)) code = (code + 1) % 64;
      command = csr::kEvpCmdTc.set(command, code);
      command = csr::kEvpCmdTcValid.set(command, static_cast<uint32_t>(ev >> 63));
      driver_.write(csr::kEvpCmd, command, ignore);  // refused: one is on its way
      break;
    }
    case 2:
      if (csr_rng_.chance(0.5)) {
        look_at_qp(qp);
      } else {
        driver_.write(csr::kQpSel, qp);
        driver_.read(csr::kPeerInfo, ignore);
      }
      break;
    default: {
      const auto mpr = static_cast<uint32_t>(csr_rng_.between(1, preset_.max_mpr / 128));
      reported([qp, mpr](Recorder& r, uint64_t now) { r.window(qp, mpr, now); });
      driver_.row(csr::kTblQpMprId, qp, std::span(&mpr, 1));
    }
  }
}

void Station::random_row() {
  // Rows that the traffic does not depend on: other values of EVs in use, QPs and regions nobody uses.
  const std::size_t used_qps = own_.requester_plan().size();
  const auto word = [&] { return static_cast<uint32_t>(csr_rng_.next()); };
  const uint64_t kind = csr_rng_.below(4);
  if (kind == 0 && used_qps < preset_.num_qps) {
    static constexpr QpState kStates[] = {QpState::Reset, QpState::Init, QpState::Rtr, QpState::Rts, QpState::Error};
    const auto index = static_cast<unsigned>(csr_rng_.between(used_qps, preset_.num_qps - 1));
    csr::TblQpCtx row;
    row.state = kStates[csr_rng_.below(5)];
    row.timeout = static_cast<uint8_t>(scenario_.rto);
    row.mtu = static_cast<uint8_t>(csr_rng_.below(5));
    row.encap = static_cast<uint8_t>(csr_rng_.below(2));
    row.mpr = row.mpr_dest = static_cast<uint8_t>(csr_rng_.between(1, preset_.max_mpr / 128));
    row.max_wimm = row.max_wimm_dest = static_cast<uint8_t>(csr_rng_.between(0, preset_.max_wimm));
    row.dqpn = word() & 0xffffff;
    row.sq_psn = word() & 0xffffff;
    row.rq_psn = word() & 0xffffff;
    row.msn = static_cast<uint16_t>(word());
    // A destination of its own, where nobody is; or one in use, and then its address: it lends it to the NIC's own
    // packets.
    row.dest = static_cast<uint16_t>(csr_rng_.below(preset_.num_dests));
    row.dip = U128{csr_rng_.next()} << 64 | csr_rng_.next();
    for (std::size_t i = 0; i < used_qps; ++i) {
      if (own_.qps[i].dest == row.dest) row.dip = own_.qps[i].dip;
    }
    uint32_t words[csr::TblQpCtx::kWords];
    row.pack(words);
    driver_.write(csr::kQpAttr, csr_rng_.chance(0.5) ? 0xfff : word() & 0xfff);
    careless_row(csr::kTblQpCtxId, index, words, [](uint32_t, unsigned) {});  // many are refused
  } else if (kind == 1 && used_qps < preset_.num_qps) {
    const auto index = static_cast<unsigned>(csr_rng_.between(used_qps, preset_.num_qps - 1));
    const uint32_t state = static_cast<uint32_t>(csr_rng_.chance(0.5) ? QpState::Reset : QpState::Error);
    careless_row(csr::kTblQpStateId, index, std::span(&state, 1), [](uint32_t, unsigned) {});
  } else if (kind == 2) {
    const auto index = static_cast<unsigned>(csr_rng_.below(preset_.num_mrs));
    if (std::find(own_.region_rows.begin(), own_.region_rows.end(), index) != own_.region_rows.end()) return;
    uint32_t words[csr::TblMr::kWords];
    for (uint32_t& w : words) w = word();
    careless_row(csr::kTblMrId, index, words);
  } else {
    const auto profile = static_cast<unsigned>(csr_rng_.below(own_.profiles.size()));
    const uint32_t ev = word() & own_.ev_mask(own_.profiles[profile]);
    const auto place = static_cast<unsigned>(csr_rng_.below(preset_.evs_per_qp));
    reported([profile, place, ev](Recorder& r, uint64_t now) { r.ev(profile, place, ev, now); });
    careless_row(csr::kTblEvId, profile * preset_.evs_per_qp + place, std::span(&ev, 1));
  }
}

/// A row; now and then software does not wait for it and writes on: refused for as long as the command is under way.
/// The command comes first: if it has ended, it is the same once more. Or it clears interrupts while the command ends.
void Station::careless_row(unsigned table, unsigned index, std::span<const uint32_t> words, Driver::Done done) {
  driver_.begin_row(table, index, words);
  if (csr_rng_.chance(0.5)) {
    const auto ignore = [](uint32_t, unsigned) {};
    const auto data = static_cast<uint32_t>(csr_rng_.next());
    if (csr_rng_.chance(0.5))
      driver_.write(csr::kTblCmd, csr::kTblCmdIndex.set(csr::kTblCmdTable.set(0, table), index), ignore);
    if (csr_rng_.chance(0.5)) driver_.write(csr::kQpAttr, data, ignore);
    if (csr_rng_.chance(0.5))
      driver_.write(static_cast<uint16_t>(csr::kTblData0 + 4 * csr_rng_.below(16)), data, ignore);
    driver_.read(static_cast<uint16_t>(4 * csr_rng_.below(0x1d0 / 4)), ignore);
    driver_.forget_rows();
  } else if (csr_rng_.chance(0.5)) {
    const uint32_t all = csr::kIrqEnableMask.mask();
    for (uint64_t n = csr_rng_.below(4); n > 0; --n)
      driver_.write(csr::kIrq, all, [this, all](uint32_t, unsigned) { interrupts_.cleared(all); });
    look_at_interrupts();
  }
  driver_.end_row(std::move(done));
}

void Station::look_at_qp(unsigned qp) {
  driver_.write(csr::kQpSel, qp);
  driver_.read(csr::kQpInfo, [this, qp](uint32_t info, unsigned) {
    interrupts_.info(qp, info);
    if (std::string wrong = host_errors_.info(qp, info, cycle_); !wrong.empty())
      fail(std::move(wrong), "csr", static_cast<int>(qp));
  });
}

void Station::look_at_interrupts() {
  driver_.before_next([this] { interrupts_.looks(irq_); });
  driver_.read(csr::kIrq, [this](uint32_t irq, unsigned) {
    if (std::string wrong = interrupts_.seen(irq, irq_); !wrong.empty()) fail(std::move(wrong), "csr");
  });
}

/// Software that is interrupted, in steps that come at random.
void Station::interrupt_access() {
  const uint32_t some = static_cast<uint32_t>(csr_rng_.next()) & csr::kIrqEnableMask.mask();
  switch (csr_rng_.below(4)) {
    case 0: {
      const uint32_t mask = csr_rng_.chance(0.5) ? csr::kIrqEnableMask.mask() : some;
      interrupts_.enabling(mask);
      driver_.write(csr::kIrqEnable, mask, [this, mask](uint32_t, unsigned) { interrupts_.enabled(mask); });
      break;
    }
    case 1:
      driver_.write(csr::kIrq, some, [this, some](uint32_t, unsigned) { interrupts_.cleared(some); });
      break;
    default:
      look_at_qp(static_cast<unsigned>(csr_rng_.below(own_.requester_plan().size())));
      look_at_interrupts();
  }
}

/// Fences: software waits for the end, or looks a few times and begins another one later; or none begins.
void Station::fence_access() {
  const auto ignore = [](uint32_t, unsigned) {};
  if (csr_rng_.chance(0.1)) {
    driver_.write(csr::kFence, ~csr::kFenceBusy.mask(), ignore);
    driver_.write(csr::kFence, ~0u, ignore, static_cast<uint8_t>(csr_rng_.below(8) << 1));
  } else if (csr_rng_.chance(0.7)) {
    fence();
    return;
  } else {
    driver_.before_next([this] { fences_.begins(cycle_); });
    driver_.write(csr::kFence, static_cast<uint32_t>(csr_rng_.next()) | csr::kFenceBusy.mask());
  }
  for (uint64_t n = csr_rng_.below(16); n > 0; --n) {
    driver_.read(csr::kFence, [this](uint32_t value, unsigned) { see_fence(value); });
  }
}

/// Software gives up a QP, whatever it is doing.
void Station::end_qp() {
  const auto qp = static_cast<unsigned>(csr_rng_.below(own_.requester_plan().size()));
  if (requester_->dead(qp)) return;
  const uint32_t error = static_cast<uint32_t>(QpState::Error);
  if (const Moving reported = moving()) driver_.before_next([reported, qp] { reported(qp, QpState::Error); });
  driver_.row(csr::kTblQpStateId, qp, std::span(&error, 1));
}

void Station::random_access() {
  // Software that looks around while traffic runs: every register, holes as well, and harmless writes.
  ++csr_accesses_;
  next_csr_ = cycle_ + 1 + csr_rng_.below(static_cast<uint64_t>(2 * scenario_.csr_gap) + 1);
  if (!driver_.idle()) return;
  driver_.dawdle(true);
  if (csr_rng_.chance(scenario_.churn)) {
    random_row();
    return;
  }
  if (scenario_.ended > 0 && csr_rng_.chance(scenario_.ended)) {
    end_qp();
    return;
  }
  if (scenario_.ecc > 0 && csr_rng_.chance(scenario_.ecc)) {
    ecc_access();
    return;
  }
  if (csr_rng_.chance(scenario_.control)) {
    controller_access();
    return;
  }
  const auto data = static_cast<uint32_t>(csr_rng_.next());
  const auto ignore = [](uint32_t, unsigned) {};
  switch (csr_rng_.below(10)) {
    case 8:
    case 9:
      interrupt_access();
      break;
    case 0:  // scratch words, bytes of them
      driver_.forget_rows();
      driver_.write(static_cast<uint16_t>(csr::kTblData0 + 4 * csr_rng_.below(16)), data, ignore,
                    static_cast<uint8_t>(csr_rng_.below(16)));
      if (!scenario_.vary) break;
      if (data % 2 != 0) {
        driver_.write(csr::kRevSeed, data % 32 == 1 ? 0 : data);
      } else if (scenario_.churn > 0 && csr::kIpPlaneEnable.get(own_.ip_plane) == 0) {
        // The bits mean nothing then, but addresses are sorted anew.
        driver_.write(csr::kIpPlane, csr::kIpPlaneLsb.set(0, data >> 25));
      }
      break;
    case 1:  // read-only ones: refused
      driver_.write(static_cast<uint16_t>(csr::kCntTx0 + 4 * csr_rng_.below(50)), data, ignore);
      break;
    case 2:  // nothing there
      if (data % 8 != 0) {
        fence_access();
        break;
      }
      driver_.write(static_cast<uint16_t>(0x1000 + 4 * csr_rng_.below(0x3000)), data, ignore);
      break;
    case 3:
      driver_.read(static_cast<uint16_t>(4 * csr_rng_.below(0x4000)), ignore);
      break;
    default:
      driver_.read(static_cast<uint16_t>(4 * csr_rng_.below(0x1d0 / 4 + 2)), ignore);
  }
}

/// The next word of one of the memories with a code is stored wrong.
void Station::ecc_access() {
  const auto memory = static_cast<uint32_t>(1 + csr_rng_.below(std::size(kEccMemoryValues) - 1));
  const uint32_t bits = csr_rng_.chance(scenario_.ecc_two) ? 2 : 1;
  uint32_t value = csr::kEccInjectMemory.set(csr::kEccInjectBits.set(0, bits), memory);
  value = csr::kEccInjectSeq.set(value, ecc_.injected++ & 15);
  driver_.write(static_cast<uint16_t>(csr::kEccInject), value);
  driver_.read(static_cast<uint16_t>(csr::kCntEccFix), [this](uint32_t data, unsigned) { ecc_.fixed = data; });
  driver_.read(static_cast<uint16_t>(csr::kCntEccBad), [this](uint32_t data, unsigned) { ecc_.bad = data; });
  if (ecc_.bad == 0) return;
  for (QpIndex qp = 0; qp < preset_.num_qps; ++qp) {
    driver_.write(static_cast<uint16_t>(csr::kQpSel), qp);
    driver_.read(static_cast<uint16_t>(csr::kQpInfo), [this, qp](uint32_t data, unsigned) {
      if (csr::kQpInfoStatus.get(data) == static_cast<uint32_t>(CqStatus::EccError)) responder_->broken(qp);
    });
  }
}

/// What switches send back to a NIC.
void Station::give_back(Station& station) {
  for (FramePtr& frame : station.link_.back()) {
    const unsigned plane = frame->plane;
    if (station.ports_up_ >> plane & 1) station.rx_[plane].arrive(std::move(frame));
  }
  station.link_.back().clear();
}

std::string Station::exchange(Station& a, Station& b) {
  const auto hand_over = [](Station& from, Station& to) -> std::string {
    Mail& mail = from.requester_->mail();
    for (const Message& m : mail.posted) to.responder_->posted(m);
    for (const uint32_t id : mail.refused) to.responder_->refused(id);
    for (const uint32_t id : mail.abandoned) to.responder_->abandoned(id);
    for (const uint32_t id : mail.completed) to.responder_->completed(id);
    mail.clear();
    std::string wrong = to.responder_->verify(to.cycle_, cycles_of(drained_ns(to.scenario_, to.preset_), to.preset_));
    for (const uint64_t key : from.port_lost_) {
      ++to.recovery_.lost;
      to.missing_.emplace(key, to.now_ps());
    }
    from.port_lost_.clear();
    for (const auto& [key, since] : from.link_lost_) {
      ++to.link_recovery_.lost;
      to.missing_on_links_.emplace(key, since);
    }
    from.link_lost_.clear();
    for (const uint32_t id : to.responder_->mail().freed) from.requester_->freed(id);
    to.responder_->mail().clear();
    for (FramePtr& frame : from.link_.out()) {
      const unsigned plane = frame->plane;
      if (!(to.ports_up_ >> plane & 1)) {
        if (const FrameInfo info = look_at(frame->bytes); info.data()) {
          ++to.recovery_.lost;
          to.missing_.emplace(key_of(info), to.now_ps());
        }
        continue;
      }
      to.rx_[plane].arrive(std::move(frame));
    }
    from.link_.out().clear();
    give_back(from);
    if (!wrong.empty()) to.fail(wrong, "rx_place");
    return wrong;
  };
  std::string wrong = hand_over(a, b);
  std::string other = hand_over(b, a);
  return wrong.empty() ? other : wrong;
}

void Station::read_counters(NicCounters& c) {
  const auto qps = static_cast<unsigned>(own_.requester_plan().size());
  for (unsigned qp = 0; qp < qps; ++qp) look_at_qp(qp);
  look_at_interrupts();
  const auto into = [&](uint32_t offset, uint32_t& slot) {
    driver_.read(static_cast<uint16_t>(offset), [&slot](uint32_t data, unsigned) { slot = data; });
  };
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    c.tx_before[p] = planes_[p].tx_frames;
    driver_.read(static_cast<uint16_t>(csr::kCntTx0 + 4 * p), [this, &c, p](uint32_t data, unsigned) {
      c.tx[p] = data;
      c.tx_after[p] = planes_[p].tx_frames + 1;  // counted when its last beat is ready, seen here when it is taken
    });
    c.rx_before[p] = planes_[p].rx_frames;
    driver_.read(static_cast<uint16_t>(csr::kCntRx0 + 4 * p), [this, &c, p](uint32_t data, unsigned) {
      c.rx[p] = data;
      c.rx_after[p] = planes_[p].rx_frames;
    });
    into(csr::kCntOvf0 + 4 * p, c.ovf[p]);
  }
  returned_before_ = returned_;
  for (const CounterRegister& r : kCounterRegisters) into(r.offset, c.*r.value);
}

std::string Station::check_counters(const NicCounters& c) const {
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    if (c.tx[p] < c.tx_before[p] || c.tx[p] > c.tx_after[p]) {
      return fmt::format("CNT_TX{} is {} but the port sent {} frames", p, c.tx[p], c.tx_before[p]);
    }
    // A frame that overflows is counted by CNT_OVF, and by CNT_RX too if its descriptor got through.
    // One may have been on its way through the lane when the register was read.
    if (c.rx[p] > c.rx_after[p] || c.rx[p] + c.ovf[p] + 1 < c.rx_before[p]) {
      return fmt::format("CNT_RX{} is {} and CNT_OVF{} {} but the port received {} frames", p, c.rx[p], p, c.ovf[p],
                         c.rx_before[p]);
    }
  }
  // One may have been on its way through lane and checks; lanes that are full lose them.
  constexpr uint64_t kOnTheirWay = 8;
  const uint64_t lost = std::reduce(c.ovf.begin(), c.ovf.end(), uint64_t{0});
  if (c.returned > returned_ + perhaps_returned_ || c.returned + lost + kOnTheirWay < returned_before_) {
    return fmt::format("CNT_RETURNED is {} but {} frames of its own came back", c.returned, returned_);
  }
  if (std::string wrong = forged_.check(c, lost, scenario_); !wrong.empty()) return wrong;
  if (driver_.unexpected() != 0) return fmt::format("{} register accesses were refused", driver_.unexpected());
  return {};
}

}  // namespace mrc::tb
