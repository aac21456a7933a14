// SPDX-License-Identifier: Apache-2.0
#include "pipeline/nic.hpp"

#include <cstring>
#include <vector>

#include "gen/csr.hpp"
#include "gen/streams.hpp"
#include "pipeline/cc/cc_nscc.hpp"
#include "pipeline/ctl/ack_gen.hpp"
#include "pipeline/ctl/cq_mux.hpp"
#include "pipeline/ctl/csr.hpp"
#include "pipeline/ctl/endpoint.hpp"
#include "pipeline/lib/demux.hpp"
#include "pipeline/lib/stream.hpp"
#include "pipeline/rx/rx_check.hpp"
#include "pipeline/rx/rx_lane.hpp"
#include "pipeline/rx/rx_place.hpp"
#include "pipeline/rx/rx_reorder.hpp"
#include "pipeline/rx/track/rx_track.hpp"
#include "pipeline/tx/inflight/tx_inflight.hpp"
#include "pipeline/tx/segment/tx_segment.hpp"
#include "pipeline/tx/tx_fetch.hpp"
#include "pipeline/tx/tx_header.hpp"
#include "pipeline/tx/tx_lane.hpp"
#include "pipeline/tx/tx_path.hpp"
#include "pipeline/tx/tx_probe.hpp"
#include "pipeline/tx/tx_sched.hpp"

namespace mrc {

static_assert(MRC_PLANES == kMaxPlanes && MRC_LINE_BYTES == kMaxLineBytes);
static_assert(MRC_WQE_WORDS == Wqe::kWords && MRC_CQE_WORDS == Cqe::kWords && MRC_RDREQ_WORDS == Rdreq::kWords);

namespace {

template <class T>
std::vector<Stream<T>> make_streams(std::size_t planes, bool* touched) {
  return std::vector<Stream<T>>(planes, Stream<T>(2, touched));
}

template <class T>
std::vector<Stream<T>*> pointers(std::vector<Stream<T>>& streams) {
  std::vector<Stream<T>*> all;
  for (Stream<T>& s : streams) all.push_back(&s);
  return all;
}

/// True when one of a block's pulse registers is set: all of them at once.
template <class Pulses>
bool any(const Pulses& pulses) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&pulses);  // all are bool
  unsigned bits = 0;
  for (std::size_t i = 0; i < sizeof pulses; ++i) bits |= bytes[i];
  return bits != 0;
}

/// Word 0 of a boundary, and its data when valid.
template <class T>
void show(uint32_t* obs, const BoundaryInfo& at, bool valid, bool ready, const T& data) {
  uint32_t* words = obs + at.word_offset;
  words[0] = (valid ? 1u : 0u) | (ready ? 2u : 0u);
  if (valid) data.pack(words + 1);
}

template <class S>
void show(uint32_t* obs, const BoundaryInfo& at, const S& stream) {
  show(obs, at, stream.valid(), stream.ready(), stream.data());
}

constexpr const BoundaryInfo& core_at(CoreB b) { return kCoreBoundaries[static_cast<unsigned>(b)]; }
constexpr const BoundaryInfo& lane_at(LaneB b) { return kLaneBoundaries[static_cast<unsigned>(b)]; }

}  // namespace

struct Nic::Impl {
  explicit Impl(const Preset& p);

  void step(const mrc_pins_in& in);
  void step_registers(const mrc_pins_in& in);
  void step_transmit(const mrc_pins_in& in);
  void step_receive(const mrc_pins_in& in);
  void count();
  void clock();

  const Preset preset;
  const unsigned planes;

  // Streams in groups: whether any of a group has something to do at the next clock(). Most cycles are without most.
  struct Groups {
    bool send, receive, control, rare;
    bool rdreq, desc, line;  // of the lanes
  };
  Groups touched{};

