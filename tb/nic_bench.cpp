// SPDX-License-Identifier: Apache-2.0
#include "tb/nic_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>

#include "gen/csr.hpp"
#include "gen/headers.hpp"
#include "protocol/psn.hpp"
#include "tb/compare/events.hpp"
#include "tb/compare/pin_rules.hpp"
#include "tb/environment/host_writes.hpp"
#include "tb/environment/traffic.hpp"

namespace mrc::tb {
namespace {

constexpr uint64_t kResetCycles = 4;
constexpr uint64_t kMemoryBytes = 1 << 20;  // largest message of the plan: memories are four times that

Scenario scenario_of(const BenchOptions& o) {
  Scenario s;
  s.qps = o.qps;
  s.dests = o.dests;
  s.reorder_pkts = o.reorder_pkts;
  s.sack_trigger = o.sack_trigger;
  s.size_max = kMemoryBytes;
  unsigned mtu = 0;
  while (256u << mtu < o.payload) ++mtu;
  s.mtu_min = s.mtu_max = mtu;
  s.srv6_share = o.encap == Encap::Srv6 || o.encap == Encap::Srv6Srh ? 1 : 0;
  s.srh_share = o.encap == Encap::Srv6Srh ? 1 : 0;
  s.udp_share = 0;
  s.ts_share = o.timestamps || o.cc ? 1 : 0;
  s.cc_share = o.cc ? 1 : 0;
  s.cc_rate_gbps = o.cc_rate_gbps;
  s.svc_share = 0;
  s.generated = 0;
  s.wrap_share = 0;
  s.delay_ns = o.delay_ns;
  s.rto = 7;
  s.ack_with_sack = o.ack_with_sack ? 1 : 0;
  return s;
}

Plan plan_of(const BenchOptions& o, const Scenario& s) {
  Plan plan = make_plan(*o.preset, s, o.seed);
  // One profile that the NIC fills itself; addresses the same for all QPs: less to write before traffic.
  for (SidePlan* side : {&plan.dut, &plan.peer}) {
    side->profiles.resize(1);
    side->profiles[0] = {.udp = false, .list = {}, .gen = {0, static_cast<uint32_t>(o.seed) | 1, 0, 0, 0}};
    for (SidePlan::Qp& q : side->qps) {
      q.profile = 0;
      q.dmac = side->qps[0].dmac;
      q.template_address = side->qps[0].template_address;
    }
  }
  return plan;
}

/// Everything that grows while traffic runs, sampled as a whole.
struct Totals {
  enum Index {
    TxPayload,
    TxPackets,
    TxControl,  // bytes of wire time
    TxAgain,
    RxPayload,
    RxControl,
    RxAgain,
    TxSack,
    TxAck,
    TxNack,
    RxSack,
    RxAck,
    RxNack,
    RxPackets,
    TxPlane,
    RxPlane = TxPlane + MRC_PLANES,
    kNum = RxPlane + MRC_PLANES
  };
  std::array<double, kNum> at{};
};

}  // namespace

const char* name_of(Direction d) {
  return d == Direction::Send ? "send" : d == Direction::Receive ? "receive" : "both";
}

const char* name_of(Latency l) {
  static constexpr const char* kNames[] = {"wqe_to_wire", "wire_to_memory", "wire_to_sack", "sack_to_window",
                                           "nack_to_retransmission"};
  return kNames[static_cast<unsigned>(l)];
}

struct NicBench::Impl {
  explicit Impl(const BenchOptions& options)
      : o(options),
        preset(*options.preset),
        scenario(scenario_of(options)),
        plan(plan_of(options, scenario)),
        source(plan.dut.source_size, plan.dut.source_base, Rng(options.seed, "memory of dut")),
        peer_source(plan.peer.source_size, plan.peer.source_base, Rng(options.seed, "memory of peer")),
        peer({preset, plan.peer, plan.dut, peer_source, source, options.seed}),
        driver(Rng(options.seed, "bus")),
        ring(std::min<uint64_t>(plan.dut.source_size, plan.peer.regions[0].length)),
        host_rng(options.seed, "host"),
        outstanding(preset.num_qps, 0),
        msn(preset.num_qps),
        immediates(preset.num_qps),
        reported(preset.num_qps),
        own(preset.num_qps, 0) {
    for (unsigned p = 0; p < preset.num_planes; ++p) {
      tx.emplace_back(preset, p);
      rx.emplace_back(preset, p);
    }
    configure(driver, preset, plan.dut);
    for (unsigned i = 0; i < preset.num_qps; ++i) {
      const SidePlan::Qp& q = plan.dut.qps[i];
      msn[i] = q.msn;
      reported[i] = q.sq_psn;
      if (q.peer < preset.num_qps) own[q.peer] = i;
      if (q.peer < preset.num_qps) ++qps;
    }
    const double prefetch_ns = 8.0 * preset.line_fifo * preset.host_bytes / preset.port_gbps;
    read_cycles = std::max<uint64_t>(1, static_cast<uint64_t>(0.4 * prefetch_ns * 1000 / preset.clock_ps));
    read_jitter = static_cast<uint64_t>(0.3 * prefetch_ns * 1000 / preset.clock_ps);
    if (o.host_ns > 0) {
      read_cycles = std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(o.host_ns * 1000 / preset.clock_ps)));
      read_jitter = 0;
    }
    delay_ps = static_cast<uint64_t>(o.delay_ns * 1000);
    // One immediate more would be refused.
    room = o.immediates ? std::min(preset.wqe_depth, preset.max_wimm) : preset.wqe_depth;
    for (const StreamInfo& b : kCoreStreams) {
      if (std::string_view(b.name) == "tx_inflight.upd") upd_offset = static_cast<int>(b.word_offset);
    }
    peer.messages(o.payload, o.message_packets, o.immediates);
    peer.signals(o.signals);
  }

  // ---- One clock cycle

  void fail(std::string what) {
    if (problem.empty()) problem = fmt::format("cycle {}: {}", cycle, what);
  }

  void step() {
    dut->outputs(out);
    if (const DeviceFault* fault = dut->fault()) {
      if (problem.empty()) problem = fault->text;
      return;
    }
    if (const FailedAssertion* failed = dut->failed_assertion()) {
      fail(fmt::format("assertion {} failed in {}: {}", failed->name, failed->place, failed->text));
      return;
    }
    if (rules.stray(out)) {
      if (cycle >= kResetCycles) fail(rules.list(out).front().text);
      rules.mask(out);
    }
    if (cycle < kResetCycles) {
      in.rst_n = 0;
      in.link_up = static_cast<uint8_t>((1u << preset.num_planes) - 1);
    } else {
      in.rst_n = 1;
      if (!driver.idle() || in.awvalid || in.wvalid || in.arvalid) driver.cycle(out, in);
      if (traffic) host();
      ports();
      if (watching && dut->observe(core, lanes)) observe();
    }
    dut->step(in);
    ++cycle;
    if ((cycle & 0xfff) == 0) {
      peer.timers(now_ps());
      if (o.progress) o.progress(cycle);
    }
  }
  uint64_t now_ps() const { return cycle * preset.clock_ps; }

  void host() {
    in.host_rd_ready = in.host_wr_ready = in.cqe_ready = 1;
    if (out.host_rd_valid) {
      const Rdreq rd = Rdreq::unpack(out.host_rd);
      const uint8_t* data = source.at(rd.addr, rd.len);
      if (!data || rd.plane >= preset.num_planes) return fail("a host read that no WQE names");
      uint64_t& order = read_ready[rd.plane];
      order = std::max(order, cycle + read_cycles + (read_jitter ? host_rng.below(read_jitter + 1) : 0));
      reads[rd.plane].push_back({order, data});
    }
    in.host_rsp_valid = 0;
    for (unsigned k = 1; k <= preset.num_planes; ++k) {
      const unsigned p = (last_rsp + k) % preset.num_planes;
      if (reads[p].empty() || reads[p].front().first > cycle) continue;
      in.host_rsp_valid = 1;
      in.host_rsp_plane = static_cast<uint8_t>(p);
      std::memcpy(in.host_rsp_data, reads[p].front().second, preset.host_bytes);
      reads[p].pop_front();
      last_rsp = p;
      break;
    }
    if (out.host_wr_valid) {
      const uint64_t offset = out.host_wr_addr - plan.dut.host_base - plan.dut.regions[0].dest;
      const uint8_t* want = peer_source.at(peer_source.base() + offset, out.host_wr_len);
      if (!want || std::memcmp(want, out.host_wr_data, out.host_wr_len) != 0)
        return fail("a host write with wrong bytes or address");
      if (std::string wrong = host_writes.taken(out); !wrong.empty()) return fail(std::move(wrong));
      totals.at[Totals::RxPayload] += out.host_wr_len;
      if (sampling) resolve(Latency::WireToMemory, placing, offset + out.host_wr_len);
    }
    if (out.cqe_valid) {
      const Cqe cqe = Cqe::unpack(out.cqe);
      if (cqe.qp < outstanding.size() && cqe.recv && (o.immediates || o.signals)) {
        received(cqe);
      } else if (cqe.status != CqStatus::Ok || cqe.recv || cqe.qp >= outstanding.size() || outstanding[cqe.qp] == 0) {
        return fail(fmt::format("a completion with status {} on QP {}", status_text(cqe.status), cqe.qp));
      } else {
        --outstanding[cqe.qp];
        wqe_blocked = false;
      }
    }
    offer();
  }

  /// Immediates of a QP complete in the order of its messages.
  void received(const Cqe& cqe) {
    const SidePlan::Qp& qp = plan.dut.qps[cqe.qp];
    const SidePlan::Qp& sender = plan.peer.qps[qp.peer];
    const auto number = static_cast<uint16_t>(immediates[cqe.qp]++);
    const uint16_t of = msn_add(sender.msn, o.signals ? 2 * number + 1 : number);
    const uint32_t imm = bench_immediate(qp.peer, of);
    const uint16_t rqmsn = msn_add(sender.rqmsn, number);
    if (cqe.status == CqStatus::Ok && cqe.imm == imm && cqe.msn == rqmsn) return;
    fail(fmt::format("immediate {} on QP {} completes with status {}, immediate {:#x}, RQMSN {}, not Ok, {:#x}, {}",
                     number, cqe.qp, status_text(cqe.status), cqe.imm, cqe.msn, imm, rqmsn));
  }

  void offer() {
    if (!offered && sending) make_wqe();
    in.wqe_valid = offered;
    if (!offered) return;
    wqe.pack(in.wqe);
    if (!out.wqe_ready) return;
    offered = false;
    if (sampling) posted[uint64_t{wqe.qp} << 16 | wqe_msn] = cycle;
  }

  void make_wqe() {
    if (wqes_per_cycle > 0) {
      tokens = std::min(tokens + wqes_per_cycle, 4.0);
      if (tokens < 1) return;
    }
    if (wqe_blocked || (single && singles == 0)) return;
    for (unsigned tried = 0; tried < qps; ++tried) {
      cursor = cursor + 1 == qps ? 0 : cursor + 1;
      if (outstanding[cursor] >= room) continue;
      const bool signal = o.signals && bench_signal(plan.dut.qps[cursor], msn[cursor]);
      const uint32_t length = signal ? 0 : o.payload * o.message_packets;
      const uint64_t offset = ring.take(length);
      const bool imm = signal || o.immediates;
      wqe = {.qp = static_cast<QpIndex>(cursor),
             .imm_valid = imm,
             .wr_id = next_wr++,
             .laddr = source.base() + offset,
             .raddr = plan.peer.regions[0].va + offset,
             .rkey = plan.peer.regions[0].rkey,
             .length = length,
             .imm = imm ? bench_immediate(cursor, msn[cursor]) : 0};
      wqe_msn = msn[cursor]++;
      ++outstanding[cursor];
      offered = true;
      if (single) --singles;
      if (wqes_per_cycle > 0) tokens -= 1;
      return;
    }
    wqe_blocked = true;
  }

  void ports() {
    const uint64_t now = now_ps();
    unsigned ready = 0, valid = 0, last = 0;
    for (unsigned p = 0; p < preset.num_planes; ++p) {
      // Out of the device, to the peer.
      TxMac& mac = tx[p];
      const bool take = mac.ready();
      ready |= unsigned{take} << p;
      if (take && (out.tx_tvalid >> p & 1)) {
        if (!in_frame[p]) begun[p].push_back(cycle);
        in_frame[p] = !(out.tx_tlast >> p & 1);
        if (const char* wrong = mac.beat(out.tx_tdata[p], out.tx_tkeep[p], out.tx_tlast >> p & 1, now))
          fail(fmt::format("port {}: {}", p, wrong));
      }
      if (FramePtr frame = mac.start(now)) sent(std::move(frame));
      while (!to_peer[p].empty() && to_peer[p].front()->arrive_ps <= now) {
        if (std::string wrong = peer.arrive(*to_peer[p].front(), now); !wrong.empty()) fail("at the peer: " + wrong);
        to_peer[p].pop_front();
      }
      // Out of the peer, to the device.
      while (peer_free_ps[p] <= now) {
        const uint64_t begin = peer_free_ps[p] + preset.clock_ps > now ? peer_free_ps[p] : now;
        FramePtr frame = peer.next(p, begin);
        if (!frame) break;
        from_peer(std::move(frame), begin);
      }
      RxMac::Beat beat;
      if (!rx[p].beat(now, beat)) continue;
      valid |= 1u << p;
      in.rx_tkeep[p] = beat.bytes == 32 ? ~0u : (1u << beat.bytes) - 1;
      std::memcpy(in.rx_tdata[p], beat.data, beat.bytes);
      if (beat.last) {
        last |= 1u << p;
        host_writes.came(p, rx[p].finished()->bytes);
        if (sampling) received(*rx[p].finished());
      }
    }
    in.tx_tready = static_cast<uint8_t>(ready);
    in.rx_tvalid = static_cast<uint8_t>(valid);
    in.rx_tlast = static_cast<uint8_t>(last);
    in.rx_tuser = 0;
  }

  void from_peer(FramePtr frame, uint64_t begin) {
    const unsigned p = frame->plane, size = static_cast<unsigned>(frame->bytes.size());
    const FrameInfo info = look_at(frame->bytes);
    const double wire = wire_bytes(size);
    count(info, wire, p, false, o.signals && info.data() && payload_of(frame->bytes, info) == 0);
    peer_free_ps[p] = begin + static_cast<uint64_t>(wire) * byte_ps(preset);
    frame->sent_ps = begin;
    frame->arrive_ps = begin + uint64_t{kPreambleBytes + size + kFcsBytes} * byte_ps(preset) + delay_ps;
    frame->seq = seq++;
    rx[p].arrive(std::move(frame));
  }

  void count(const FrameInfo& info, double wire, unsigned plane, bool tx_side, bool signal) {
    auto& t = totals.at;
    if (!info.data()) {
      t[tx_side ? Totals::TxControl : Totals::RxControl] += wire;
      if (info.is(wire::Opcode::Sack)) ++t[tx_side ? Totals::TxSack : Totals::RxSack];
      if (info.is(wire::Opcode::Nack)) ++t[tx_side ? Totals::TxNack : Totals::RxNack];
      if (info.is(wire::Opcode::Ack)) ++t[tx_side ? Totals::TxAck : Totals::RxAck];
    } else if (info.rtx) {
      t[tx_side ? Totals::TxAgain : Totals::RxAgain] += wire;
    } else {
      t[tx_side ? Totals::TxPackets : Totals::RxPackets] += !signal;
      t[(tx_side ? Totals::TxPlane : Totals::RxPlane) + plane] += wire;
    }
  }

  /// A frame of the device has begun on the wire.
  void sent(FramePtr frame) {
    const unsigned p = frame->plane, size = static_cast<unsigned>(frame->bytes.size());
    const FrameInfo info = look_at(frame->bytes);
    const uint64_t began = begun[p].front();
    begun[p].pop_front();
    const bool signal = o.signals && info.data() && payload_of(frame->bytes, info) == 0;
    count(info, wire_bytes(size), p, true, signal);
    if (info.data() && !info.rtx && !signal) totals.at[Totals::TxPayload] += o.payload;
    if (sampling) {
      const uint32_t index = info.dqp - kQpnBase;
      const unsigned qp = index < own.size() ? own[index] : 0;
      const uint8_t* ext = &frame->bytes[info.inner + 60];
      if (info.data()) {
        if (info.rtx) {
          resolve(Latency::NackToRetransmission, nacked, key(qp, info.psn), began);
        } else {
          resolve(Latency::WqeToWire, posted, uint64_t{qp} << 16 | wire::Meth::read(ext).msn, began);
        }
      } else if (info.is(wire::Opcode::Sack)) {
        const auto seth = wire::Seth::read(ext);
        const uint32_t psn = psn_add(seth.cack_psn, seth.ack_psn_offset);
        if (!seth.pr) resolve(Latency::WireToSack, arrived, key(qp, psn), began);
      }
    }
    frame->arrive_ps = frame->sent_ps + uint64_t{kPreambleBytes + size + kFcsBytes} * byte_ps(preset) + delay_ps;
    to_peer[p].push_back(std::move(frame));
  }

  /// Latency: the last beat of a frame is at the device's port in this cycle.
  void received(const Frame& frame) {
    const FrameInfo info = look_at(frame.bytes);
    const uint32_t qp = info.dqp - kQpnBase;
    if (!info.mrc || qp >= reported.size()) return;
    const uint8_t* ext = &frame.bytes[info.inner + 60];
    if (info.data()) {
      const bool ts = wire::Bth::read(ext - wire::Bth::kBytes).ts;
      const uint64_t va = wire::Reth::read(ext + wire::Meth::kBytes + (ts ? wire::Tseth::kBytes : 0)).va;
      placing[va - plan.dut.regions[0].va + o.payload] = cycle;
      arrived[key(qp, info.psn)] = cycle;
    } else if (info.is(wire::Opcode::Nack)) {
      nacked[key(qp, wire::Neth::read(ext).nack_psn)] = cycle;
    } else if (info.is(wire::Opcode::Sack) || info.is(wire::Opcode::Ack)) {
      const uint32_t una = psn_add(info.is(wire::Opcode::Sack) ? wire::Seth::read(ext).cack_psn : info.psn, 1);
      if (!psn_before(reported[qp], una)) return;
      reported[qp] = una;
      if (info.is(wire::Opcode::Sack)) window[qp].push_back({una, cycle});
    }
  }

  static uint64_t key(uint64_t qp, uint64_t psn) { return qp << 24 | psn; }
  void resolve(Latency which, std::unordered_map<uint64_t, uint64_t>& since, uint64_t id) {
    resolve(which, since, id, cycle);
  }
  void resolve(Latency which, std::unordered_map<uint64_t, uint64_t>& since, uint64_t id, uint64_t now) {
    const auto found = since.find(id);
    if (found == since.end()) return;
    if (found->second >= sample_from)
      latency.samples[static_cast<unsigned>(which)].push_back(static_cast<uint32_t>(now - found->second));
    since.erase(found);
  }

  void observe() {
    if (counting) {
      ++observed;
      for (unsigned b = 0; b < kNumCoreStreams; ++b) {
        const uint32_t flags = core[kCoreStreams[b].word_offset];
        busy[b] += (flags & 3) == 3;
        blocked[b] += (flags & 3) == 1;
      }
      for (unsigned p = 0; p < preset.num_planes; ++p) {
        for (unsigned b = 0; b < kNumLaneStreams; ++b) {
          const uint32_t flags = lanes[p * kObsLaneWords + kLaneStreams[b].word_offset];
          busy[kNumCoreStreams + b] += (flags & 3) == 3;
          blocked[kNumCoreStreams + b] += (flags & 3) == 1;
        }
      }
    }
    if (sampling && upd_offset >= 0 && (core[upd_offset] & 3) == 3) {
      const Upd upd = Upd::unpack(core + upd_offset + 1);
      auto& waiting = window[upd.qp];
      while (!waiting.empty() && !psn_before(upd.una, waiting.front().first)) {
        if (waiting.front().second >= sample_from) {
          latency.samples[static_cast<unsigned>(Latency::SackToWindow)].push_back(
              static_cast<uint32_t>(cycle - waiting.front().second));
        }
        waiting.pop_front();
      }
    }
  }

  DataPackets packets() const {
    return {o.payload, o.encap, scenario.ts_share != 0, o.immediates ? o.message_packets : 0,
            o.signals ? o.message_packets : 0};
  }

  /// True: stopped, or something is wrong.
  bool over() const { return !problem.empty() || (o.stop && o.stop->load(std::memory_order_relaxed)); }

  bool run(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles && !over(); ++i) step();
    return !over();
  }

  /// Lets the peer's rate follow what the device places, as long as the device loses packets. CNT_OVF is read all the
  /// time: NACKs tell late, and of frames dropped whole nothing is told to anybody.
  void follow() {
    const uint64_t drops = overflows();
    const double placed = totals.at[Totals::RxPayload];
    const double share = (placed - follow_placed) * 8000 / (static_cast<double>(kFollowCycles) * preset.clock_ps) /
                         goodput_limit(preset, packets(), 0);
    if (drops != follow_drops) {
      peer.pace(std::clamp(share, 0.75 * peer.pace(), 0.97 * peer.pace()));
    } else if (peer.pace() < 1) {
      peer.pace(std::min(1.0, peer.pace() * 1.02));
    }
    follow_drops = drops;
    follow_placed = placed;
    if (!driver.idle()) return;
    for (unsigned p = 0; p < preset.num_planes; ++p) {
      driver.read(static_cast<uint16_t>(csr::kCntOvf0 + 4 * p), [this, p](uint32_t data, unsigned) { ovf[p] = data; });
    }
  }
  uint64_t overflows() const {
    uint64_t sum = 0;
    for (const uint32_t n : ovf) sum += n;
    return sum;
  }
  bool run_following(uint64_t cycles) {
    for (uint64_t done = 0; done < cycles; done += kFollowCycles) {
      if (!run(std::min(kFollowCycles, cycles - done))) return false;
      follow();
    }
    return true;
  }

  static constexpr uint64_t kFollowCycles = 2000;

  BenchOptions o;
  const Preset& preset;
  Scenario scenario;
  Plan plan;
  SourceMemory source, peer_source;
  LinePeer peer;
  Driver driver;
  std::unique_ptr<Dut> dut;
  PinRules rules{preset};
  mrc_pins_in in{};
  mrc_pins_out out{};
  uint64_t cycle = 0, delay_ps = 0, seq = 0;
  std::string problem;
  bool traffic = false, sending = false, single = false, watching = false, counting = false, sampling = false;

  // host
  MessageRing ring;
  HostWrites host_writes{preset};
  Rng host_rng;
  std::array<std::deque<std::pair<uint64_t, const uint8_t*>>, kMaxPlanes> reads;
  std::array<uint64_t, kMaxPlanes> read_ready{};
  unsigned last_rsp = 0;
  uint64_t read_cycles = 1, read_jitter = 0;
  std::vector<unsigned> outstanding;
  std::vector<uint16_t> msn;
  std::vector<uint32_t> immediates;  // that have completed
  unsigned room = 0;                 // work requests that a QP may have open
  unsigned qps = 0, cursor = 0;
  bool offered = false, wqe_blocked = false;
  Wqe wqe;
  uint16_t wqe_msn = 0;
  uint32_t next_wr = 0;
  double wqes_per_cycle = 0, tokens = 0;
  uint64_t singles = 0;

  // ports
  std::vector<TxMac> tx;
  std::vector<RxMac> rx;
  std::array<std::deque<FramePtr>, kMaxPlanes> to_peer;
  std::array<uint64_t, kMaxPlanes> peer_free_ps{};
  std::array<std::deque<uint64_t>, kMaxPlanes> begun;  // cycle of the first beat of frames not on the wire yet
  std::array<bool, kMaxPlanes> in_frame{};

  // figures
  Totals totals;
  uint64_t follow_drops = 0;
  std::array<uint32_t, kMaxPlanes> ovf{};  // CNT_OVF of each plane, as last read
  double follow_placed = 0;
  const uint32_t *core = nullptr, *lanes = nullptr;
  std::array<uint64_t, kNumCoreStreams + kNumLaneStreams> busy{}, blocked{};
  uint64_t observed = 0;
  int upd_offset = -1;
  LatencyResult latency;
  uint64_t sample_from = 0;
  std::unordered_map<uint64_t, uint64_t> posted, placing, arrived, nacked;
  std::unordered_map<unsigned, std::deque<std::pair<uint32_t, uint64_t>>> window;
  std::vector<uint32_t> reported;
  std::vector<unsigned> own;
};

