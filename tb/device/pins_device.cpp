// SPDX-License-Identifier: Apache-2.0
#include "tb/device/pins_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tb/device/pins_parts.hpp"

namespace mrc::tb {
namespace {

constexpr unsigned kResetCycles = 4;
/// Reads of host memory without an answer, frames on their way to a port.
constexpr size_t kMaxReads = 4096, kMaxArriving = 4096;
/// Between two looks at states and counters.
constexpr Time kPollTime = 4'096'000;
/// A frame's share of the wire besides its own bytes.
static_assert(kBetweenFrames == kFcsBytes + kGapBytes + kPreambleBytes);
/// An answer of advance() is not larger than this by much.
constexpr size_t kMaxOutput = 256 << 10;
/// Clock cycles after which a register access counts as unanswered.
constexpr uint64_t kHangCycles = 4'000'000;

/// An answer is seen so many cycles after it was read, and a few more.
constexpr unsigned kEventDelay = 8;

/// Pauses of the host that lie ahead.
constexpr size_t kMaxPauses = 65536;

}  // namespace

log::Status PinsDevice::status_of(CqStatus status) const {
  const uint32_t codes = settings_.get(csr::kNakCode, csr::kNakCodeReset);
  if (static_cast<uint32_t>(status) == csr::kNakCodeInvalid.get(codes)) return log::Status::RemoteInvalid;
  if (static_cast<uint32_t>(status) == csr::kNakCodeAccess.get(codes)) return log::Status::RemoteAccess;
  switch (status) {
    case CqStatus::Ok:
      return log::Status::Ok;
    case CqStatus::RemInvalid:
      return log::Status::RemoteInvalid;
    case CqStatus::RemAccess:
      return log::Status::RemoteAccess;
    case CqStatus::RemOp:
      return log::Status::RemoteOperation;
    case CqStatus::LocLength:
      return log::Status::LocalLength;
    case CqStatus::WimmOverrun:
      return log::Status::WimmOverrun;
    case CqStatus::RetryExceeded:
      return log::Status::Retries;
    case CqStatus::Flushed:
      return log::Status::Flushed;
    case CqStatus::RemEvent:
      return log::Status::Fatal;
    default:
      return log::Status::Other;
  }
}

// Registers.

PinsDevice::OrderPtr PinsDevice::begin(const char* call, bool region, uint32_t number) {
  return std::make_shared<Order>(Order{{call, region, number, {}}, {}});
}

void PinsDevice::put(const OrderPtr& order, uint32_t offset, uint32_t value) {
  driver_.write(static_cast<uint16_t>(offset), value, [order, offset](uint32_t, unsigned resp) {
    if (resp != 0 && order->refused.empty())
      order->refused = fmt::format("the NIC refuses a write to register {:#x}.", offset);
  });
}

void PinsDevice::row(const OrderPtr& order, unsigned table, unsigned index, std::span<const uint32_t> words) {
  driver_.row(table, index, words, [order, table, index](uint32_t, unsigned resp) {
    if (resp != 0 && order->refused.empty())
      order->refused = fmt::format("the NIC refuses row {} of table {}.", index, table);
  });
}

/// True: it is pending. From here on the order counts, and what is posted waits for it: one that is refused half-way
/// never ends, and nothing must wait for it.
bool PinsDevice::end(const OrderPtr& order) {
  ++ordered_;
  driver_.read(csr::kCmdStatus, [this, order](uint32_t, unsigned) {
    ++carried_out_;
    if (!started_) return;
    order->done.error = order->refused;
    report(now_, order->done, 128);
  });
  if (started_) return true;
  settle();
  if (!order->refused.empty()) wrong(order->refused);
  for (Qp& qp : qps_) qp.seen = qp.known ? qp.state : log::QpState::Reset;
  return false;
}

/// Before traffic: the register accesses are carried out while no time passes.
void PinsDevice::settle() {
  for (uint64_t i = 0; !driver_.idle() && problem_.empty(); ++i) {
    if (i == kHangCycles) fail("the register bus of the NIC does not answer");
    cycle(false);
  }
  need_open();
}

void PinsDevice::poll() {
  next_poll_ = now_ + kPollTime;
  for (unsigned i = 0; i < qps_.size(); ++i) {
    if (!qps_[i].touched) continue;
    driver_.write(csr::kQpSel, i);
    driver_.read(csr::kQpInfo, [this, i, orders = ordered_](uint32_t info, unsigned) {
      Qp& qp = qps_[i];
      qp.seen = static_cast<log::QpState>(std::min(csr::kQpInfoState.get(info), 4u));
      // The NIC's own doing, unless a later order is about another state.
      if (qp.seen == log::QpState::Error && qp.known && orders == ordered_) qp.state = log::QpState::Error;
    });
  }
  counting_.clear();
  for (const csr::Register& r : csr::kRegisters) {
    const std::string_view name = r.name;
    if (!name.starts_with("CNT_")) continue;
    const bool lane = r.count > 1, received = r.offset == csr::kCntRx0;
    for (unsigned p = 0; p < (lane ? preset_.num_planes : 1); ++p) {
      const std::string key =
          lane ? std::string(name.substr(0, name.size() - 1)) + std::to_string(p) : std::string(name);
      driver_.read(static_cast<uint16_t>(r.offset + 4 * p), [this, key, received, p](uint32_t data, unsigned) {
        counting_[key] = data;
        // Frames that came and are not counted: lost whole, or one on its way through the lane.
        if (received) uncounted_[p] = rx_[p].frames - std::min<uint64_t>(data, rx_[p].frames);
      });
    }
  }
  driver_.read(csr::kCmdStatus, [this, at = now_](uint32_t, unsigned) {
    uint64_t silent = 0;
    for (unsigned p = 0; p < preset_.num_planes; ++p)
      silent += std::min(uncounted_[p], counting_["CNT_OVF" + std::to_string(p)]);
    counting_["silent_drops"] = silent;
    counters_ = counting_;
    polled_ = at;
  });
}

DeviceInfo PinsDevice::open(const OpenRequest& request) {
  if (request.planes > preset_.num_planes)
    cannot(fmt::format("this NIC ({}) has {} planes, not {}.", preset_.name, preset_.num_planes, request.planes));
  PinsSettings settings = read_settings(request.settings, preset_);
  const PinsOptions options = options_;
  // Everything as new. The NIC before goes first: some devices exist once only.
  dut_.reset();
  std::string why;
  std::unique_ptr<Dut> dut = options.open(request.seed, why);
  if (!dut) wrong(fmt::format("no device: {}.", why));
  dut_ = std::move(dut);
  settings_ = std::move(settings);
  driver_ = tb::Driver(Rng(0, "bus"));
  in_ = {};
  out_ = {};
  problem_.clear();
  now_ = reached_ = next_poll_ = polled_ = software_from_ = 0;
  started_ = false;
  planes_ = request.planes == 0 ? preset_.num_planes : request.planes;
  up_ = (1u << preset_.num_planes) - 1;
  seed_ = request.seed;
  mac_ = kFirstMac;
  ip_ = kFirstIp;
  rx_.assign(preset_.num_planes, {});
  port_events_.clear();
  for (auto& list : pauses_) list.clear();
  memory_takes_ = true;
  outputs_.clear();
  output_bytes_ = 0;
  on_wire_.clear();
  stray_frames_ = 0;
  asserts_ = dut_->assertions() > 0;
  forget();
  hold_in_reset();
  begin_life("open");

  DeviceInfo info;
  info.name = options_.name;
  info.version = options_.version.empty() ? dut_->version() : options_.version;
  info.planes = planes_;
  info.port_gbps = preset_.port_gbps;
  info.caps = {"batch",   "responder", "requestor",     "write_imm",  "trim_nack",   "time_stamps", "svc_time",
               "dyn_mpr", "nscc",      "evprobe",       "ev_control", "srv6",        "srh",         "psn",
               "regions", "pkey",      "bytes",         "ports",      "host_pause",  "any_address", "slow_memory",
               "modify",  "class",     "order_evprobe", "reset",      "nscc_numbers"};
  info.latency = kTakeTime + kAnswerTime;
  info.qp_first = kQpnBase;
  info.qps = preset_.num_qps;
  info.mpr = preset_.max_mpr / 128;
  info.max_wimm = preset_.max_wimm;
  info.evs = preset_.evs_per_qp / preset_.num_planes * planes_;
  info.regions = preset_.num_mrs;
  info.post = preset_.wqe_depth;
  std::vector<const char*> shows;
  if (tap_) shows = {"take", "answer"};
  if (inside_) shows.push_back("path");
  auto judged = request.settings;
  const uint32_t ctrl = settings_.get(csr::kCtrl, csr::kCtrlReset);
  if (csr::kCtrlTimeWait.get(ctrl) == 0 || csr::kCtrlSilenceWait.get(ctrl) == 0) {
    judged.emplace_back("LOSS.time", 1);
  }
  info.profile = profile_json(info.name, planes_, preset_, judged, true, shows);
  return info;
}

/// All that a life knows.
void PinsDevice::forget() {
  driver_ = tb::Driver(Rng(0, "bus"));
  ordered_ = carried_out_ = 0;
  qps_.assign(preset_.num_qps, {});
  profiles_.assign(preset_.num_profiles, {});
  dests_.assign(preset_.num_dests, {});
  controllers_.assign(preset_.num_dests, {});
  regions_.assign(preset_.num_mrs, 0);
  region_used_.assign(preset_.num_mrs, false);
  tx_.clear();
  for (unsigned p = 0; p < preset_.num_planes; ++p) tx_.emplace_back(preset_, p);
  reads_.assign(preset_.num_planes, {});
  unanswered_.clear();
  reads_pending_ = 0;
  host_writes_.emplace(preset_);
  works_.clear();
  posted_.clear();
  shown_.clear();
  hold_ = log::kNever;
  tap_.reset();
  inside_.reset();
  if (options_.shows) {
    tap_.emplace(*this, preset_);
    if (mrc_inside_t probe{}; dut_->inside(probe)) inside_.emplace(*this, preset_);
  }
  counters_.clear();
  counting_.clear();
  uncounted_ = {};
}

/// No time passes.
void PinsDevice::hold_in_reset() {
  in_.bug = options_.bug;
  in_.link_up = static_cast<uint8_t>(up_);
  in_.rst_n = 0;
  for (unsigned i = 0; i < kResetCycles; ++i) {
    dut_->outputs(out_);
    dut_->step(in_);
  }
  in_.rst_n = 1;
}

/// Software writes the settings and the address.
bool PinsDevice::begin_life(const char* call) {
  const OrderPtr order = begin(call, false, 0);
  for (const auto& [offset, value] : settings_.registers) put(order, offset, value);
  if (!settings_.registers.contains(csr::kRevSeed)) put(order, csr::kRevSeed, static_cast<uint32_t>(seed_));
  put_address(order);
  return end(order);
}

/// The pin falls: in the cycles that follow if time passes already. Software begins when the ports are empty.
bool PinsDevice::reset() {
  need_open();
  for (TxMac& mac : tx_) {  // what a port had whole still leaves
    while (FramePtr frame = mac.rest()) leave(std::move(frame));
  }
  if (tap_) {
    tap_->cut(now_);
    report_events();
  }
  forget();
  for (const Output& frame : on_wire_) software_from_ = std::max(software_from_, std::get<SentFrame>(frame.body).last);
  in_ = {};
  if (started_) {
    in_reset_ = kResetCycles;
    in_.bug = options_.bug;
  } else {
    hold_in_reset();
  }
  return begin_life("reset");
}

void PinsDevice::address(uint64_t mac, const log::Ip& ip) {
  need_open();
  if (std::any_of(qps_.begin(), qps_.end(), [](const Qp& qp) { return qp.known; }))
    wrong("the NIC's address is set before its first QP.");
  mac_ = mac;
  ip_ = ip;
  const OrderPtr order = begin("address", false, 0);
  put_address(order);
  end(order);
}

void PinsDevice::put_address(const OrderPtr& order) {
  put(order, csr::kMacLo, static_cast<uint32_t>(mac_));
  put(order, csr::kMacHi, static_cast<uint32_t>(mac_ >> 32));
  for (unsigned i = 0; i < 4; ++i) put(order, csr::kIp0 + 4 * i, static_cast<uint32_t>(number(ip_) >> (32 * i)));
}

// Wire and host memory.

unsigned PinsDevice::plane_of(unsigned plane) const {
  if (plane >= planes_) wrong(fmt::format("there is no plane {}: {} are in use, from 0 on.", plane, planes_));
  return plane;
}

void PinsDevice::port(unsigned plane, bool up, Time t) {
  need_open();
  plane_of(plane);
  if (t < reached_) wrong(fmt::format("a port changes at {}, before the time reached, {}.", t, reached_));
  const auto later = std::upper_bound(port_events_.begin(), port_events_.end(), t,
                                      [](Time a, const PortEvent& b) { return a < b.time; });
  port_events_.insert(later, {t, plane, up});
}

void PinsDevice::rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) {
  need_open();
  Rx& rx = rx_[plane_of(plane)];
  if (frame.size() < 14 || frame.size() > kMaxFrame)
    wrong(fmt::format("a frame has 14 to {} bytes, not {}.", kMaxFrame, frame.size()));
  if (rx.queue.size() >= kMaxArriving)
    wrong(fmt::format("{} frames are on their way to plane {}.", kMaxArriving, plane));
  const Time length = frame.size() * byte_time(), earliest = std::max(reached_, rx.free) + length;
  if (t < earliest)
    wrong(fmt::format("a frame of {} bytes ends on plane {} at {}, but cannot end before {}: it takes {} ps, and {}.",
                      frame.size(), plane, t, earliest, length,
                      rx.free > reached_ ? "follows another one" : "does not begin before the time reached"));
  const Time padded = std::max<Time>(frame.size(), kMinFrameBytes - kFcsBytes) * byte_time();
  rx.free = t - length + padded + kBetweenFrames * byte_time();
  rx.queue.push_back({{frame.begin(), frame.end()}, t - length, fcs_bad});
  std::vector<uint8_t>& bytes = rx.queue.back().bytes;
  if (bytes.size() < kMinFrameBytes - kFcsBytes) bytes.resize(kMinFrameBytes - kFcsBytes);
  if (rx.queue.size() == 1) schedule(plane);
}