  // Streams, by producer.
  Fifo<Wqe> wqe{2, &touched.send};
  Stream<Sched> push{2, &touched.send};
  Stream<Grant> park{2, &touched.rare};
  Stream<Ccwake> wake{2, &touched.rare};
  Fifo<Grant> grant{2, &touched.send};
  Stream<Ccask> ask{2, &touched.rare}, rask{2, &touched.rare};
  Stream<Ccret> ret{2, &touched.rare};
  Stream<Ccans> ans{2, &touched.rare}, rans{2, &touched.rare};
  Stream<Ccev> ccev{CcNscc::kEvDepth, &touched.rare};
  Stream<Okev> okev{2, &touched.rare};
  Stream<Qperr> inflight_qperr{2, &touched.rare};
  Stream<Pkt> pkt{2, &touched.send};
  Fifo<Cqe> tx_cqe{2, &touched.control};
  Stream<Path> path{2, &touched.send};
  Stream<Rec> rec{2, &touched.send};
  Stream<Evev> evev{2, &touched.rare};
  Stream<Badev> bad{2, &touched.rare};
  Stream<Retx> retx{2, &touched.rare};
  Stream<Upd> upd{2, &touched.control};
  Stream<Fb> fb{2, &touched.rare};
  Stream<Pres> pres{2, &touched.rare};
  Stream<Stateq> stateq{2, &touched.rare};
  Stream<Fb> pfb{2, &touched.rare};
  Stream<Ctlpkt> probe{2, &touched.rare};
  std::vector<Stream<Rdreq>> lane_rdreq;
  std::vector<Fifo<Rxdesc>> desc;
  Stream<Rxpkt> rxpkt{2, &touched.receive};
  Stream<Ctl> ctl{2, &touched.control};
  Stream<Eprx> eprx{16, &touched.rare};
  Stream<Qperr> track_qperr{2, &touched.rare}, reorder_qperr{2, &touched.rare};
  PlaneDemux<Verdict> verdict;
  Stream<Resp> resp{16, &touched.receive};
  Stream<Ackev> ackev{2, &touched.receive};
  Stream<Ord> ord{2, &touched.receive};
  Stream<Cqe> rx_cqe{2, &touched.receive};
  Stream<Ctlpkt> ctlpkt{2, &touched.control};
  std::vector<Stream<Line>> lane_line;
  Stream<Okev> eokev{2, &touched.rare};
  Stream<Want> want{16, &touched.rare};
  Stream<Ctlpkt> eprq{2, &touched.rare};
  Stream<Resp> eresp{2, &touched.rare};
  Stream<Pmask> pmask{2, &touched.rare};
  Stream<Evr> evr{2, &touched.rare};
  Stream<Pans> pans{2, &touched.rare};
  Stream<Evp> evp{2, &touched.rare};

  Csr csr;
  TxSched tx_sched;
  CcNscc cc_nscc;
  TxSegment tx_segment;
  TxPath tx_path;
  TxInflight tx_inflight;
  TxProbe tx_probe;
  TxHeader tx_header;
  std::vector<TxLane> tx_lanes;
  TxFetch tx_fetch;
  std::vector<RxLane> rx_lanes;
  RxCheck rx_check;
  RxTrack rx_track;
  RxPlace rx_place;
  RxReorder rx_reorder;
  AckGen ack_gen;
  Endpoint endpoint;
  CqMux cq_mux;

  unsigned port_up = 0, port_up_next = 0;
  unsigned lane_room = 0;  // bit p: of tx_lanes[p]
  bool fresh = true;       // no step since reset

  // Inputs of the last step, for the boundaries that are pins.
  bool wqe_valid = false, cqe_ready = false, rdreq_ready = false, line_ready = false;
  uint32_t wqe_words[Wqe::kWords] = {};

  // What observe() shows, and the groups that have been clocked since: the others stand there as they are.
  Groups moved{true, true, true, true, true, true, true};
  std::vector<uint32_t> seen_core = std::vector<uint32_t>(kObsCoreWords);
  std::vector<uint32_t> seen_lanes = std::vector<uint32_t>(std::size_t{planes} * kObsLaneWords);
};

Nic::Impl::Impl(const Preset& p)
    : preset(p),
      planes(p.num_planes),
      lane_rdreq(make_streams<Rdreq>(planes, &touched.rdreq)),
      desc(planes, Fifo<Rxdesc>(2, &touched.desc)),
      verdict(planes, p.lane_fifo, &touched.receive),
      lane_line(make_streams<Line>(planes, &touched.line)),
      csr(p, evev, pmask, {&inflight_qperr, &track_qperr, &reorder_qperr}, evr, evp),
      tx_sched(p, push, park, wake, grant),
      cc_nscc(p, {ccev, ask, rask, ret}, {ans, rans, wake}),
      tx_segment(p, {wqe, grant, retx, upd, ans}, {pkt, push, park, ask, ret, tx_cqe}),
      tx_path(p, pkt, fb, pfb, path, rec, evev, bad),
      tx_inflight(p, {rec, ctl, rans}, {retx, upd, fb, pres, ccev, rask, okev, inflight_qperr, stateq}),
      tx_probe(p, {bad, pres, pans}, pfb, probe),
      tx_header(p, path, ctlpkt, probe, eprq),
      tx_fetch(p, pointers(lane_rdreq)),
      rx_check(p, desc, rxpkt, ctl, eprx),
      rx_track(p, rxpkt, verdict, resp, ackev, ord, track_qperr),
      rx_place(p, lane_line),
      rx_reorder(p, ord, rx_cqe, reorder_qperr),
      ack_gen(p, {resp, ackev, eresp, okev, eokev, stateq}, ctlpkt, want),
      endpoint(p, {eprx, want, evp}, {eprq, eresp, eokev, pmask, evr, pans}),
      cq_mux(tx_cqe, rx_cqe) {
  tx_lanes.reserve(planes);
  rx_lanes.reserve(planes);
  for (unsigned i = 0; i < planes; ++i) {
    tx_lanes.emplace_back(p, i, lane_rdreq[i]);
    rx_lanes.emplace_back(p, desc[i], verdict.lane(i), lane_line[i]);
    lane_room |= unsigned{tx_lanes[i].lane_room()} << i;
  }
}

