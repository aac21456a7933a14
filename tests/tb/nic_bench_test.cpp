// SPDX-License-Identifier: Apache-2.0
#include "tb/nic_bench.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <functional>

namespace mrc::test::nic_bench_test {

using namespace mrc::tb;
using Catch::Approx;

namespace {

const Preset& kTiny = *find_preset("tiny");

/// The model with something done to its outputs.
class Spoiled : public Dut {
 public:
  Spoiled(std::unique_ptr<Dut> dut, std::function<void(mrc_pins_out&)> what)
      : dut_(std::move(dut)), what_(std::move(what)) {}
  void outputs(mrc_pins_out& out) override {
    dut_->outputs(out);
    what_(out);
  }
  void step(const mrc_pins_in& in) override { dut_->step(in); }
  bool observe(const uint32_t*& core, const uint32_t*& lanes) override { return dut_->observe(core, lanes); }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return "spoiled"; }
  std::string version() const override { return ""; }

 private:
  std::unique_ptr<Dut> dut_;
  std::function<void(mrc_pins_out&)> what_;
};

BenchOptions options(unsigned payload, unsigned packets) {
  BenchOptions o;
  o.preset = &kTiny;
  o.open = [](std::string&) { return make_model_dut(kTiny); };
  o.payload = payload;
  o.message_packets = packets;
  o.warm_cycles = 6000;
  o.cycles = 15000;
  return o;
}

Throughput measured(const BenchOptions& o, Direction direction, std::string& problem) {
  NicBench bench(o);
  problem = bench.start();
  REQUIRE(problem.empty());
  return bench.measure(direction, problem);
}

}  // namespace

TEST_CASE("a SACK comes after SACK_TRIGGER bytes, and the ports stay full", "[tb][bench][rates][A-09]") {
  for (const uint32_t trigger : {16384u, 4096u}) {
    BenchOptions o = options(1024, 64);
    o.sack_trigger = trigger;
    std::string problem;
    const Throughput t = measured(o, Direction::Both, problem);
    INFO(trigger << problem);
    REQUIRE(problem.empty());
    CHECK(t.send.sacks == Approx(1024.0 / trigger).epsilon(0.2));
    CHECK(t.worst().ratio > 0.99);
  }
}

TEST_CASE("full packets fill the ports, one direction and both", "[tb][bench][rates]") {
  NicBench bench(options(4096, 64));
  std::string problem = bench.start();
  REQUIRE(problem.empty());
  for (const Direction d : {Direction::Receive, Direction::Both, Direction::Send}) {
    const Throughput t = bench.measure(d, problem);
    INFO(name_of(d) << problem);
    REQUIRE(problem.empty());
    REQUIRE(t.complete);
    const Flow& f = t.worst();
    REQUIRE(f.ratio > 0.99);
    REQUIRE(f.ratio < 1.01);
    REQUIRE(f.limit_gbps <= Approx(200.0 * 4096 / 4258));
    REQUIRE(f.goodput_gbps == Approx(f.packets_per_second * 4096 * 8e-9));
    REQUIRE(f.plane_share_min > 0.49);
    REQUIRE(f.plane_share_max < 0.51);
    if (d == Direction::Both) {
      REQUIRE(f.control_share > 0.005);  // a SACK per four packets: 178 / 4 / 4258
      REQUIRE(f.control_share < 0.02);
      REQUIRE(t.send.sacks == Approx(0.25).margin(0.02));
      REQUIRE(t.receive.sacks == Approx(0.25).margin(0.02));
    }
    REQUIRE(t.occupancy.count("tx_segment.pkt") == (d == Direction::Receive ? 0 : 1));
    REQUIRE(t.occupancy.count("rx_track.verdict") == (d == Direction::Send ? 0 : 1));
    for (const auto& [stream, o] : t.occupancy) {
      INFO(stream);
      REQUIRE(o.busy + o.blocked <= 1.0);
    }
  }
}

TEST_CASE("occupancy counts the packets that were counted on the wire", "[tb][bench][rates]") {
  std::string problem;
  BenchOptions o = options(4096, 64);
  o.cycles = 60000;  // so that what waits in the lanes does not matter
  const Throughput t = measured(o, Direction::Send, problem);
  REQUIRE(problem.empty());
  // one packet each (packets/s x 1 ns) cycles
  REQUIRE(t.occupancy.at("tx_path.path").busy == Approx(t.send.packets_per_second * 1e-9).epsilon(0.02));
}

TEST_CASE("few outstanding one-packet messages do not fill the ports, and the bench says so", "[tb][bench][rates]") {
  std::string problem;
  BenchOptions o = options(64, 1);
  o.qps = 1;  // WqeDepth 8: eight packets per round trip of more than 1 us
  const Throughput t = measured(o, Direction::Send, problem);
  REQUIRE(problem.empty());
  REQUIRE(t.send.ratio < 0.1);
  REQUIRE(t.send.packets_per_second < 8e6);
  REQUIRE(t.send.packets_per_second > 1e6);
}

TEST_CASE("a device that takes less than line rate has a peer that slows down", "[tb][bench][rates]") {
  BenchOptions o = options(64, 1);
  o.preset = find_preset("asic800");
  o.open = [&](std::string&) { return make_model_dut(*o.preset); };
  NicBench bench(o);
  std::string problem = bench.start();
  REQUIRE(problem.empty());
  const Throughput t = bench.measure(Direction::Receive, problem);
  REQUIRE(problem.empty());
  REQUIRE(t.receive.goodput_gbps <= t.receive.limit_gbps * 1.01);
  // Either it takes all, or the peer has slowed down: nothing in between.
  REQUIRE((t.receive.ratio > 0.97 || t.receive.pace < 1));
}

