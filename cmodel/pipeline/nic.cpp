// SPDX-License-Identifier: Apache-2.0
#include "pipeline/nic.hpp"

#include <cstring>
#include <vector>

#include "gen/csr.hpp"
#include "gen/nic_blocks.hpp"
#include "gen/nic_streams.hpp"
#include "gen/streams.hpp"
#include "pipeline/cc/cc_nscc.hpp"
#include "pipeline/ctl/ack_gen.hpp"
#include "pipeline/ctl/cq_mux.hpp"
#include "pipeline/ctl/csr.hpp"
#include "pipeline/ctl/endpoint.hpp"
#include "pipeline/ctl/fence.hpp"
#include "pipeline/rx/rx_check.hpp"
#include "pipeline/rx/rx_lane.hpp"
#include "pipeline/rx/rx_place.hpp"
#include "pipeline/rx/rx_reorder.hpp"
#include "pipeline/rx/rx_share.hpp"
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
static_assert(MRC_WQE_WORDS == Wqe::kWords && MRC_CQE_WORDS == Cqe::kWords && MRC_RDREQ_WORDS == Rdreq::kWords &&
              MRC_QPERR_WORDS == Qperr::kWords);

static_assert(kTxInflightCcevDepth == CcNscc::kEvDepth);

namespace {

template <class T>
std::vector<Stream<T>*> pointers(std::vector<Stream<T>>& streams) {
  std::vector<Stream<T>*> all;
  all.reserve(streams.size());
  for (Stream<T>& s : streams) all.push_back(&s);
  return all;
}

/// Word 0 of a stream, and its data when valid.
template <class T>
void show(uint32_t* obs, const StreamInfo& at, bool valid, bool ready, const T& data) {
  uint32_t* words = obs + at.word_offset;
  words[0] = (valid ? 1u : 0u) | (ready ? 2u : 0u);
  if (valid) data.pack(words + 1);
}

template <class S>
void show(uint32_t* obs, const StreamInfo& at, const S& stream) {
  show(obs, at, stream.valid(), stream.ready(), stream.data());
}

constexpr const StreamInfo& core_at(CoreStream b) { return kCoreStreams[static_cast<unsigned>(b)]; }
constexpr const StreamInfo& lane_at(LaneStream b) { return kLaneStreams[static_cast<unsigned>(b)]; }

}  // namespace

struct Nic::Impl {
  explicit Impl(const Preset& p);

  void step(const mrc_pins_in& in);
  void step_fence();
  void step_registers(const mrc_pins_in& in);
  void step_transmit(const mrc_pins_in& in);
  void step_receive(const mrc_pins_in& in);
  void count();
  void clock();

  const Preset preset;
  const unsigned planes;

  NicStreams s;
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
  RxShare rx_share;
  RxPlace rx_place;
  RxReorder rx_reorder;
  AckGen ack_gen;
  Endpoint endpoint;
  CqMux cq_mux;
  Fence fence;

  unsigned port_up = 0, port_up_next = 0;
  unsigned lane_room = 0, stands = 0, data_done = 0;  // bit p: of tx_lanes[p]
  bool fresh = true;                                  // no step since reset

  // Inputs of the last step, for the streams that are pins.
  bool wqe_valid = false, fail_valid = false, cqe_ready = false, rdreq_ready = false, line_ready = false;
  uint32_t wqe_words[Wqe::kWords] = {}, fail_words[Qperr::kWords] = {};

  // What observe() shows: what has not moved since stands there as it is.
  std::vector<uint32_t> seen_core = std::vector<uint32_t>(kObsCoreWords);
  std::vector<uint32_t> seen_lanes = std::vector<uint32_t>(std::size_t{planes} * kObsLaneWords);
};