void Nic::Impl::step(const mrc_pins_in& in) {
  fresh = false;
  step_registers(in);
  step_transmit(in);
  step_receive(in);
  count();
  wqe_valid = in.wqe_valid != 0;
  if (wqe_valid) std::memcpy(wqe_words, in.wqe, sizeof wqe_words);
  cqe_ready = in.cqe_ready != 0;
  rdreq_ready = in.host_rd_ready != 0;
  line_ready = in.host_wr_ready != 0;
  port_up_next = in.link_up & ((1u << planes) - 1);
  clock();
}

void Nic::Impl::step_registers(const mrc_pins_in& in) {
  bool all = false, any = false;
  if (csr.table_write()) {
    const unsigned acks = unsigned{tx_segment.cfg_ack()} + tx_path.cfg_ack() + tx_inflight.cfg_ack() +
                          tx_header.cfg_ack() + rx_check.cfg_ack() + rx_track.cfg_ack() + rx_reorder.cfg_ack() +
                          ack_gen.cfg_ack() + tx_probe.cfg_ack() + tx_sched.cfg_ack() + cc_nscc.cfg_ack() +
                          endpoint.cfg_ack();
    all = acks == 12;
    any = acks != 0;
  }
  csr.step({.awvalid = in.awvalid != 0,
            .wvalid = in.wvalid != 0,
            .bready = in.bready != 0,
            .arvalid = in.arvalid != 0,
            .rready = in.rready != 0,
            .awaddr = in.awaddr,
            .araddr = in.araddr,
            .wdata = in.wdata,
            .wstrb = in.wstrb,
            .all_ack = all,
            .any_ack = any,
            .port_up = port_up});
}

void Nic::Impl::step_transmit(const mrc_pins_in& in) {
  const CfgBus& cfg = csr.cfg();
  const CsrOut& values = csr.values();
  if (in.wqe_valid && wqe.ready()) wqe.push() = Wqe::unpack(in.wqe);
  tx_sched.step(cfg);
  cc_nscc.step(cfg, values.tick);
  tx_segment.step(cfg, values, tx_inflight.pulses().freed);
  tx_path.step(cfg, values, {.lane_room = lane_room, .port_up = port_up});
  tx_inflight.step(cfg, values);
  tx_probe.step(cfg, values, port_up);
  const Hdr& hdr = tx_header.hdr().data();
  TxLane& to = tx_lanes[hdr.plane];
  const bool hdr_ready = hdr.ctl ? to.hdr_ready_ctl() : to.hdr_ready_data();
  if (tx_header.hdr().valid() && hdr_ready) to.push_hdr(hdr);
  tx_header.step(cfg, values, hdr_ready);
  for (unsigned i = 0; i < planes; ++i) {
    if (tx_lanes[i].tx_inc()) csr.count(csr::kCntTx0 + 4 * i);
    tx_lanes[i].step({.tready = (in.tx_tready >> i & 1) != 0,
                      .rsp_valid = in.host_rsp_valid && in.host_rsp_plane == i,
                      .rsp = in.host_rsp_data});
  }
  tx_fetch.step(in.host_rd_ready != 0);
}