void PinsDevice::host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) {
  need_open();
  const auto found = unanswered_.find(tag);
  if (found == unanswered_.end()) wrong(fmt::format("no read has tag {}, or it was answered before.", tag));
  if (status != 0) cannot("this NIC knows no reads of memory that fail.");
  if (t < reached_) wrong(fmt::format("read {} is answered at {}, before the time reached, {}.", tag, t, reached_));
  Read& read = *found->second;
  if (data.size() != read.bytes)
    wrong(fmt::format("read {} is of {} bytes and is answered with {}.", tag, read.bytes, data.size()));
  read.data.assign(data.begin(), data.end());
  read.ready = t;
  read.answered = true;
  unanswered_.erase(found);
}

/// When the next beat of the first frame is in.
void PinsDevice::schedule(unsigned plane) {
  Rx& rx = rx_[plane];
  if (rx.queue.empty()) {
    rx.next = log::kNever;
    return;
  }
  const Arriving& frame = rx.queue.front();
  const auto size = static_cast<unsigned>(frame.bytes.size());
  unsigned upto = std::min(size, rx.at + preset_.port_bytes);
  if (upto == size) upto += kFcsBytes;
  rx.next = frame.first + upto * byte_time();
}

void PinsDevice::receive(unsigned plane) {
  Rx& rx = rx_[plane];
  const Arriving& frame = rx.queue.front();
  if (rx.at == 0 && (up_ >> plane & 1) == 0) {  // nothing comes in where there is no carrier
    rx.queue.pop_front();
    schedule(plane);
    return;
  }
  if (rx.at == 0) {
    ++rx.frames;
    rx.half = false;
  }
  const auto size = static_cast<unsigned>(frame.bytes.size());
  const unsigned n = std::min(preset_.port_bytes, size - rx.at);
  const auto mask = static_cast<uint8_t>(1u << plane);
  in_.rx_tvalid = static_cast<uint8_t>(in_.rx_tvalid | mask);
  in_.rx_tkeep[plane] = n == 32 ? ~0u : (1u << n) - 1;
  std::memcpy(in_.rx_tdata[plane], frame.bytes.data() + rx.at, n);
  rx.at += n;
  if (rx.at == size || rx.cut) {
    in_.rx_tlast = static_cast<uint8_t>(in_.rx_tlast | mask);
    if (rx.cut || frame.fcs_bad) in_.rx_tuser = static_cast<uint8_t>(in_.rx_tuser | mask);
    if (!rx.cut && !frame.fcs_bad && !rx.half && in_reset_ == 0) host_writes_->came(plane, frame.bytes);
    rx.cut = false;
    rx.at = 0;
    rx.queue.pop_front();
  }
  schedule(plane);
}