Nic::Impl::Impl(const Preset& p)
    : preset(p),
      planes(p.num_planes),
      s(p),
      csr(p, s.tx_path_evev, s.endpoint_pmask,
          {{&s.tx_inflight_qperr, &s.rx_track_qperr, &s.rx_reorder_qperr, &s.tx_segment_qperr}, s.host_fail},
          s.endpoint_evr, s.csr_evp),
      tx_sched(p, s.tx_segment_push, s.tx_segment_park, s.cc_nscc_resume, s.tx_sched_grant),
      cc_nscc(p, {s.tx_inflight_ccev, s.tx_segment_req, s.tx_inflight_rtxreq, s.tx_segment_ret},
              {s.cc_nscc_ans, s.cc_nscc_rans, s.cc_nscc_resume}),
      tx_segment(p, {s.host_wqe, s.tx_sched_grant, s.tx_inflight_retx, s.tx_inflight_upd, s.cc_nscc_ans},
                 {s.tx_segment_pkt, s.tx_segment_push, s.tx_segment_park, s.tx_segment_req, s.tx_segment_ret,
                  s.tx_segment_cqe, s.tx_segment_qperr}),
      tx_path(p, s.tx_segment_pkt, s.tx_inflight_fb, s.tx_probe_fb, s.tx_path_path, s.tx_path_rec, s.tx_path_evev,
              s.tx_path_bad),
      tx_inflight(p, {s.tx_path_rec, s.rx_check_ctl, s.cc_nscc_rans},
                  {s.tx_inflight_retx, s.tx_inflight_upd, s.tx_inflight_fb, s.tx_inflight_pres, s.tx_inflight_ccev,
                   s.tx_inflight_rtxreq, s.tx_inflight_okev, s.tx_inflight_qperr, s.tx_inflight_stateq}),
      tx_probe(p, {s.tx_path_bad, s.tx_inflight_pres, s.endpoint_pans}, s.tx_probe_fb, s.tx_probe_probe),
      tx_header(p, s.tx_path_path, s.ack_gen_ctlpkt, s.tx_probe_probe, s.endpoint_req),
      tx_fetch(p, pointers(s.tx_lane_rdreq)),
      rx_check(p, s.rx_lane_desc, s.rx_check_rxpkt, s.rx_check_ctl, s.rx_check_eprx),
      rx_track(p, s.rx_check_rxpkt, s.rx_track_verdict, s.rx_track_resp, s.rx_track_ackev, s.rx_track_ord,
               s.rx_track_qperr, s.rx_track_came),
      rx_share(p, s.rx_track_came),
      rx_place(p, s.rx_lane_line),
      rx_reorder(p, s.rx_track_ord, s.rx_reorder_cqe, s.rx_reorder_qperr),
      ack_gen(p,
              {s.rx_track_resp, s.rx_track_ackev, s.endpoint_resp, s.tx_inflight_okev, s.endpoint_okev,
               s.tx_inflight_stateq},
              s.ack_gen_ctlpkt, s.ack_gen_want),
      endpoint(p, {s.rx_check_eprx, s.ack_gen_want, s.csr_evp},
               {s.endpoint_req, s.endpoint_resp, s.endpoint_okev, s.endpoint_pmask, s.endpoint_evr, s.endpoint_pans}),
      cq_mux(s.tx_segment_cqe, s.rx_reorder_cqe),
      fence(p,
            {s.tx_inflight_retx, s.tx_segment_pkt, s.tx_path_path, s.rx_check_ctl, s.rx_check_rxpkt, s.rx_track_ord}) {
  tx_lanes.reserve(planes);
  rx_lanes.reserve(planes);
  for (unsigned i = 0; i < planes; ++i) {
    tx_lanes.emplace_back(p, i, s.tx_lane_rdreq[i]);
    rx_lanes.emplace_back(p, s.rx_lane_desc[i], s.rx_track_verdict.lane(i), s.rx_lane_line[i]);
    lane_room |= unsigned{tx_lanes[i].lane_room()} << i;
  }
}

void Nic::Impl::step(const mrc_pins_in& in) {
  fresh = false;
  step_fence();
  step_registers(in);
  step_transmit(in);
  step_receive(in);
  count();
  wqe_valid = in.wqe_valid != 0;
  if (wqe_valid) std::memcpy(wqe_words, in.wqe, sizeof wqe_words);
  fail_valid = in.host_fail_valid != 0;
  if (fail_valid) std::memcpy(fail_words, in.host_fail, sizeof fail_words);
  cqe_ready = in.cqe_ready != 0;
  rdreq_ready = in.host_rd_ready != 0;
  line_ready = in.host_wr_ready != 0;
  port_up_next = in.link_up & ~stands & ((1u << planes) - 1);
  clock();
}