void Nic::Impl::step_receive(const mrc_pins_in& in) {
  const CfgBus& cfg = csr.cfg();
  const CsrOut& values = csr.values();
  for (unsigned i = 0; i < planes; ++i) {
    if (rx_lanes[i].rx_inc()) csr.count(csr::kCntRx0 + 4 * i);
    if (rx_lanes[i].ovf_inc()) csr.count(csr::kCntOvf0 + 4 * i);
    rx_lanes[i].step(values, {.tvalid = (in.rx_tvalid >> i & 1) != 0,
                              .tlast = (in.rx_tlast >> i & 1) != 0,
                              .tuser = (in.rx_tuser >> i & 1) != 0,
                              .tkeep = in.rx_tkeep[i],
                              .tdata = in.rx_tdata[i]});
  }
  rx_check.step(cfg, values);
  rx_track.step(cfg, values, {.imm_ok = rx_reorder.imm_ok(), .hold_ok = rx_reorder.hold_ok(), .over = rx_reorder.over()});
  rx_place.step(in.host_wr_ready != 0);
  rx_reorder.step(cfg, {.done_valid = rx_place.done_valid(), .done_plane = rx_place.done_plane()});
  ack_gen.step(cfg, values, port_up);
  endpoint.step(cfg, values, port_up);
  cq_mux.step(in.cqe_ready != 0);
}

/// Counters take the pulse registers of this cycle; those of the lanes do it where the lanes step.
void Nic::Impl::count() {
  if (const RxCheck::Pulses& c = rx_check.pulses(); any(c)) {
    if (c.drop_parse) csr.count(csr::kCntDropParse);
    if (c.drop_icrc) csr.count(csr::kCntDropIcrc);
    if (c.drop_qp) csr.count(csr::kCntDropQp);
    if (c.drop_pkey) csr.count(csr::kCntDropPkey);
    if (c.drop_len) csr.count(csr::kCntDropLen);
    if (c.access) csr.count(csr::kCntAccess);
  }
  if (const RxTrack::Pulses& t = rx_track.pulses(); any(t)) {
    if (t.dup) csr.count(csr::kCntDup);
    if (t.oor) csr.count(csr::kCntOor);
    if (t.trim) csr.count(csr::kCntTrim);
    if (t.nores) csr.count(csr::kCntNores);
  }
  if (const TxInflight::Pulses& f = tx_inflight.pulses(); any(f)) {
    if (f.rtx) csr.count(csr::kCntRtx);
    if (f.rto) csr.count(csr::kCntRto);
    if (f.fail) csr.count(csr::kCntQpFail);
    if (f.state) csr.count(csr::kCntState);
  }
  if (const TxPath::Pulses& e = tx_path.pulses(); any(e)) {
    if (e.skip) csr.count(csr::kCntSkip);
    if (e.bad) csr.count(csr::kCntEvBad);
    if (e.floor) csr.count(csr::kCntEvFloor);
    if (e.nopath) csr.count(csr::kCntNopath);
  }
  if (const TxProbe::Pulses& b = tx_probe.pulses(); any(b)) {
    if (b.sent) csr.count(csr::kCntProbe);
    if (b.revived) csr.count(csr::kCntRevived);
    if (b.full) csr.count(csr::kCntProbeFull);
  }
  if (const CcNscc::Pulses& w = cc_nscc.pulses(); any(w)) {
    if (w.md) csr.count(csr::kCntCcMd);
    if (w.qa) csr.count(csr::kCntCcQa);
    if (w.hold) csr.count(csr::kCntCcHold);
  }
  if (const Endpoint::Pulses& p = endpoint.pulses(); any(p)) {
    if (p.req) csr.count(csr::kCntEpReq);
    if (p.rsp) csr.count(csr::kCntEpRsp);
    if (p.drop) csr.count(csr::kCntEpDrop);
  }
}

void Nic::Impl::clock() {
  const auto clock_group = [](bool& group, bool& seen, auto&... streams) {
    if (!group) return;
    group = false;
    seen = true;
    (streams.clock(), ...);
  };
  const auto clock_lanes = [](bool& group, bool& seen, auto& lanes) {
    if (!group) return;
    group = false;
    seen = true;
    for (auto& stream : lanes) stream.clock();
  };
  clock_group(touched.send, moved.send, wqe, push, grant, pkt, path, rec);
  clock_group(touched.receive, moved.receive, rxpkt, verdict, resp, ackev, ord, rx_cqe);
  clock_group(touched.control, moved.control, ctl, upd, tx_cqe, ctlpkt);
  clock_group(touched.rare, moved.rare, retx, fb, evev, bad, pres, stateq, pfb, probe, park, wake, ask, ret, ans, rask,
              rans, ccev, okev, inflight_qperr, track_qperr, reorder_qperr, eprx, eokev, want, eprq, eresp, pmask, evr,
              pans, evp);
  clock_lanes(touched.rdreq, moved.rdreq, lane_rdreq);
  clock_lanes(touched.desc, moved.desc, desc);
  clock_lanes(touched.line, moved.line, lane_line);
  lane_room = 0;
  for (unsigned i = 0; i < planes; ++i) {
    tx_lanes[i].clock();
    rx_lanes[i].clock();
    lane_room |= unsigned{tx_lanes[i].lane_room()} << i;
  }
  csr.clock();
  tx_sched.clock();
  cc_nscc.clock();
  tx_segment.clock();
  tx_path.clock();
  tx_inflight.clock();
  tx_probe.clock();
  tx_header.clock();
  tx_fetch.clock();
  rx_check.clock();
  rx_track.clock();
  rx_place.clock();
  rx_reorder.clock();
  ack_gen.clock();
  cq_mux.clock();
  endpoint.clock();
  port_up = port_up_next;
}

