// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/lockstep.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>

#include "tb/compare/report.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::lockstep_test {

using namespace mrc::tb;

namespace {

/// The model, with one thing changed on the way out.
class Spoiled final : public Dut {
 public:
  using Pins = std::function<void(mrc_pins_out&, uint64_t)>;
  using Words = std::function<void(uint32_t* core, uint32_t* lanes, uint64_t)>;
  Spoiled(const Preset& preset, Pins pins, Words words)
      : model_(make_model_dut(preset)), preset_(preset), pins_(std::move(pins)), words_(std::move(words)) {}
  void outputs(mrc_pins_out& out) override {
    model_->outputs(out);
    if (pins_) pins_(out, cycle_);
  }
  void step(const mrc_pins_in& in) override {
    model_->step(in);
    ++cycle_;
  }
  bool observe(const uint32_t*& core, const uint32_t*& lanes) override {
    const uint32_t *c = nullptr, *l = nullptr;
    model_->observe(c, l);
    core_.assign(c, c + kObsCoreWords);
    lanes_.assign(l, l + preset_.num_planes * kObsLaneWords);
    if (words_) words_(core_.data(), lanes_.data(), cycle_);
    core = core_.data();
    lanes = lanes_.data();
    return true;
  }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return "spoiled model"; }
  std::string version() const override { return {}; }

 private:
  std::unique_ptr<Dut> model_;
  const Preset& preset_;
  Pins pins_;
  Words words_;
  uint64_t cycle_ = 0;
  std::vector<uint32_t> core_, lanes_;
};

struct Traffic {
  const char* scenario = "mixed";
  uint64_t packets = 1500;
  const char* key = nullptr;  // of the scenario, set to value
  double value = 0;
};

CosimResult spoiled(Spoiled::Pins pins, Spoiled::Words words, const Traffic& traffic = {}) {
  CosimOptions o = short_run("tiny", traffic.scenario, traffic.packets);
  if (traffic.key) set_key(o.scenario, traffic.key, traffic.value, "test");
  const Preset& p = *o.preset;
  o.open = [=, &p](std::string&) { return std::make_unique<Spoiled>(p, pins, words); };
  return run_cosim(o);
}

/// A run in which something passes this stream.
Traffic traffic_at(const std::string& name) {
  static constexpr struct {
    const char* begin;
    Traffic traffic;
  } kRare[] = {{"tx_probe.", {"bad-ev", 6000}},
               {"tx_inflight.pres", {"bad-ev", 6000, "probe_kind", 2}},
               {"tx_inflight.qperr", {"retry-exhaust", 1500}},
               {"rx_track.qperr", {"no-bytes", 3000}},
               {"rx_track.came", {"share", 3000}},
               {"rx_reorder.qperr", {"qp-error", 3000, "max_wimm_dest", 1}},
               {"tx_segment.qperr", {"qp-error", 3000, "wimm_over", 2}},
               {"tx_segment.park", {"incast-trim", 3000}},
               {"tx_segment.req", {"incast-trim", 1500}},
               {"tx_segment.ret", {"incast-trim", 1500}},
               {"tx_inflight.ccev", {"incast-trim", 1500}},
               {"tx_inflight.rtxreq", {"incast-trim", 1500}},
               {"cc_nscc.", {"incast-trim", 3000}},
               {"endpoint.pans", {"bad-ev", 6000, "probe_kind", 1}},
               {"endpoint.", {"link-flap", 3000}},
               {"rx_check.eprx", {"link-flap", 1500}},
               {"ack_gen.want", {"link-flap", 1500}},
               {"csr.evp", {"link-flap", 3000}},
               {"host.fail", {"host-errors", 3000}}};
  for (const auto& rare : kRare) {
    if (name.starts_with(rare.begin)) return rare.traffic;
  }
  return {};
}

}  // namespace

