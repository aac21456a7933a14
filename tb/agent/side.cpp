// SPDX-License-Identifier: Apache-2.0
#include "tb/agent/side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "reference/profile.hpp"
#include "tb/environment/mac.hpp"

namespace mrc::tb {
namespace {

constexpr Time kNever = ~Time{0};
/// Length of the pauses that stand for single cycles in which a host takes nothing, on average.
constexpr double kStallCycles = 4;
/// Shorter pauses than this, in ps, are told to nobody.
constexpr Time kReportedPause = 100'000;
/// Software orders nothing more of queue pairs while so many calls do not act yet.
constexpr unsigned kMostPending = 8;

Time ps(double ns) { return static_cast<Time>(ns * 1000); }

/// Changes of carrier are known so far ahead: longer than any frame.
constexpr Time kAhead = 4'000'000;

bool later(const FramePtr& a, const FramePtr& b) {
  return a->arrive_ps != b->arrive_ps ? a->arrive_ps > b->arrive_ps : a->seq > b->seq;
}

}  // namespace

AgentSide::AgentSide(const Setup& s)
    : preset_(s.preset),
      scenario_(s.scenario),
      own_(s.own),
      other_(s.other),
      nic_(s.nic),
      other_nic_(s.other_nic),
      is_dut_(s.is_dut),
      number_(s.is_dut ? 0 : 1),
      monitor_(number_, s.sink),
      shows_(s.shows),
      host_rng_(s.seed, random_stream("host", s.is_dut)),
      control_rng_(s.seed, random_stream("csr", s.is_dut)),
      port_rng_(s.seed, random_stream("ports", s.is_dut)),
      life_(std::make_unique<Life>(*this, s.seed, s.packets)),
      link_(s.preset, s.scenario, s.seed, s.is_dut),
      ports_(s.preset.num_planes),
      read_ps_(ps(s.scenario.read_ns)),
      read_jitter_ps_(ps(s.scenario.read_jitter_ns)),
      rows_(s.own.qps.size()),
      open_orders_(s.own.qps.size()) {
  const ref::Profile profile = ref::read_profile(s.profile, "profile");
  link_.trim_codes(profile.settings.dscp_trimmed, profile.settings.dscp_lasthop);
  if (reported(s.profile, "DSCP_TRIM.returned_valid").value_or(csr::kDscpTrimReturnedValid.get(own_.dscp_trim)) != 0)
    link_.return_code(reported(s.profile, "DSCP_TRIM.returned").value_or(csr::kDscpTrimReturned.get(own_.dscp_trim)));
  if (own_.dests > 1) link_.receiver(other_.ip);
  link_.zero_legal(csr::kCtrlZeroLength.get(own_.ctrl) == static_cast<uint32_t>(ZeroLength::Legal));
  link_.icrc_outer(profile.settings.icrc_outer);
  link_.begin(0);
  if (scenario_.read_ns == 0 && scenario_.read_jitter_ns == 0) {  // as Station has it
    const double prefetch_ns = 8.0 * preset_.line_fifo * preset_.host_bytes / preset_.port_gbps;
    read_ps_ = ps(0.4 * prefetch_ns);
    read_jitter_ps_ = ps(0.3 * prefetch_ns);
  }
  read_ps_ = std::max<Time>(read_ps_, preset_.clock_ps);
  add<log::Device>(0) = {s.is_dut ? "dut" : "peer", s.profile};
  for (const Region& r : own_.regions) {
    const log::Mr region{.rkey = r.rkey, .va = r.va, .bytes = r.length, .addr = own_.host_base + r.dest};
    add<log::Mr>(0) = region;
    if (r.gone) (add<log::Mr>(0) = region).valid = false;
  }
}

AgentSide::Life::Life(const AgentSide& of, uint64_t seed, uint64_t packets)
    : source(of.own_.source_size, of.own_.source_base, Rng(seed, random_stream("memory", of.is_dut_))),
      requester(of.preset_, of.scenario_, source, of.own_.requester_plan(), of.other_.regions, packets,
                Rng(seed, random_stream("traffic", of.is_dut_))) {
  requester.completions_are_short();
  requester.names(QpNames(of.nic_.info.qp_first));
}

template <class Body>
Body& AgentSide::add(Time time) {
  return monitor_.add(time).body.emplace<Body>();
}

void AgentSide::connect(AgentSide& other) {
  life_->responder = std::make_unique<Responder>(preset_, other.life_->source, own_.host_size, own_.host_base, 0);
  life_->responder->names(QpNames(nic_.info.qp_first), QpNames(other_nic_.info.qp_first));
  if (scenario_.may_fail) life_->responder->expect_refusals();
  if (may_overrun(scenario_)) life_->responder->expect_overruns(scenario_.max_wimm_dest);
}

void AgentSide::fail(std::string what, Time time, int qp) {
  if (!problem_.empty()) return;
  problem_ = std::move(what);
  problem_time_ = time;
  problem_qp_ = qp;
}

uint64_t AgentSide::preamble_ps() const { return uint64_t{kPreambleBytes} * byte_ps(preset_); }

int AgentSide::index_of(uint32_t qpn) const {
  const uint32_t index = qpn - nic_.info.qp_first;
  return index < own_.qps.size() ? static_cast<int>(index) : -1;
}

// What software does.

void AgentSide::bring_up() {
  nic_.device->address(own_.mac, ip_bytes(own_.ip));
  regions();
}

void AgentSide::regions() {
  fresh_ = false;
  for (const Region& r : own_.regions) {
    log::Mr region{.rkey = r.rkey, .va = r.va, .bytes = r.length, .addr = own_.host_base + r.dest};
    pending_ += nic_.device->mr(region);
    region.valid = false;
    if (r.gone) pending_ += nic_.device->mr(region);
  }
}

/// What the log has to know of a queue pair that is no more.
void AgentSide::ends(unsigned index) {
  log::Qp r;
  r.qp = nic_.info.qp_first + index;
  r.peer_qp = other_nic_.info.qp_first + own_.qps[index].peer;
  r.flags = open_orders_[index] != 0 ? log::kOrdered : 0;
  add<log::Qp>(reported_) = rows_[index] = r;
}

void AgentSide::reset_nic() {
  for (const auto& [name, value] : nic_.device->counters().values) drops_ += name == "silent_drops" ? value : 0;
  pending_ = nic_.device->reset();
  std::ranges::fill(open_orders_, 0);
  for (unsigned i = 0; i < rows_.size(); ++i) {
    if (rows_[i].state != log::QpState::Reset || rows_[i].flags != 0) ends(i);
  }
  add<log::Counter>(reported_) = {"resets", ++resets_};
  ending_ = fresh_ = true;
}

void AgentSide::reset_qps() {
  for (unsigned i = 0; i < rows_.size(); ++i) {
    if (rows_[i].state != log::QpState::Reset) reset_qp(i);
  }
  ending_ = true;
}

void AgentSide::begin_life(uint64_t seed) {
  life_ = std::make_unique<Life>(*this, seed, 0);
  posted_.clear();
  ending_ = false;
  if (fresh_) regions();
}

void AgentSide::connect_qp(unsigned index) {
  QpConfig c = qp_config(own_, nic_, other_nic_, other_.mac, index, *nic_.device);
  called(index, nic_.device->qp(c));
  c = nic_.device->qp_now(c.qp);
  log::Qp r = record_of(c, ip_bytes(own_.ip), nic_.info.planes);
  r.state = log::QpState::Rts;
  r.dest = own_.qps[index].dest;
  add<log::Qp>(reported_) = rows_[index] = r;
}

void AgentSide::reset_qp(unsigned index) {
  QpConfig c;
  c.qp = nic_.info.qp_first + index;
  c.state = log::QpState::Reset;
  called(index, nic_.device->qp(c));
  ends(index);
}

void AgentSide::revived(unsigned index) {
  life_->requester.revive(index, own_.requester_plan(own_.qps[index]));
  life_->responder->forget(index);
}

/// Between `from` and `to` software orders something of a queue pair of the device now and then, with this share of the
/// scenario's register accesses; `next`: when the next order comes.
template <typename Order>
void AgentSide::orders(double share, Time& next, Time from, Time to, Order order) {
  if (!is_dut_ || share <= 0 || scenario_.csr_gap <= 0) return;
  const double gap_ps = scenario_.csr_gap / share * preset_.clock_ps;
  for (; next < to; next += 1 + static_cast<Time>(2 * control_rng_.unit() * gap_ps)) {
    if (next < from || resting_ || pending_ > kMostPending) continue;
    const auto index = static_cast<unsigned>(control_rng_.below(own_.requester_plan().size()));
    if (!dead(index) && rows_[index].state == log::QpState::Rts) order(index, rows_[index]);
  }
}

/// A call was made of a queue pair; `pending`: it acts later.
void AgentSide::called(unsigned index, bool pending) {
  if (!pending) return;
  ++pending_;
  ++open_orders_[index];
}

/// The log is told what a controller has ordered of a queue pair: rows_ has it.
void AgentSide::ordered(unsigned index, Time time) {
  log::Qp& row = rows_[index];
  row.flags = open_orders_[index] != 0 ? log::kOrdered : 0;
  add<log::Qp>(time) = row;
}

/// A call of a queue pair acts, or will not.
void AgentSide::acts(unsigned index, Time time) {
  if (open_orders_[index] == 0 || --open_orders_[index] != 0 || rows_[index].flags == 0) return;
  ordered(index, time);
}

/// What a controller does while traffic runs: denies and allows entropy values, a quarter of a queue pair's at most,
/// and moves the windows of responders.
void AgentSide::controller(Time from, Time to) {
  orders(scenario_.control, next_control_, from, to, [this, from](unsigned index, log::Qp& qp) {
    const uint64_t evs = qp.evs.size() - qp.backup;
    if (evs == 0) return;
    if (scenario_.dyn_mpr && control_rng_.chance(0.5)) {
      const unsigned most = nic_.device->qp_now(qp.qp).mpr_dest;
      qp.window = static_cast<uint32_t>(control_rng_.between(1, most));
      called(index, nic_.device->mpr(qp.qp, qp.window));
    } else {
      const uint64_t some = std::max<uint64_t>(1, evs / 4);
      const uint32_t ev = qp.evs[control_rng_.below(some)];
      const bool deny = control_rng_.chance(0.6);
      called(index, nic_.device->ev(qp.qp, ev, deny));
      // Of a value that stands in several places one is named: which ones a NIC denies is its own affair.
      const auto place = static_cast<uint32_t>(std::ranges::find(qp.evs, ev) - qp.evs.begin());
      std::erase(qp.denied, place);
      if (deny) qp.denied.push_back(place);
    }
    ordered(index, from);
  });
}

/// Software puts queue pairs that are in use into ERROR.
void AgentSide::end_qps(Time from, Time to) {
  orders(scenario_.ended, next_end_, from, to, [this, from](unsigned index, log::Qp& qp) {
    qp.state = log::QpState::Error;
    QpConfig c;
    c.qp = qp.qp;
    c.state = qp.state;
    called(index, nic_.device->qp(c));
    add<log::Qp>(from) = qp;
  });
}

void AgentSide::post(Time from, Time to) {
  if (ending_) return;
  // One offer a cycle: the scenario's gaps are in cycles.
  for (Time cycles = (to - from) / preset_.clock_ps + 1; cycles > 0; --cycles) {
    const Wqe* wqe = life_->requester.offer();
    if (wqe == nullptr) continue;
    const log::Post request{.qp = nic_.info.qp_first + wqe->qp,
                            .wr_id = wqe->wr_id,
                            .addr = wqe->laddr,
                            .remote = wqe->raddr,
                            .bytes = wqe->length,
                            .rkey = wqe->rkey,
                            .immediate = wqe->imm_valid,
                            .imm = wqe->imm};
    if (!nic_.device->post(request)) return;
    posted_[wqe->wr_id] = *wqe;
    add<log::Post>(from) = request;
    life_->requester.taken();
  }
}

// Ports.

bool AgentSide::Port::up_at(Time t) const {
  bool is = up;
  for (const Time flip : flips) {
    if (flip > t) break;
    is = !is;
  }
  return is;
}

Time AgentSide::next_flip(unsigned plane, bool up, Time last) {
  const auto us = [](double value) { return static_cast<Time>(value * 1e6); };
  if (is_dut_ && scenario_.cut_planes > 0) {
    if (plane < preset_.num_planes - std::min(scenario_.cut_planes, preset_.num_planes)) return kNever;
    if (up) return last == 0 ? us(scenario_.cut_us) : kNever;
    return scenario_.back_us > 0 ? us(scenario_.back_us) : kNever;
  }
  if (scenario_.flap_us <= 0 || (!is_dut_ && !scenario_.peer_flap)) return kNever;
  const double mean = up ? scenario_.flap_us * preset_.num_planes : scenario_.flap_down_us;
  return last + preset_.clock_ps + us(2 * port_rng_.unit() * mean);
}

/// Changes of carrier between `from` and `to` are told.
void AgentSide::flips(Time from, Time to) {
  for (unsigned p = 0; p < ports_.size(); ++p) {
    Port& port = ports_[p];
    while (!port.flips.empty() && port.flips.front() < from) {
      port.flips.pop_front();
      port.up = !port.up;
    }
    for (;;) {
      const bool up = port.up_at(kNever - 1);
      const Time last = port.flips.empty() ? port.last_flip : port.flips.back();
      if (last > to + kAhead) break;
      const Time next = next_flip(p, up, last);
      if (next == kNever) break;
      port.flips.push_back(next);
      port.last_flip = next;
    }
    for (const Time at : port.flips) {
      if (at < from || at >= to) continue;
      nic_.device->port(p, port.up_at(at), at);
      add<log::Port>(at) = {static_cast<uint8_t>(p), port.up_at(at)};
    }
  }
}

/// Frames that begin to arrive before `to`, one after the other.
void AgentSide::deliver(Time from, Time to) {
  const Time byte = byte_ps(preset_);
  for (unsigned p = 0; p < ports_.size(); ++p) {
    Port& port = ports_[p];
    while (!port.queue.empty()) {
      const Time begin = std::max({port.queue.front()->arrive_ps, port.free, from});
      if (begin >= to) break;
      std::ranges::pop_heap(port.queue, later);
      const FramePtr frame = std::move(port.queue.back());
      port.queue.pop_back();
      const Time first = begin + preamble_ps(), last = first + frame->bytes.size() * byte;
      port.free = begin + wire_bytes(static_cast<unsigned>(frame->bytes.size())) * byte;
      if (port.gone || !port.up_at(begin)) {
        ++counts_.at_down_port;
        continue;
      }
      const auto flip = std::ranges::upper_bound(port.flips, begin);
      const bool cut = flip != port.flips.end() && *flip <= last;  // the carrier goes while it comes in
      nic_.device->rx(p, last, frame->bytes, frame->mac_error || cut);
      ++counts_.received;
      monitor_.add(first, last, p, frame->bytes, frame->mac_error || cut, ++frame_number_);
    }
  }
}

void AgentSide::sent(SentFrame& frame, Time first) {
  if (frame.plane >= ports_.size())
    throw DeviceGone(fmt::format("the device sends on plane {}, which there is not.", frame.plane));
  monitor_.add(first, frame, ++frame_number_);
  const FrameInfo info = look_at(frame.bytes);
  if (info.data()) last_data_ = std::max(last_data_, first);
  if (info.data() || info.is(wire::Opcode::Sack) || info.is(wire::Opcode::Nack) || info.is(wire::Opcode::Ack))
    last_packet_ = std::max(last_packet_, first);
  ++(info.data()                   ? (info.rtx ? counts_.rtx : counts_.data)
     : info.is(wire::Opcode::Sack) ? counts_.sack
     : info.is(wire::Opcode::Nack) ? counts_.nack
     : info.is(wire::Opcode::Ack)  ? counts_.ack
                                   : counts_.other);
  if (ports_[frame.plane].gone || !ports_[frame.plane].up_at(first)) return;
  auto on_link = std::make_unique<Frame>();
  on_link->bytes = std::move(frame.bytes);
  on_link->sent_ps = first - std::min<Time>(first, preamble_ps());
  on_link->plane = static_cast<uint8_t>(frame.plane);
  link_.transmit(std::move(on_link));
}

// The host.

/// The judge sees of a pause of writes or completions no more than that answers do not come. Reads it sees itself.
void AgentSide::report_pause(NicDevice::HostQueue queue, Time begin, Time end) {
  const bool writes = queue == NicDevice::HostQueue::Writes;
  for (const Time time : {begin, end})
    add<log::Counter>(time) = {writes ? "host_pause writes" : "host_pause completions",
                               ++pauses_reported_[writes ? 0 : 1]};
}

/// Times in which the host takes no reads, no writes, no completions.
void AgentSide::pauses(Time from, Time to) {
  using Queue = NicDevice::HostQueue;
  const double window_us = static_cast<double>(to - from) * 1e-6;
  for (const Queue queue : {Queue::Reads, Queue::Writes, Queue::Completions}) {
    const auto q = static_cast<std::size_t>(queue);
    const auto pause = [&](Time begin, Time end) {
      begin = std::max({begin, from, paused_until_[q]});
      if (end <= begin) return;
      nic_.device->pause(queue, begin, end);
      if (queue != Queue::Reads && end - begin >= kReportedPause) report_pause(queue, begin, end);
      paused_until_[q] = end;
    };
    const double rate = queue == Queue::Writes        ? scenario_.pause
                        : queue == Queue::Completions ? scenario_.cqe_pause
                                                      : 0;
    const double length = queue == Queue::Writes ? scenario_.pause_ns : scenario_.cqe_pause_ns;
    if (paused_until_[q] < to && host_rng_.chance(rate * window_us)) {
      const Time begin = from + host_rng_.below(to - from);
      pause(begin, begin + 1 + ps(2 * host_rng_.unit() * length));
    }
    if (scenario_.stall <= 0) continue;
    const double busy = kStallCycles * preset_.clock_ps, idle = busy * (1 - scenario_.stall) / scenario_.stall;
    Time& next = stall_next_[q];
    for (next = std::max(next, from); next < to;) {
      const Time begin = next + static_cast<Time>(2 * host_rng_.unit() * idle);
      next = begin + static_cast<Time>(2 * host_rng_.unit() * busy) + 1;
      if (begin < to) pause(begin, next);
    }
  }
}

void AgentSide::read(const HostRead& read, Time time, Time reached) {
  monitor_.add(time, read);
  const uint8_t* const data = read.bytes == 0 ? nullptr : life_->source.at(read.addr, read.bytes);
  if (data == nullptr) {
    return fail(fmt::format("host read of {} bytes at {:#x}: no work request names those", read.bytes, read.addr),
                time);
  }
  Time done = time + read_ps_;
  if (read_jitter_ps_ > 0) done += host_rng_.below(read_jitter_ps_ + 1);
  done = std::max(done, reached);
  const std::span<const uint8_t> bytes(data, read.bytes);
  nic_.device->host_done(read.tag, done, bytes, 0);
  monitor_.add(done, read, bytes);
}

void AgentSide::wrote(const HostWrite& write, Time time) {
  const auto length = static_cast<unsigned>(write.data.size());
  if (length == 0) {
    fail("host write of no bytes", time);
  } else if (const char* wrong = life_->responder->write(write.addr, length, write.data.data())) {
    fail(fmt::format("host write of {} bytes at {:#x} {}", length, write.addr, wrong), time);
  }
  last_progress_ = std::max(last_progress_, time);
  monitor_.add(time, write);
}

void AgentSide::completed(const log::Cqe& cqe, Time time) {
  add<log::Cqe>(time) = cqe;
  last_progress_ = std::max(last_progress_, time);
  const int index = index_of(cqe.qp);
  if (index < 0) return fail(fmt::format("a completion of QP {:#x}, which there is not", cqe.qp), time);
  Cqe c;
  c.qp = static_cast<QpIndex>(index);
  c.recv = cqe.receive;
  c.imm = cqe.imm;
  c.msn = static_cast<uint16_t>(cqe.rqmsn);
  c.length = static_cast<uint32_t>(cqe.bytes);
  switch (cqe.status) {
    case log::Status::Ok:
      c.status = CqStatus::Ok;
      break;
    case log::Status::LocalLength:
      c.status = CqStatus::LocLength;
      break;
    case log::Status::WimmOverrun:
      c.status = CqStatus::WimmOverrun;
      break;
    case log::Status::RemoteInvalid:
      c.status = static_cast<CqStatus>(scenario_.nak_invalid);
      break;
    case log::Status::RemoteAccess:
      c.status = static_cast<CqStatus>(scenario_.nak_access);
      break;
    case log::Status::RemoteOperation:
    case log::Status::Fatal:
      c.status = CqStatus::RemEvent;
      break;
    case log::Status::Retries:
      c.status = CqStatus::RetryExceeded;
      break;
    case log::Status::Flushed:
      c.status = CqStatus::Flushed;
      break;
    case log::Status::Other:
      c.status = CqStatus::LocState;
      break;
  }
  if (!cqe.receive) {
    const auto posted = posted_.find(cqe.wr_id);
    if (posted == posted_.end() || std::cmp_not_equal(posted->second.qp, index)) {
      return fail(fmt::format("a completion of WQE {:#x}, which QP {:#x} has not (any more)", cqe.wr_id, cqe.qp), time,
                  index);
    }
    c.wr_id = static_cast<uint32_t>(cqe.wr_id);
    posted_.erase(posted);
  }
  if (ending_ && c.status != CqStatus::Ok) return;  // it came to its queue pair when that was in RESET
  std::string wrong = c.recv ? life_->responder->completion(c) : life_->requester.completion(c);
  if (!wrong.empty()) fail(std::move(wrong), time, index);
}

/// A port that is real came or went by itself. The judge is told, so that nobody is blamed for it.
void AgentSide::carrier(const log::Port& port, Time time) {
  if (port.plane >= ports_.size()) {
    throw DeviceGone(
        fmt::format("the device tells of the carrier of plane {}, and has {}.", port.plane, ports_.size()));
  }
  ports_[port.plane].gone = !port.up;
  add<log::Port>(time) = port;
  counts_.carriers.emplace_back(time, port);
  add<log::Counter>(time) = {"carriers_by_themselves", counts_.carriers.size()};
}

void AgentSide::take(Output& output, Time reached) {
  if (auto* frame = std::get_if<SentFrame>(&output.body)) {
    sent(*frame, output.time);
  } else if (const auto* read_of = std::get_if<HostRead>(&output.body)) {
    read(*read_of, output.time, reached);
  } else if (const auto* write = std::get_if<HostWrite>(&output.body)) {
    wrote(*write, output.time);
  } else if (const auto* cqe = std::get_if<log::Cqe>(&output.body)) {
    completed(*cqe, output.time);
  } else if (const auto* event = std::get_if<log::Event>(&output.body)) {
    if (shows_) add<log::Event>(output.time) = *event;
  } else if (const auto* port = std::get_if<log::Port>(&output.body)) {
    carrier(*port, output.time);
  } else if (const auto* done = std::get_if<Done>(&output.body)) {
    if (pending_ > 0) --pending_;
    if (const int index = done->region ? -1 : index_of(done->number); index >= 0)
      acts(static_cast<unsigned>(index), output.time);
    if (!done->error.empty())
      fail(fmt::format("the call {} of {} {:#x} does not act: {}", done->call, done->region ? "R_Key" : "QP",
                       done->number, done->error),
           output.time);
  }
}

// Time.

void AgentSide::run(Time from, Time to) {
  reported_ = from;
  flips(from, to);
  deliver(from, to);
  pauses(from, to);
  controller(from, to);
  end_qps(from, to);
  post(from, to);
  for (Time reached = from; reached < to && problem_.empty();) {
    Advanced ran = nic_.device->advance(to, read_ps_);
    if (ran.reached < reached || ran.reached > to || (ran.reached < to && ran.out.empty())) {
      throw DeviceGone(
          fmt::format("asked to run to {} ps, the device says that it has reached {} ps.", to, ran.reached));
    }
    reached = ran.reached;
    for (Output& output : ran.out) {
      const bool shown = std::holds_alternative<log::Event>(output.body) && output.time >= shown_until_;
      if ((output.time < from && !shown) || output.time > reached) {
        throw DeviceGone(fmt::format("the device has an output of {} ps, while it runs from {} to {} ps.", output.time,
                                     from, reached));
      }
      take(output, reached);
    }
  }
  reported_ = to;
}

std::string AgentSide::exchange(AgentSide& a, AgentSide& b, Time now) {
  const auto hand_over = [now](AgentSide& from, AgentSide& to) -> std::string {
    Mail& mail = from.life_->requester.mail();
    for (const Message& m : mail.posted) to.life_->responder->posted(m);
    for (const uint32_t id : mail.refused) to.life_->responder->refused(id);
    for (const uint32_t id : mail.abandoned) to.life_->responder->abandoned(id);
    for (const uint32_t id : mail.completed) to.life_->responder->completed(id);
    mail.clear();
    std::string wrong = to.life_->responder->verify(now, ps(drained_ns(to.scenario_, to.preset_)));
    for (const uint32_t id : to.life_->responder->mail().freed) from.life_->requester.freed(id);
    to.life_->responder->mail().clear();
    for (FramePtr& frame : from.link_.out()) {
      auto& queue = to.ports_[frame->plane].queue;
      queue.push_back(std::move(frame));
      std::ranges::push_heap(queue, later);
    }
    from.link_.out().clear();
    for (FramePtr& frame : from.link_.back()) {  // what switches send back
      auto& queue = from.ports_[frame->plane].queue;
      queue.push_back(std::move(frame));
      std::ranges::push_heap(queue, later);
    }
    from.link_.back().clear();
    if (!wrong.empty()) to.fail(wrong, now);
    return wrong;
  };
  std::string wrong = hand_over(a, b), other = hand_over(b, a);
  return wrong.empty() ? other : wrong;
}

Worker::Job AgentSide::flush(Time now) {
  now = shown_until_ = std::max(shown_until_, std::min(now, nic_.device->shown_until()));
  auto records = std::make_shared<std::vector<Monitor::Record>>(monitor_.taken());
  return [this, records, now] { monitor_.report(std::move(*records), now); };
}

void AgentSide::end(Time now, bool counters, const log::End& end) {
  std::vector<log::Record> last;
  if (counters) {
    for (const auto& [name, value] : nic_.device->counters().values)
      last.push_back({number_, now, log::Counter{name, name == "silent_drops" ? value + drops_ : value}});
  }
  last.push_back({number_, now, end});
  monitor_.end(monitor_.taken(), std::move(last));
}

}  // namespace mrc::tb
