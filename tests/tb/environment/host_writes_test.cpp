// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/host_writes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/nic.hpp"
#include "tb/agent/agent.hpp"
#include "tb/device/pins_device.hpp"
#include "tb/environment/station.hpp"
#include "tests/protocol/rx_frames.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::host_writes_test {

using namespace mrc::tb;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const Preset& kTiny = *find_preset("tiny");
constexpr unsigned kFull = kTiny.host_bytes;

mrc_pins_out line(unsigned plane, unsigned qp, uint64_t addr, unsigned len, bool last) {
  mrc_pins_out o{};
  o.host_wr_valid = 1;
  o.host_wr_plane = static_cast<uint8_t>(plane);
  o.host_wr_qp = static_cast<uint16_t>(qp);
  o.host_wr_addr = addr;
  o.host_wr_len = static_cast<uint8_t>(len);
  o.host_wr_last = last;
  return o;
}

/// A WRITE of so many bytes to a QP.
test::Packet write(unsigned qp, size_t bytes) {
  test::Packet p;
  p.dqp = kQpnBase + qp;
  p.ext = test::write_ext(1, 2, 3, 4, 5);
  p.payload = test::counting(bytes);
  return p;
}

/// The lines of a packet, all taken. Returns what is wrong with the first wrong one.
std::string taken(HostWrites& writes, unsigned plane, unsigned qp, uint64_t addr, unsigned bytes) {
  for (unsigned at = 0; at < bytes; at += kFull) {
    const unsigned n = std::min(kFull, bytes - at);
    if (std::string wrong = writes.taken(line(plane, qp, addr + at, n, at + n == bytes)); !wrong.empty()) return wrong;
  }
  return {};
}

using Spoil = std::function<void(mrc_pins_out&)>;

/// Two models with everything around them, without a comparison. What the first one shows is spoiled. Returns what its
/// host has to say.
std::string host_says(const Spoil& spoil, const Scenario& s) {
  const Plan plan = make_plan(kTiny, s, 1);
  Station dut({kTiny, s, 1, true, plan.dut, plan.peer, 1500, nullptr});
  Station peer({kTiny, s, 1, false, plan.peer, plan.dut, 1500, nullptr});
  dut.connect(peer);
  peer.connect(dut);
  Nic nic(kTiny), other(kTiny);
  mrc_pins_in in{}, other_in{};
  mrc_pins_out out{}, other_out{};
  const auto turn = [&] {
    for (unsigned i = 0; i < 100 && dut.problem().empty(); ++i) {
      nic.outputs(out);
      if (out.host_wr_valid) spoil(out);
      dut.cycle(out, in);
      nic.step(in);
      other.outputs(other_out);
      peer.cycle(other_out, other_in);
      other.step(other_in);
    }
    Station::exchange(dut, peer);
  };
  while (!dut.configured() || !peer.configured()) turn();
  dut.start_traffic();
  peer.start_traffic();
  for (unsigned i = 0; i < 4000 && dut.problem().empty() && !dut.traffic_done(); ++i) turn();
  for (unsigned i = 0; i < 20; ++i) turn();
  CHECK(peer.problem().empty());
  CHECK((dut.problem().empty() || dut.problem_block() == "rx_place"));
  return dut.problem().empty() ? dut.finish() : dut.problem();
}

/// The model behind its pins, which are spoiled.
class Spoiled final : public Dut {
 public:
  explicit Spoiled(Spoil spoil) : model_(make_model_dut(kTiny)), spoil_(std::move(spoil)) {}
  void outputs(mrc_pins_out& out) override {
    model_->outputs(out);
    if (out.host_wr_valid) spoil_(out);
  }
  void step(const mrc_pins_in& in) override { model_->step(in); }
  bool observe(const uint32_t*&, const uint32_t*&) override { return false; }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return "spoiled model"; }
  std::string version() const override { return {}; }

 private:
  std::unique_ptr<Dut> model_;
  Spoil spoil_;
};

/// The same for a NIC that is known by its calls alone.
AgentResult device_says(const Spoil& spoil, const char* scenario) {
  const auto device = [](decltype(PinsOptions::open) open) {
    PinsOptions o;
    o.preset = &kTiny;
    o.open = std::move(open);
    return make_pins_device(o);
  };
  const auto dut = device([&](uint64_t, std::string&) { return std::make_unique<Spoiled>(spoil); });
  const auto peer = device([](uint64_t, std::string&) { return make_model_dut(kTiny); });
  AgentOptions o;
  o.preset = &kTiny;
  o.scenario = *find_scenario(scenario);
  o.packets = 1500;
  o.dut = dut.get();
  o.peer = peer.get();
  return run_agent(o);
}