void PinsDevice::ports() {
  while (!port_events_.empty() && port_events_.front().time <= now_) {
    const PortEvent event = port_events_.front();
    port_events_.erase(port_events_.begin());
    up_ = event.up ? up_ | 1u << event.plane : up_ & ~(1u << event.plane);
    Rx& rx = rx_[event.plane];
    if (!event.up && rx.at != 0) {  // what has begun ends in an error
      rx.cut = true;
      rx.next = now_;
    }
  }
  in_.link_up = static_cast<uint8_t>(up_);
  in_.rx_tvalid = in_.rx_tlast = in_.rx_tuser = 0;
  for (unsigned p = 0; p < planes_; ++p) {
    if (now_ >= rx_[p].next) receive(p);
  }
}

/// A port begins to send it.
void PinsDevice::leave(FramePtr frame) {
  const unsigned p = frame->plane;
  if (p >= planes_) ++stray_frames_;
  if (p >= planes_ || (up_ >> p & 1) == 0) return;  // a MAC without carrier takes frames and loses them
  const Time first = frame->sent_ps + kPreambleBytes * byte_time();
  const Time last = first + frame->bytes.size() * byte_time();
  on_wire_.push_back({first, SentFrame{p, last, std::move(frame->bytes)}});
}

void PinsDevice::transmit() {
  unsigned ready = 0;
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    TxMac& mac = tx_[p];
    const bool take = mac.ready();
    ready |= unsigned{take} << p;
    if (take && (out_.tx_tvalid >> p & 1)) {
      if (const char* what = mac.beat(out_.tx_tdata[p], out_.tx_tkeep[p], out_.tx_tlast >> p & 1, now_))
        fail(fmt::format("port {}: {}", p, what));
    }
    FramePtr frame = mac.start(now_ + preset_.clock_ps - 1);  // before the next cycle
    if (frame) leave(std::move(frame));
  }
  in_.tx_tready = static_cast<uint8_t>(ready);
  for (size_t i = 0; i < on_wire_.size();) {
    if (on_wire_[i].time > now_) {
      ++i;
      continue;
    }
    const size_t bytes = std::get<SentFrame>(on_wire_[i].body).bytes.size();
    report(on_wire_[i].time, std::move(on_wire_[i].body), bytes);
    on_wire_.erase(on_wire_.begin() + static_cast<ptrdiff_t>(i));
  }
}