NicBench::NicBench(const BenchOptions& options) : impl_(std::make_unique<Impl>(options)) {}
NicBench::~NicBench() = default;

uint64_t NicBench::cycles() const { return impl_->cycle; }
const DeviceFault* NicBench::fault() const { return impl_->dut ? impl_->dut->fault() : nullptr; }
void NicBench::close() {
  if (impl_->dut) impl_->dut->close();
}

std::string NicBench::start() {
  Impl& b = *impl_;
  std::string error;
  b.dut = b.o.open(error);
  if (!b.dut) return error;
  constexpr uint64_t kLong = 4'000'000;
  while (!b.over() && (b.cycle <= kResetCycles || !b.driver.idle()) && b.cycle < kLong) b.step();
  if (!b.over() && !b.driver.idle()) b.fail("the register bus does not answer");
  if (b.driver.unexpected() != 0) b.fail(fmt::format("{} register accesses were refused", b.driver.unexpected()));
  b.traffic = true;
  b.run(500);
  return b.problem;
}

Throughput NicBench::measure(Direction direction, std::string& problem) {
  Impl& b = *impl_;
  const auto begin = std::chrono::steady_clock::now();
  const Preset& preset = b.preset;
  Throughput result;
  result.direction = direction;
  const bool sends = direction != Direction::Receive, receives = direction != Direction::Send;
  b.sending = sends;
  b.peer.send(receives);
  b.peer.pace(1);
  bool fine = b.run_following(b.o.warm_cycles);

  // Rates from the mean of every counter over the first and over the last tenth of the window: whole packets that fall
  // into the window or out of it do not matter.
  const uint64_t tenth = std::max<uint64_t>(1, b.o.cycles / 10);
  std::array<double, Totals::kNum> first{}, last{};
  b.busy.fill(0);
  b.blocked.fill(0);
  b.observed = 0;
  b.watching = b.counting = true;
  const uint64_t drops = b.overflows();
  for (uint64_t i = 0; fine && i < b.o.cycles; ++i) {
    if (i % Impl::kFollowCycles == 0) b.follow();
    b.step();
    fine = !b.over();
    if (i < tenth) {
      for (unsigned k = 0; k < Totals::kNum; ++k) first[k] += b.totals.at[k];
    } else if (i >= b.o.cycles - tenth) {
      for (unsigned k = 0; k < Totals::kNum; ++k) last[k] += b.totals.at[k];
    }
  }
  b.watching = b.counting = false;
  problem = b.problem;
  result.complete = fine;
  result.cycles = b.o.cycles;
  if (!fine) return result;

  const double ns = static_cast<double>((b.o.cycles - tenth) * preset.clock_ps) / 1000;
  std::array<double, Totals::kNum> rate;  // per nanosecond
  for (unsigned k = 0; k < Totals::kNum; ++k) rate[k] = (last[k] - first[k]) / static_cast<double>(tenth) / ns;
  const double capacity = capacity_gbps(preset);
  const DataPackets packets = b.packets();
  const auto flow = [&](bool tx_side) {
    Flow f;
    f.goodput_gbps = 8 * rate[tx_side ? Totals::TxPayload : Totals::RxPayload];
    f.packets_per_second = f.goodput_gbps / 8 / b.o.payload * 1e9;
    f.control_gbps = 8 * rate[tx_side ? Totals::TxControl : Totals::RxControl];
    f.control_share = f.control_gbps / capacity;
    f.offered_gbps = 8 * rate[tx_side ? Totals::TxPackets : Totals::RxPackets] * b.o.payload;
    f.retransmitted_share = 8 * rate[tx_side ? Totals::TxAgain : Totals::RxAgain] / capacity;
    f.limit_gbps = goodput_limit(preset, packets, f.control_gbps);
    f.ratio = f.goodput_gbps / f.limit_gbps;
    f.ratio_of_data = f.goodput_gbps / goodput_limit(preset, packets, 0);
    double all = 0, low = 1e300, high = 0;
    for (unsigned p = 0; p < preset.num_planes; ++p) {
      const double plane = rate[(tx_side ? Totals::TxPlane : Totals::RxPlane) + p];
      all += plane;
      low = std::min(low, plane);
      high = std::max(high, plane);
    }
    if (all > 0) {
      f.plane_share_min = low / all;
      f.plane_share_max = high / all;
    }
    const double other = rate[tx_side ? Totals::RxPackets : Totals::TxPackets];
    if (other > 0) {
      f.sacks = rate[tx_side ? Totals::TxSack : Totals::RxSack] / other;
      f.acks = rate[tx_side ? Totals::TxAck : Totals::RxAck] / other;
      f.nacks = rate[tx_side ? Totals::TxNack : Totals::RxNack] / other;
    }
    return f;
  };
  if (sends) result.send = flow(true);
  if (receives) {
    result.receive = flow(false);
    result.receive.pace = b.peer.pace();
    result.receive.drops = b.overflows() - drops;
  }
  for (unsigned k = 0; k < kNumCoreStreams + kNumLaneStreams && b.observed != 0; ++k) {
    const bool lane = k >= kNumCoreStreams;
    const char* name = lane ? kLaneStreams[k - kNumCoreStreams].name : kCoreStreams[k].name;
    const double n = static_cast<double>(b.observed) * (lane ? preset.num_planes : 1);
    if (b.busy[k] + b.blocked[k] != 0)
      result.occupancy[name] = {static_cast<double>(b.busy[k]) / n, static_cast<double>(b.blocked[k]) / n};
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

LatencyResult NicBench::latencies(double load, std::string& problem) {
  Impl& b = *impl_;
  const Preset& preset = b.preset;
  b.latency.load = load;
  b.sampling = b.watching = true;
  bool fine = true;
  if (load == 0) {
    // One packet at a time, either way, with nothing else in the NIC; every third one of the device is NACKed.
    constexpr unsigned kPackets = 30;
    const uint64_t gap = 3000 + static_cast<uint64_t>(3 * b.o.delay_ns * 1000) / preset.clock_ps;
    b.single = true;
    b.sending = true;
    b.peer.single(true);
    b.peer.send(true);
    b.peer.trim_every(3);
    for (unsigned i = 0; i < kPackets && fine; ++i) {
      b.singles = 1;
      fine = b.run(gap);
      if (!fine) break;
      b.peer.send_one();
      fine = b.run(gap / 2);
    }
  } else {
    // So many WQEs per cycle, and such a pace of the peer, that data, SACKs and ACKs together take this share.
    const double data = data_wire_bytes(b.packets());
    const double packets_per_sack =
        std::max(1.0, b.plan.peer.sack_trigger / static_cast<double>(std::max(b.o.payload, 1024u)));
    const double control = wire_bytes(control_frame_bytes(36, b.o.encap)) / packets_per_sack +
                           wire_bytes(control_frame_bytes(4, b.o.encap)) / double(b.o.message_packets);
    constexpr unsigned kTrimEvery = 41;
    const double packet_ns = ((1 + 1.0 / kTrimEvery) * data + control) * 8 / capacity_gbps(preset);
    b.wqes_per_cycle = load / packet_ns * preset.clock_ps / 1000 / b.o.message_packets;
    b.sending = true;
    b.peer.send(true);
    b.peer.pace(load * data / (data + control));
    b.peer.trim_every(kTrimEvery);
    b.sample_from = b.cycle + b.o.warm_cycles;
    fine = b.run(b.o.warm_cycles + b.o.cycles);
  }
  problem = b.problem;
  b.sampling = b.watching = false;
  b.latency.complete = fine;
  for (auto& list : b.latency.samples) std::sort(list.begin(), list.end());
  return b.latency;
}

}  // namespace mrc::tb