/// A way in which pins are wrong, and what is said of it.
struct Wrong {
  const char* name;
  std::function<Spoil()> make;  ///< with a state of its own
  const char *host, *device;    ///< null: cannot be known there
};

std::vector<Wrong> wrongs() {
  return {
      {"a full line is never the last",
       [] { return [](mrc_pins_out& o) { o.host_wr_last = o.host_wr_last && o.host_wr_len < kFull; }; }, " had no last",
       " had no last"},
      {"every line is the last", [] { return [](mrc_pins_out& o) { o.host_wr_last = 1; }; },
       ", which did not come there", ", which did not come there"},
      {"no line is the last", [] { return [](mrc_pins_out& o) { o.host_wr_last = 0; }; }, "without last",
       "without last"},
      {"another QP", [] { return [](mrc_pins_out& o) { o.host_wr_qp ^= 1; }; },
       ": the message that goes there is one of QP ", ", which did not come there"},
      {"a QP that is not there", [] { return [](mrc_pins_out& o) { o.host_wr_qp = 4; }; },
       " names QP 4: ", " names a QP that is not there: the last one is 3"},
      {"the QP of the first line",
       [] {
         return [qp = -1](mrc_pins_out& o) mutable {
           if (qp < 0) qp = o.host_wr_qp;
           o.host_wr_qp = static_cast<uint16_t>(qp);
         };
       },
       ": the message that goes there is one of QP ", ", which did not come there"},
      {"the other plane", [] { return [](mrc_pins_out& o) { o.host_wr_plane ^= 1; }; }, ", which did not come there",
       ", which did not come there"},
      {"always plane 0", [] { return [](mrc_pins_out& o) { o.host_wr_plane = 0; }; }, "(plane 0, ", "(plane 0, "},
      {"a plane that is not there", [] { return [](mrc_pins_out& o) { o.host_wr_plane = 15; }; },
       " names a plane that is not there: the last one is 1", " names a plane that is not there: the last one is 1"},
      {"all ones",
       [] { return [](mrc_pins_out& o) { o.host_wr_plane = o.host_wr_last = 0xff, o.host_wr_qp = 0xffff; }; },
       " names QP 65535: ", " names a plane that is not there"},
  };
}

}  // namespace

TEST_CASE("packets of a host are in one piece, planes among each other not", "[tb][host-writes]") {
  HostWrites writes(kTiny);
  for (const unsigned plane : {0u, 1u}) {
    for (const unsigned bytes : {4096u, 1u, kFull, kFull + 1}) writes.came(plane, write(plane, bytes).frame());
  }
  for (const unsigned bytes : {4096u, 1u, kFull, kFull + 1}) {
    for (unsigned at = 0; at < bytes; at += kFull) {
      for (const unsigned plane : {0u, 1u}) {
        const unsigned n = std::min(kFull, bytes - at);
        CHECK(writes.taken(line(plane, plane, uint64_t{bytes} - 7 + at, n, at + n == bytes)) == "");
      }
    }
  }
  CHECK(writes.finish() == "");
}

TEST_CASE("any shape of a WRITE is a packet of a host", "[tb][host-writes]") {
  const unsigned shape = GENERATE(range(0u, 12u));  // outer headers, immediate, time stamp
  const unsigned bytes = GENERATE(1u, 2u, 3u, 4u, 1000u, 4096u);
  CAPTURE(shape, bytes);
  test::Packet p = write(2, bytes);
  if (shape & 1) {
    p.ts = true;
    p.ext.resize(p.ext.size() + 4);
  }
  if (shape & 2) {
    p.opcode = 0xCB;
    p.ext.resize(p.ext.size() + 4);
  }
  HostWrites writes(kTiny);
  writes.came(1, p.frame(test::kOuters[shape / 4]));
  CHECK(taken(writes, 1, 2, 0xffffffffffffff00, bytes) == "");  // and round the end of all addresses
  CHECK_THAT(taken(writes, 1, 2, 0, bytes), ContainsSubstring("behind the one written last, there is none"));
}

TEST_CASE("a packet is one of those that came, in their order; those between are discarded", "[tb][host-writes]") {
  HostWrites writes(kTiny);
  for (const unsigned bytes : {10u, 20u, 30u, 40u, 50u}) writes.came(0, write(1, bytes).frame());
  writes.came(0, test::Bytes(60));       // no packet of ours
  writes.came(0, write(9, 70).frame());  // no such QP: its low bits name QP 1, so it may be meant
  test::Packet sack = write(1, 0);       // no data
  sack.opcode = 0xD1;
  writes.came(0, sack.frame());
  CHECK(taken(writes, 0, 1, 0x40, 20) == "");
  CHECK(taken(writes, 0, 1, 0x80, 10) ==
        "host write of 10 bytes at 0x80 (plane 0, QP 1, last 1) ends a packet of 10 bytes of QP 1, which did not come "
        "there: of those that came on this plane behind the one written last, there are QP 1 with 30 bytes, QP 1 with "
        "40 bytes, QP 1 with 50 bytes, and 1 more");
}