void PinsDevice::report(Time time, decltype(Output::body) body, size_t bytes) {
  output_bytes_ += 2 * bytes + 128;
  outputs_.push_back({time, std::move(body)});
}

void PinsDevice::completion(const mrc::Cqe& cqe) {
  log::Cqe out;
  out.qp = cqe.qp + kQpnBase;
  out.receive = cqe.recv;
  out.status = status_of(cqe.status);
  out.bytes = cqe.length;
  if (cqe.recv) {
    out.imm = cqe.imm;
    out.rqmsn = cqe.msn;
  } else if (const auto found = posted_.find(cqe.wr_id); found != posted_.end()) {
    out.wr_id = found->second.wr_id;
    if (cqe.qp < qps_.size() && qps_[cqe.qp].open > 0) --qps_[cqe.qp].open;
    posted_.erase(found);
  } else {
    fail(fmt::format("the NIC completes work request {} of queue pair {}, which nobody posted", cqe.wr_id, out.qp));
  }
  report(now_, out, 64);
}

void PinsDevice::memory(bool takes) {
  need_open();
  memory_takes_ = takes;
}

void PinsDevice::pause(HostQueue what, Time from, Time until) {
  need_open();
  auto& list = pauses_[static_cast<size_t>(what)];
  const Time earliest = list.empty() ? reached_ : std::max(reached_, list.back().second);
  if (from < earliest || until <= from)
    wrong(fmt::format("a pause from {} to {} does not lie behind {}.", from, until, earliest));
  if (list.size() >= kMaxPauses) wrong(fmt::format("{} pauses lie ahead.", kMaxPauses));
  list.emplace_back(from, until);
}