/// Before all others: it sees their registers and streams of this cycle.
void Nic::Impl::step_fence() {
  fence.step({.go = csr.fence_go(),
              .order_done = tx_segment.order_done(),
              .rec_done = tx_inflight.rec_done(),
              .ctl_done = tx_inflight.ctl_done(),
              .posted = rx_track.posted(),
              .goes_on = rx_track.goes_on(),
              .ord_done = rx_reorder.ord_done(),
              .data_done = data_done,
              .done_valid = rx_place.done_valid(),
              .done_plane = rx_place.done_plane()});
}

void Nic::Impl::step_registers(const mrc_pins_in& in) {
  bool all = false, any = false;
  if (csr.table_write()) {
    unsigned acks = 0;
    each_configured(*this, [&](const auto& block) { acks += block.cfg_ack(); });
    all = acks == kConfiguredBlocks;
    any = acks != 0;
  }
  if (in.host_fail_valid && s.host_fail.ready()) s.host_fail.push() = Qperr::unpack(in.host_fail);
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
            .port_up = port_up,
            .fence = fence.owed()});
}

void Nic::Impl::step_transmit(const mrc_pins_in& in) {
  const CfgBus& cfg = csr.cfg();
  const CsrOut& values = csr.values();
  if (in.wqe_valid && s.host_wqe.ready()) s.host_wqe.push() = Wqe::unpack(in.wqe);
  tx_sched.step(cfg);
  cc_nscc.step(cfg, values.tick);
  tx_segment.step(cfg, values, tx_inflight.pulses().freed);
  tx_path.step(cfg, values, {.lane_room = lane_room, .port_up = port_up});
  tx_inflight.step(cfg, values, port_up, tx_segment.sends(tx_inflight.visit_qp()));
  tx_probe.step(cfg, values, port_up);
  const Hdr& hdr = tx_header.hdr().data();
  TxLane& to = tx_lanes[hdr.plane];
  const bool hdr_ready = hdr.ctl ? to.hdr_ready_ctl() : to.hdr_ready_data();
  if (tx_header.hdr().valid() && hdr_ready) to.push_hdr(hdr);
  tx_header.step(cfg, values, hdr_ready);
  for (unsigned i = 0; i < planes; ++i) {
    if (tx_lanes[i].tx_inc()) csr.count(csr::kCntTx0 + 4 * i);
    if (tx_lanes[i].drop_inc()) csr.count(csr::kCntTxDrop0 + 4 * i);
    tx_lanes[i].step({.tready = (in.tx_tready >> i & 1) != 0,
                      .rsp_valid = in.host_rsp_valid && in.host_rsp_plane == i,
                      .rsp_err = in.host_rsp_err != 0,
                      .rsp = in.host_rsp_data,
                      .tick = static_cast<uint16_t>(values.tick),
                      .port_stall = values.port_stall});
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
  rx_track.step(cfg, values,
                {.imm_ok = rx_reorder.imm_ok(),
                 .hold_ok = rx_reorder.hold_ok(),
                 .over = rx_reorder.over(),
                 .share = rx_share.levels(),
                 .fat = rx_share.fat(rx_track.post_qp())});
  rx_share.step(cfg, values);
  rx_place.step(in.host_wr_ready != 0);
  rx_reorder.step(cfg, values, {.done_valid = rx_place.done_valid(), .done_plane = rx_place.done_plane()});
  ack_gen.step(cfg, values, port_up);
  endpoint.step(cfg, values, port_up);
  cq_mux.step(in.cqe_ready != 0);
}

/// Counters take the pulse registers of this cycle; those of the lanes do it where the lanes step.
void Nic::Impl::count() {
  const auto add = [this](uint32_t offset) { csr.count(offset); };
  each_pulsing(*this, [&](const auto& block) { block.pulses().count(add); });
}

void Nic::Impl::clock() {
  s.clock();
  lane_room = stands = data_done = 0;
  for (unsigned i = 0; i < planes; ++i) {
    tx_lanes[i].clock();
    rx_lanes[i].clock();
    lane_room |= unsigned{tx_lanes[i].lane_room()} << i;
    stands |= unsigned{tx_lanes[i].stands()} << i;
    data_done |= unsigned{tx_lanes[i].data_done()} << i;
  }
  each_block(*this, [](auto& block) { block.clock(); });
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
  pins.irq = bus.irq;
  pins.wqe_ready = n.s.host_wqe.ready();
  pins.host_fail_ready = n.s.host_fail.ready();
  pins.cqe_valid = n.cq_mux.cqe_valid();
  if (pins.cqe_valid) n.cq_mux.cqe().pack(pins.cqe);
  pins.host_rd_valid = n.tx_fetch.rdreq().valid();
  if (pins.host_rd_valid) n.tx_fetch.rdreq().data().pack(pins.host_rd);
  pins.host_wr_valid = n.rx_place.line_valid();
  if (pins.host_wr_valid) {
    const Line& line = n.rx_place.line();
    pins.host_wr_addr = line.addr;
    pins.host_wr_len = line.len;
    pins.host_wr_last = line.last;
    pins.host_wr_plane = line.plane;
    pins.host_wr_qp = line.qp;
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
  const auto pin = [core](CoreStream b, bool valid, bool ready, const auto& words) {
    uint32_t* at = core + core_at(b).word_offset;
    at[0] = (valid ? 1u : 0u) | (ready ? 2u : 0u);
    if (valid) std::memcpy(at + 1, words, sizeof words);
  };
  pin(CoreStream::HostWqe, n.wqe_valid, n.s.host_wqe.ready(), n.wqe_words);
  pin(CoreStream::HostFail, n.fail_valid, n.s.host_fail.ready(), n.fail_words);
  show(core, core_at(CoreStream::TxSchedGrant), n.tx_sched.grant_valid(), n.tx_sched.grant_ready(), n.tx_sched.grant());
  show(core, core_at(CoreStream::TxSegmentCqe), n.tx_segment.cqe_valid(), n.tx_segment.cqe_ready(), n.tx_segment.cqe());
  const OutReg<Hdr>& hdr = n.tx_header.hdr();
  const TxLane& to = n.tx_lanes[hdr.data().plane];
  show(core, core_at(CoreStream::TxHeaderHdr), hdr.valid(), hdr.data().ctl ? to.hdr_ready_ctl() : to.hdr_ready_data(),
       hdr.data());
  show(core, core_at(CoreStream::TxFetchRdreq), n.tx_fetch.rdreq().valid(), n.rdreq_ready, n.tx_fetch.rdreq().data());
  show(core, core_at(CoreStream::RxPlaceLine), n.rx_place.line_valid(), n.line_ready, n.rx_place.line());
  show(core, core_at(CoreStream::CqMuxCqe), n.cq_mux.cqe_valid(), n.cqe_ready, n.cq_mux.cqe());
  n.s.observe([&](const auto& stream, CoreStream b) { show(core, core_at(b), stream); },
              [&](const auto& stream, LaneStream b, unsigned plane) {
                show(n.seen_lanes.data() + std::size_t{plane} * kObsLaneWords, lane_at(b), stream);
              });
  n.s.forget();
  for (unsigned i = 0; i < n.planes; ++i) {
    uint32_t* lane = n.seen_lanes.data() + std::size_t{i} * kObsLaneWords;
    show(lane, lane_at(LaneStream::RxLaneDesc), n.rx_lanes[i].desc_valid(), n.rx_lanes[i].desc_ready(),
         n.rx_lanes[i].desc());
  }
}

void Nic::inside(mrc_inside_t& to) const {
  static_assert(static_cast<unsigned>(CcNscc::Doing::Begun) == MRC_CC_BEGUN);
  static_assert(Ccev::kWords == sizeof to.cc_event / sizeof *to.cc_event);
  const CcNscc::Inside cc = impl_->cc_nscc.inside();
  to.cc_state = static_cast<uint32_t>(cc.doing);
  to.cc_dest = cc.cc;
  to.cc_window = cc.window;
  cc.event.pack(to.cc_event);
  const TxPath::Written written = impl_->tx_path.written();
  to.ev_write = written.is;
  to.ev_row = static_cast<uint32_t>(written.row);
  to.ev_states = written.states;
}

}  // namespace mrc