TEST_CASE("what a host must not see is told: what came, and what would have been right", "[tb][host-writes]") {
  HostWrites writes(kTiny);
  writes.came(1, write(3, 100).frame());
  REQUIRE(writes.taken(line(1, 3, 0x1000, kFull, false)) == "");
  const auto says = [&](const mrc_pins_out& o) { return HostWrites(writes).taken(o); };
  CHECK(says(line(1, 2, 0x1020, kFull, false)) ==
        "host write of 32 bytes at 0x1020 (plane 1, QP 2, last 0) is inside a packet of QP 3: the line before it on "
        "this plane had no last");
  CHECK(says(line(1, 3, 0x1040, kFull, false)) ==
        "host write of 32 bytes at 0x1040 (plane 1, QP 3, last 0) is inside a packet that goes on at 0x1020: the line "
        "before it on this plane had no last");
  CHECK(says(line(1, 3, 0x1020, 31, false)) ==
        "host write of 31 bytes at 0x1020 (plane 1, QP 3, last 0) is not full: without last it must have 32 bytes");
  CHECK(says(line(2, 3, 0x1020, kFull, false)) ==
        "host write of 32 bytes at 0x1020 (plane 2, QP 3, last 0) names a plane that is not there: the last one is 1");
  CHECK(says(line(0, 4, 0x1020, kFull, false)) ==
        "host write of 32 bytes at 0x1020 (plane 0, QP 4, last 0) names a QP that is not there: the last one is 3");
  CHECK(says(line(1, 3, 0x1020, kFull, true)) ==
        "host write of 32 bytes at 0x1020 (plane 1, QP 3, last 1) ends a packet of 64 bytes of QP 3, which did not "
        "come there: of those that came on this plane behind the one written last, there are QP 3 with 100 bytes");
  CHECK(writes.finish() ==
        "the packet of QP 3 that is written on plane 1 has no last line: 32 bytes up to 0x1020 are there");
}

TEST_CASE("a packet has so many lines at most, and the last of those says so", "[tb][host-writes]") {
  HostWrites writes(kTiny);
  for (unsigned i = 0; i < 4096 / kFull - 1; ++i) REQUIRE(writes.taken(line(0, 0, kFull * i, kFull, false)) == "");
  CHECK(writes.taken(line(0, 0, 4096 - kFull, kFull, false)) ==
        "host write of 32 bytes at 0xfe0 (plane 0, QP 0, last 0) is line 128 of its packet: a packet has at most 128, "
        "and the last one must say so");
}

TEST_CASE("a host of the bench finds each wrong pin of its writes", "[tb][host-writes]") {
  for (const char* scenario : {"many-qps", "mixed"})
    CHECK(host_says([](mrc_pins_out&) {}, *find_scenario(scenario)) == "");
  for (const Wrong& w : wrongs()) {
    INFO(w.name);
    CHECK_THAT(host_says(w.make(), *find_scenario("many-qps")), ContainsSubstring(w.host));
  }
}

TEST_CASE("a host of the bench misses the end of the last packet", "[tb][host-writes]") {
  Scenario full = *find_scenario("clean");  // every packet ends with a full line
  full.exact_share = 1;
  full.small_share = 0;
  full.mtu_min = full.mtu_max = 2;  // and has less than it may
  unsigned lines = 0, all = 0;
  const auto counting = [&lines, &all, seen = ~uint64_t{0}](mrc_pins_out& o) mutable {
    if (o.host_wr_addr != seen) ++lines;
    seen = o.host_wr_addr;
    if (lines == all) o.host_wr_last = 0;
  };
  CHECK(host_says(counting, full) == "");
  std::swap(lines, all);
  REQUIRE(all > 1000);
  CHECK_THAT(host_says(counting, full), ContainsSubstring(" has no last line: "));
}

TEST_CASE("behind the pins of a device each wrong pin of its writes is found", "[tb][host-writes]") {
  for (const char* scenario : {"many-qps", "mixed"}) {
    const AgentResult r = device_says([](mrc_pins_out&) {}, scenario);
    CHECK(r.problem == "");
    CHECK(r.outcome == AgentOutcome::Pass);
  }
  for (const Wrong& w : wrongs()) {
    INFO(w.name);
    const AgentResult r = device_says(w.make(), "many-qps");
    CHECK(r.outcome == AgentOutcome::DeviceError);
    CHECK_THAT(r.problem, ContainsSubstring(w.device));
    CHECK_THAT(r.problem, ContainsSubstring(" ps: host write of "));
  }
}

}  // namespace mrc::test::host_writes_test