bool PinsDevice::takes(HostQueue what) {
  auto& list = pauses_[static_cast<size_t>(what)];
  while (!list.empty() && list.front().second <= now_) list.pop_front();
  return list.empty() || list.front().first > now_;
}

void PinsDevice::host() {
  in_.host_wr_ready = memory_takes_ && takes(HostQueue::Writes);
  in_.cqe_ready = takes(HostQueue::Completions);
  in_.host_rd_ready = reads_pending_ < kMaxReads && takes(HostQueue::Reads);
  if (out_.host_rd_valid && in_.host_rd_ready) {
    const Rdreq rd = Rdreq::unpack(out_.host_rd);
    if (rd.plane >= preset_.num_planes || rd.len == 0 || rd.len > preset_.host_bytes) {
      fail(fmt::format("the NIC reads {} bytes of memory for plane {}", rd.len, rd.plane));
    } else {
      auto& queue = reads_[rd.plane];
      queue.push_back({next_tag_, rd.len});
      unanswered_[next_tag_] = &queue.back();
      ++reads_pending_;
      report(now_, HostRead{next_tag_++, rd.addr, rd.len}, 32);
    }
  }
  in_.host_rsp_valid = 0;
  for (unsigned k = 1; k <= preset_.num_planes && reads_pending_ != 0; ++k) {
    const unsigned p = (last_rsp_ + k) % preset_.num_planes;
    if (reads_[p].empty() || !reads_[p].front().answered || reads_[p].front().ready > now_) continue;
    const Read& read = reads_[p].front();
    in_.host_rsp_valid = 1;
    in_.host_rsp_plane = static_cast<uint8_t>(p);
    std::memset(in_.host_rsp_data, 0, sizeof in_.host_rsp_data);
    std::memcpy(in_.host_rsp_data, read.data.data(), read.data.size());
    reads_[p].pop_front();
    --reads_pending_;
    last_rsp_ = p;
    break;
  }
  if (out_.host_wr_valid && in_.host_wr_ready) {
    if (out_.host_wr_len == 0 || out_.host_wr_len > preset_.host_bytes) {
      fail(fmt::format("the NIC writes {} bytes of memory", out_.host_wr_len));
    } else if (const std::string what = options_.whose_writes ? host_writes_->taken(out_) : ""; !what.empty()) {
      fail(fmt::format("at {} ps: {}", now_, what));
    } else {
      report(now_, HostWrite{out_.host_wr_addr, {out_.host_wr_data, out_.host_wr_data + out_.host_wr_len}},
             out_.host_wr_len);
    }
  }
  if (out_.cqe_valid && in_.cqe_ready) completion(mrc::Cqe::unpack(out_.cqe));
  in_.wqe_valid = 0;
  if (!works_.empty() && works_.front().after <= carried_out_) {
    in_.wqe_valid = 1;
    works_.front().wqe.pack(in_.wqe);
    if (out_.wqe_ready) works_.pop_front();
  }
}