TEST_CASE("QPs that wait for their turns take no share of the wire by questions", "[tb][bench][rates][A-84]") {
  BenchOptions o = options(128, 1);
  o.preset = find_preset("asic800");
  o.open = [&](std::string&) { return make_model_dut(*o.preset); };
  o.encap = Encap::Ipv6;
  std::string problem;
  const Throughput t = measured(o, Direction::Both, problem);
  REQUIRE(problem.empty());
  CHECK(t.receive.drops == 0);
  CHECK(t.receive.pace == 1);  // the peer sends at line rate
}

TEST_CASE("what 64-byte messages of many QPs to one destination reach is a matter of the window that they share",
          "[tb][bench][rates]") {
  BenchOptions o = options(64, 1);
  o.preset = find_preset("asic800");
  o.open = [&](std::string&) { return make_model_dut(*o.preset); };
  o.encap = Encap::Ipv6;
  o.cc = true;
  o.warm_cycles = 150000;
  o.cycles = 45000;
  std::string problem;
  // 1.5 round trips of what the ports send, and of twice as much.
  const Throughput usual = measured(o, Direction::Send, problem);
  REQUIRE(problem.empty());
  o.cc_rate_gbps = 1600;
  const Throughput wide = measured(o, Direction::Send, problem);
  REQUIRE(problem.empty());
  CHECK(usual.send.ratio > 0.8);
  CHECK(usual.send.ratio < 0.9);
  CHECK(wide.send.ratio > 0.98);
}

TEST_CASE("wrong bytes are a problem, not goodput", "[tb][bench][check]") {
  std::string problem;
  SECTION("in host memory") {
    BenchOptions o = options(4096, 1);
    o.open = [](std::string&) -> std::unique_ptr<Dut> {
      return std::make_unique<Spoiled>(make_model_dut(kTiny), [](mrc_pins_out& out) { out.host_wr_data[3] ^= 1; });
    };
    const Throughput t = measured(o, Direction::Receive, problem);
    REQUIRE_FALSE(t.complete);
    REQUIRE(problem.find("a host write with wrong bytes or address") != std::string::npos);
  }
  SECTION("of another plane") {
    BenchOptions o = options(4096, 1);
    o.open = [](std::string&) -> std::unique_ptr<Dut> {
      return std::make_unique<Spoiled>(make_model_dut(kTiny), [](mrc_pins_out& out) { out.host_wr_plane ^= 1; });
    };
    measured(o, Direction::Receive, problem);
    REQUIRE(problem.find("which did not come there") != std::string::npos);
  }
  SECTION("on the wire") {
    BenchOptions o = options(4096, 1);
    o.open = [](std::string&) -> std::unique_ptr<Dut> {
      return std::make_unique<Spoiled>(make_model_dut(kTiny), [](mrc_pins_out& out) { out.tx_tdata[1][5] ^= 1; });
    };
    measured(o, Direction::Send, problem);
    REQUIRE(problem.find("at the peer: a frame") != std::string::npos);
  }
  SECTION("a completion too many") {
    BenchOptions o = options(4096, 1);
    o.open = [](std::string&) -> std::unique_ptr<Dut> {
      return std::make_unique<Spoiled>(make_model_dut(kTiny), [n = 0](mrc_pins_out& out) mutable {
        if (++n < 20000) return;
        const Cqe cqe{.qp = 0, .recv = false, .status = CqStatus::LocState};
        cqe.pack(out.cqe);
        out.cqe_valid = 1;
      });
    };
    o.warm_cycles = 30000;
    measured(o, Direction::Receive, problem);
    REQUIRE(problem.find("a completion with status 0x82 (LocState) on QP 0") != std::string::npos);
  }
}

TEST_CASE("a run that is stopped says that it is not complete", "[tb][bench][check]") {
  std::atomic<bool> stop{false};
  BenchOptions o = options(4096, 1);
  o.stop = &stop;
  NicBench bench(o);
  std::string problem = bench.start();
  stop = true;
  REQUIRE_FALSE(bench.measure(Direction::Send, problem).complete);
  REQUIRE(problem.empty());
}

TEST_CASE("latencies: unloaded ones are constant, load adds to them", "[tb][bench][latency]") {
  std::string problem;
  BenchOptions o = options(4096, 1);
  NicBench idle(o), busy(o);
  REQUIRE(idle.start().empty());
  REQUIRE(busy.start().empty());
  const LatencyResult unloaded = idle.latencies(0, problem);
  REQUIRE(problem.empty());
  const LatencyResult loaded = busy.latencies(0.95, problem);
  REQUIRE(problem.empty());
  for (unsigned i = 0; i < kNumLatencies; ++i) {
    INFO(name_of(static_cast<Latency>(i)));
    REQUIRE(unloaded.samples[i].size() >= 10);
    REQUIRE(unloaded.samples[i].back() - unloaded.samples[i].front() <= 5);
    REQUIRE(!loaded.samples[i].empty());
    // Alone, each packet completes its message, and the ACK goes out before the SACK: 7 cycles of the lane.
    REQUIRE(loaded.samples[i].front() + 7 >= unloaded.samples[i].front());
    REQUIRE(loaded.samples[i].back() >= unloaded.samples[i].back());
  }
  // 4096 bytes leave the buffer at PortBytes per cycle: 256 cycles at least.
  REQUIRE(unloaded.samples[static_cast<unsigned>(Latency::WireToMemory)].front() >= 256);
  REQUIRE(unloaded.samples[static_cast<unsigned>(Latency::WireToSack)].front() < 100);
}

}  // namespace mrc::test::nic_bench_test