Nic::Nic(const Preset& preset) : impl_(std::make_unique<Impl>(preset)) {}
Nic::~Nic() = default;
Nic::Nic(Nic&&) noexcept = default;
Nic& Nic::operator=(Nic&&) noexcept = default;

const Preset& Nic::preset() const { return impl_->preset; }

void Nic::outputs(mrc_pins_out& pins) const {
  const Impl& n = *impl_;
  const Csr::Out bus = n.csr.out();
  pins.awready = bus.awready;
  pins.wready = bus.wready;
  pins.bvalid = bus.bvalid;
  pins.bresp = bus.bresp;
  pins.arready = bus.arready;
  pins.rvalid = bus.rvalid;
  pins.rresp = bus.rresp;
  pins.rdata = bus.rdata;
  pins.wqe_ready = n.wqe.ready();
  pins.cqe_valid = n.cq_mux.cqe_valid();
  if (pins.cqe_valid) n.cq_mux.cqe().pack(pins.cqe);
  pins.host_rd_valid = n.tx_fetch.rdreq().valid();
  if (pins.host_rd_valid) n.tx_fetch.rdreq().data().pack(pins.host_rd);
  pins.host_wr_valid = n.rx_place.line_valid();
  if (pins.host_wr_valid) {
    const Line& line = n.rx_place.line();
    pins.host_wr_addr = line.addr;
    pins.host_wr_len = line.len;
    std::memcpy(pins.host_wr_data, line.data.data(), sizeof pins.host_wr_data);
  }
  pins.tx_tvalid = pins.tx_tlast = 0;
  for (unsigned i = 0; i < n.planes; ++i) {
    const TxLane& lane = n.tx_lanes[i];
    if (!lane.tvalid()) continue;
    pins.tx_tvalid = static_cast<uint8_t>(pins.tx_tvalid | 1u << i);
    if (lane.tlast()) pins.tx_tlast = static_cast<uint8_t>(pins.tx_tlast | 1u << i);
    pins.tx_tkeep[i] = lane.tkeep();
    std::memcpy(pins.tx_tdata[i], lane.tdata(), sizeof pins.tx_tdata[i]);  // zero behind the port's bytes
  }
}

void Nic::step(const mrc_pins_in& pins) {
  if (pins.rst_n) {
    impl_->step(pins);
  } else if (!impl_->fresh) {
    impl_ = std::make_unique<Impl>(impl_->preset);
  }
}