// What it shows.

void PinsDevice::event(log::EventKind kind, unsigned qp, std::array<uint64_t, 6> arg, uint64_t time_ps) {
  shown_.push_back({time_ps, log::Event{kind, qp + kQpnBase, arg}});
}

/// Of queue pairs that there are, and of entropy values that they have.
void PinsDevice::path(unsigned qp, unsigned slot, log::EvState from, log::EvState to, uint64_t time_ps) {
  if (qp >= qps_.size() || !qps_[qp].known) return;
  const QpConfig& c = qps_[qp].config;
  const std::optional<unsigned> place = named_by(c, slot);
  if (!place || *place >= c.evs.size()) return;
  event(log::EventKind::Path, qp, {c.evs[*place], static_cast<uint64_t>(from), static_cast<uint64_t>(to), *place, 0, 0},
        time_ps);
}

Time PinsDevice::shown_until() const {
  if (!tap_) return log::kNever;
  const Time delay = kEventDelay * Time{preset_.clock_ps};
  return std::min(hold_, reached_ - std::min(reached_, delay));
}

void PinsDevice::look() {
  mrc_inside_t inside{};
  const uint32_t *core = nullptr, *lanes = nullptr;
  if (inside_ && dut_->inside(inside) && dut_->observe(core, lanes)) inside_->look(inside, core, now_);
}

void PinsDevice::show() {
  const uint32_t *core = nullptr, *lanes = nullptr;
  if (!dut_->observe(core, lanes)) return fail("the NIC does not show its streams");
  tap_->look(core, lanes, now_);
  look();
  report_events();
}