TEST_CASE("a wrong bit at any boundary is found in its cycle and named", "[tb][lockstep]") {
  for (unsigned number = 0; number < num_streams(2); ++number) {
    const StreamRef ref = stream_at(number);
    if (ref.plane == 1) continue;
    uint64_t at = 0;
    const auto spoil = [&](uint32_t* core, uint32_t* lanes, uint64_t cycle) {
      uint32_t* w = (ref.plane < 0 ? core : lanes) + ref.info->word_offset;
      if ((*w & 1) && cycle > 6000 && at == 0) {
        at = cycle;
        w[1] ^= 1;  // the last field's lowest bit
      }
    };
    const CosimResult r = spoiled({}, spoil, traffic_at(ref.name()));
    INFO(ref.name());
    REQUIRE(at != 0);
    REQUIRE(r.outcome == Outcome::Mismatch);
    REQUIRE(r.divergences.size() == 1);
    const Divergence& d = r.divergences.front();
    CHECK(d.cycle == at);
    CHECK(d.where == ref.name());
    CHECK(d.block == (ref.producer() != "host" ? ref.producer() : ref.name() == "host.fail" ? "csr" : "tx_segment"));
    REQUIRE_FALSE(d.differences.empty());
    CHECK(d.differences[0].field.starts_with(ref.info->fields.back().name));
    CHECK(d.differences[0].dut != d.differences[0].model);
    CHECK(r.last_events.size() == 32);
    CHECK(r.last_events.back().cycle <= at);
    CHECK_FALSE(r.frames.empty());
  }
}

TEST_CASE("a wrong ready is blamed on the taker, a wrong valid on the giver", "[tb][lockstep]") {
  const StreamInfo& path = kCoreStreams[static_cast<unsigned>(CoreStream::TxPathPath)];
  const auto flip = [&](uint32_t bit) {
    return spoiled({}, [&path, bit](uint32_t* core, uint32_t*, uint64_t cycle) {
      if (cycle == 3000) core[path.word_offset] ^= bit;
    });
  };
  CHECK(flip(2).divergences.at(0).block == "tx_header");
  CHECK(flip(1).divergences.at(0).block == "tx_path");
}

TEST_CASE("of several divergences in one cycle the first in data flow order counts", "[tb][lockstep]") {
  const CosimResult r = spoiled({}, [](uint32_t* core, uint32_t* lanes, uint64_t cycle) {
    if (cycle != 3000) return;
    lanes[kLaneStreams[static_cast<unsigned>(LaneStream::RxLaneDesc)].word_offset] ^= 1;
    core[kCoreStreams[static_cast<unsigned>(CoreStream::RxTrackResp)].word_offset] ^= 1;
    core[kCoreStreams[static_cast<unsigned>(CoreStream::AckGenCtlpkt)].word_offset] ^= 1;
  });
  REQUIRE(r.divergences.size() == 3);
  CHECK(r.divergences[0].where == "rx_lane[0].desc");
  CHECK(r.divergences[1].where == "rx_track.resp");
  CHECK(r.divergences[2].where == "ack_gen.ctlpkt");
}