void Nic::observe(const uint32_t*& core_words, const uint32_t*& lane_words) {
  Impl& n = *impl_;
  core_words = n.seen_core.data();
  lane_words = n.seen_lanes.data();
  uint32_t* const core = n.seen_core.data();
  uint32_t* wqe = core + core_at(CoreB::HostWqe).word_offset;
  wqe[0] = (n.wqe_valid ? 1u : 0u) | (n.wqe.ready() ? 2u : 0u);
  if (n.wqe_valid) std::memcpy(wqe + 1, n.wqe_words, sizeof n.wqe_words);
  show(core, core_at(CoreB::TxSchedGrant), n.tx_sched.grant_valid(), n.tx_sched.grant_ready(), n.tx_sched.grant());
  show(core, core_at(CoreB::TxSegmentCqe), n.tx_segment.cqe_valid(), n.tx_segment.cqe_ready(), n.tx_segment.cqe());
  const OutReg<Hdr>& hdr = n.tx_header.hdr();
  const TxLane& to = n.tx_lanes[hdr.data().plane];
  show(core, core_at(CoreB::TxHeaderHdr), hdr.valid(), hdr.data().ctl ? to.hdr_ready_ctl() : to.hdr_ready_data(),
       hdr.data());
  show(core, core_at(CoreB::TxFetchRdreq), n.tx_fetch.rdreq().valid(), n.rdreq_ready, n.tx_fetch.rdreq().data());
  show(core, core_at(CoreB::RxPlaceLine), n.rx_place.line_valid(), n.line_ready, n.rx_place.line());
  show(core, core_at(CoreB::CqMuxCqe), n.cq_mux.cqe_valid(), n.cqe_ready, n.cq_mux.cqe());
  if (n.moved.send) {
    show(core, core_at(CoreB::TxSegmentPush), n.push);
    show(core, core_at(CoreB::TxSegmentPkt), n.pkt);
    show(core, core_at(CoreB::TxPathPath), n.path);
    show(core, core_at(CoreB::TxPathRec), n.rec);
  }
  if (n.moved.receive) {
    show(core, core_at(CoreB::RxCheckRxpkt), n.rxpkt);
    show(core, core_at(CoreB::RxTrackVerdict), n.verdict);
    show(core, core_at(CoreB::RxTrackResp), n.resp);
    show(core, core_at(CoreB::RxTrackAckev), n.ackev);
    show(core, core_at(CoreB::RxTrackOrd), n.ord);
    show(core, core_at(CoreB::RxReorderCqe), n.rx_cqe);
  }
  if (n.moved.control) {
    show(core, core_at(CoreB::TxInflightUpd), n.upd);
    show(core, core_at(CoreB::RxCheckCtl), n.ctl);
    show(core, core_at(CoreB::AckGenCtlpkt), n.ctlpkt);
  }
  if (n.moved.rare) {
    show(core, core_at(CoreB::TxSegmentPark), n.park);
    show(core, core_at(CoreB::TxSegmentAsk), n.ask);
    show(core, core_at(CoreB::TxSegmentRet), n.ret);
    show(core, core_at(CoreB::TxInflightCcev), n.ccev);
    show(core, core_at(CoreB::TxInflightRask), n.rask);
    show(core, core_at(CoreB::TxInflightOkev), n.okev);
    show(core, core_at(CoreB::TxInflightQperr), n.inflight_qperr);
    show(core, core_at(CoreB::TxPathEvev), n.evev);
    show(core, core_at(CoreB::TxPathBad), n.bad);
    show(core, core_at(CoreB::TxInflightRetx), n.retx);
    show(core, core_at(CoreB::TxInflightFb), n.fb);
    show(core, core_at(CoreB::TxInflightPres), n.pres);
    show(core, core_at(CoreB::TxInflightStateq), n.stateq);
    show(core, core_at(CoreB::TxProbeFb), n.pfb);
    show(core, core_at(CoreB::TxProbeProbe), n.probe);
    show(core, core_at(CoreB::RxCheckEprx), n.eprx);
    show(core, core_at(CoreB::RxTrackQperr), n.track_qperr);
    show(core, core_at(CoreB::RxReorderQperr), n.reorder_qperr);
    show(core, core_at(CoreB::CcNsccAns), n.ans);
    show(core, core_at(CoreB::CcNsccRans), n.rans);
    show(core, core_at(CoreB::CcNsccWake), n.wake);
    show(core, core_at(CoreB::AckGenWant), n.want);
    show(core, core_at(CoreB::EndpointReq), n.eprq);
    show(core, core_at(CoreB::EndpointResp), n.eresp);
    show(core, core_at(CoreB::EndpointOkev), n.eokev);
    show(core, core_at(CoreB::EndpointPmask), n.pmask);
    show(core, core_at(CoreB::EndpointEvr), n.evr);
    show(core, core_at(CoreB::EndpointPans), n.pans);
    show(core, core_at(CoreB::CsrEvp), n.evp);
  }
  for (unsigned i = 0; i < n.planes; ++i) {
    uint32_t* lane = n.seen_lanes.data() + std::size_t{i} * kObsLaneWords;
    show(lane, lane_at(LaneB::RxLaneDesc), n.rx_lanes[i].desc_valid(), n.rx_lanes[i].desc_ready(),
         n.rx_lanes[i].desc());
    if (n.moved.rdreq) show(lane, lane_at(LaneB::TxLaneRdreq), n.lane_rdreq[i]);
    if (n.moved.line) show(lane, lane_at(LaneB::RxLaneLine), n.lane_line[i]);
  }
  n.moved = {};
}

}  // namespace mrc