/// Events of this cycle and before it. One of the same time that was read, not taken, comes behind.
void PinsDevice::report_events() {
  std::stable_sort(shown_.begin(), shown_.end(), [](const Output& a, const Output& b) {
    const auto answer = [](const Output& o) { return std::get<log::Event>(o.body).kind == log::EventKind::Answer; };
    return std::pair{a.time, answer(a)} < std::pair{b.time, answer(b)};
  });
  for (; !shown_.empty() && shown_.front().time <= now_; shown_.pop_front()) {
    report(shown_.front().time, std::move(shown_.front().body), 48);
  }
}

/// A clock cycle. Without traffic it takes no time: software brings the NIC up.
void PinsDevice::cycle(bool traffic) {
  dut_->outputs(out_);
  if (const FailedAssertion* failed = dut_->failed_assertion())
    fail(fmt::format("assertion {} of the device failed in {}: {}", failed->name, failed->place, failed->text));
  const bool low = in_reset_ != 0;
  in_.rst_n = !low;
  if (!low && now_ >= software_from_ && (!driver_.idle() || in_.awvalid || in_.wvalid || in_.arvalid))
    driver_.cycle(out_, in_);
  if (traffic && low) {
    ports();
    if (--in_reset_ == 0) {  // of a frame that is coming in the NIC sees the end alone
      for (Rx& rx : rx_) {
        rx.half = rx.at != 0;
        rx.frames = rx.half;
      }
    }
  } else if (traffic) {
    ports();
    transmit();
    host();
    if (tap_) show();
    if (now_ >= next_poll_ && driver_.idle()) poll();
  } else {
    in_.tx_tready = in_.host_rd_ready = in_.host_wr_ready = in_.cqe_ready = 0;
    in_.rx_tvalid = in_.wqe_valid = in_.host_rsp_valid = 0;
    look();
  }
  dut_->step(in_);
  if (const DeviceFault* fault = dut_->fault()) fail(fault->text);
  if (asserts_) {
    if (const FailedAssertion* failed = dut_->failed_assertion())
      fail(fmt::format("the assertion {} in {} failed in cycle {}: {}", failed->name, failed->place, failed->cycle,
                       failed->text));
  }
  if (traffic) now_ += preset_.clock_ps;
}

Advanced PinsDevice::advance(Time until, Time slack) {
  need_open();
  if (until < reached_) wrong(fmt::format("time has reached {}, and does not go back to {}.", reached_, until));
  if (until > 0) started_ = true;
  Time stop = until;
  bool reported = false;
  while (now_ < stop && problem_.empty()) {
    cycle(true);
    if (outputs_.empty()) continue;
    if (!reported) {
      reported = true;
      const Time first = outputs_.front().time;
      if (stop > first && stop - first > slack) stop = first + slack;
    }
    if (output_bytes_ > kMaxOutput) stop = std::min(stop, now_);
  }
  // After the cycle at time `last`, what comes later than that is for a later cycle.
  const Time last = now_ == 0 ? 0 : now_ - preset_.clock_ps;
  Time reached = reported ? std::max(last, std::min(stop, now_)) : until;
  // First bytes between that cycle and the time reached.
  Time first = log::kNever;
  for (const Output& frame : on_wire_) first = std::min(first, frame.time);
  if (!reported && first <= until) reached = std::min(until, first + std::min(slack, until - first));
  std::erase_if(on_wire_, [&](Output& frame) {
    if (frame.time > reached) return false;
    outputs_.push_back(std::move(frame));
    return true;
  });
  reached_ = std::max(reached_, reached);
  Advanced result{reached_, std::move(outputs_)};
  outputs_.clear();
  output_bytes_ = 0;
  std::stable_sort(result.out.begin(), result.out.end(),
                   [](const Output& a, const Output& b) { return a.time < b.time; });
  if (result.out.empty()) need_open();  // what the device told before it broke comes first
  return result;
}

Counters PinsDevice::counters() {
  need_open();
  if (!started_) {
    poll();
    settle();
  }
  Counters out{polled_, {}};
  for (const auto& [name, value] : counters_) out.values.emplace_back(name, value);
  out.values.emplace_back("stray_frames", stray_frames_);
  return out;
}

std::unique_ptr<NicDevice> make_pins_device(const PinsOptions& options) {
  return std::make_unique<PinsDevice>(options);
}

}  // namespace mrc::tb