TEST_CASE("every output pin is compared", "[tb][lockstep]") {
  using Change = std::function<bool(mrc_pins_out&)>;  // false: not now
  const std::vector<std::pair<const char*, Change>> changes = {
      {"csr", [](mrc_pins_out& o) { return o.awready ^= 1, true; }},
      {"csr", [](mrc_pins_out& o) { return o.wready ^= 1, true; }},
      {"csr", [](mrc_pins_out& o) { return o.bvalid ^= 1, true; }},
      {"csr", [](mrc_pins_out& o) { return o.bvalid && (o.bresp ^= 2, true); }},
      {"csr", [](mrc_pins_out& o) { return o.arready ^= 1, true; }},
      {"csr", [](mrc_pins_out& o) { return o.rvalid ^= 1, true; }},
      {"csr", [](mrc_pins_out& o) { return o.rvalid && (o.rresp ^= 2, true); }},
      {"csr", [](mrc_pins_out& o) { return o.rvalid && (o.rdata ^= 1u << 31, true); }},
      {"csr", [](mrc_pins_out& o) { return o.irq ^= 1, true; }},
      {"csr", [](mrc_pins_out& o) { return o.host_fail_ready ^= 1, true; }},
      {"tx_segment", [](mrc_pins_out& o) { return o.wqe_ready ^= 1, true; }},
      {"cq_mux", [](mrc_pins_out& o) { return o.cqe_valid ^= 1, true; }},
      {"cq_mux", [](mrc_pins_out& o) { return o.cqe_valid && (o.cqe[3] ^= 1, true); }},
      {"tx_fetch", [](mrc_pins_out& o) { return o.host_rd_valid ^= 1, true; }},
      {"tx_fetch", [](mrc_pins_out& o) { return o.host_rd_valid && (o.host_rd[1] ^= 1, true); }},
      {"rx_place", [](mrc_pins_out& o) { return o.host_wr_valid ^= 1, true; }},
      {"rx_place", [](mrc_pins_out& o) { return o.host_wr_valid && (o.host_wr_len ^= 1, true); }},
      {"rx_place", [](mrc_pins_out& o) { return o.host_wr_valid && (o.host_wr_last ^= 1, true); }},
      {"rx_place", [](mrc_pins_out& o) { return o.host_wr_valid && (o.host_wr_plane ^= 1, true); }},
      {"rx_place", [](mrc_pins_out& o) { return o.host_wr_valid && (o.host_wr_qp ^= 2, true); }},
      {"rx_place", [](mrc_pins_out& o) { return o.host_wr_valid && (o.host_wr_addr ^= uint64_t{1} << 63, true); }},
      {"rx_place", [](mrc_pins_out& o) { return o.host_wr_valid && (o.host_wr_data[31] ^= 1, true); }},
      {"tx_lane", [](mrc_pins_out& o) { return o.tx_tvalid ^= 2, true; }},
      {"tx_lane", [](mrc_pins_out& o) { return (o.tx_tvalid & 2) && (o.tx_tlast ^= 2, true); }},
      {"tx_lane", [](mrc_pins_out& o) { return (o.tx_tvalid & 2) && (o.tx_tkeep[1] ^= 1u << 15, true); }},
      {"tx_lane", [](mrc_pins_out& o) { return (o.tx_tvalid & 2) && (o.tx_tdata[1][15] ^= 0x80, true); }},
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    uint64_t at = 0;
    const CosimResult r = spoiled(
        [&](mrc_pins_out& out, uint64_t cycle) {
          if (at == 0 && cycle > 2000 && changes[i].second(out)) at = cycle;
        },
        {});
    INFO("change " << i);
    REQUIRE(r.outcome == Outcome::Mismatch);
    CHECK(r.divergences.front().cycle == at);
    CHECK(r.divergences.front().block == changes[i].first);
  }
}

TEST_CASE("data without valid are not compared", "[tb][lockstep]") {
  const CosimResult r = spoiled(
      [](mrc_pins_out& o, uint64_t) {
        if (!o.cqe_valid) o.cqe[0] ^= 0x5555;
        if (!o.host_wr_valid) o.host_wr_data[3] ^= 0x55, o.host_wr_last ^= 1, o.host_wr_plane ^= 1, o.host_wr_qp ^= 1;
        if (!(o.tx_tvalid & 1)) o.tx_tdata[0][0] ^= 0x55, o.tx_tlast ^= 1;
      },
      [](uint32_t* core, uint32_t*, uint64_t) {
        for (const StreamInfo& b : kCoreStreams) {
          if (!(core[b.word_offset] & 1)) core[b.word_offset + 1] ^= 0x1234;
        }
      });
  CHECK(r.outcome == Outcome::Pass);
}

TEST_CASE("a divergence is reported in packet terms", "[tb][lockstep]") {
  const CosimResult r = spoiled({}, [](uint32_t* core, uint32_t*, uint64_t cycle) {
    uint32_t* w = core + kCoreStreams[static_cast<unsigned>(CoreStream::TxHeaderHdr)].word_offset;
    if (cycle < 3000 || !(*w & 1)) return;
    Hdr h = Hdr::unpack(w + 1);
    if (h.ctl || h.hdr_len < 110) return;
    h.hdr[(54 + 48 + 11) / 4] ^= 1u << (8 * ((54 + 48 + 11) % 4));  // PSN of a packet behind SRv6
    h.pack(w + 1);
  });
  REQUIRE(r.outcome == Outcome::Mismatch);
  RunInfo info;
  info.repro = "mrc cosim --seed 1";
  const std::string text = failure_text(info, r);
  INFO(text);
  CHECK(text.find("block tx_header, at tx_header.hdr") != std::string::npos);
  CHECK(text.find("bth/psn") != std::string::npos);
  CHECK(text.find("Again with:       mrc cosim --seed 1") != std::string::npos);
}

}  // namespace mrc::test::lockstep_test
