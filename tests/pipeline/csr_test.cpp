// SPDX-License-Identifier: Apache-2.0
#include "pipeline/csr.hpp"

#include <catch2/catch_test_macros.hpp>

#include "nic_pair.hpp"

using namespace mrc;
using namespace mrc::test;

TEST_CASE("registers identify the NIC and its sizes", "[csr]") {
  NicPair pair(*find_preset("asic800"));
  CHECK(pair.read(0, csr::kId) == 0x4D52434E);
  CHECK(pair.read(0, csr::kVersion) == 0x100);
  CHECK(pair.read(0, csr::kCaps0) == (8u | 256u << 8 | 16u << 24));
  CHECK(pair.read(0, csr::kCaps1) == (1024u | 256u << 16));
  CHECK(pair.read(0, csr::kCtrl) == 0x14);
  CHECK(pair.read(0, csr::kRevEv0 + 28) == 0x10000007);
}

TEST_CASE("writes keep to named fields and strobes; the rest of the map answers SLVERR", "[csr]") {
  NicPair pair(*find_preset("tiny"));
  uint8_t resp = 9;
  CHECK(pair.write(0, csr::kDscpTx, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kDscpTx, &resp) == 0x003f3f3f);
  CHECK(resp == 0);
  CHECK(pair.write(0, csr::kIp1, 0x11223344, 0b0101) == 0);
  CHECK(pair.read(0, csr::kIp1) == 0x00220044);
  CHECK(pair.write(0, csr::kIp1, 0xaabbccdd, 0b1000) == 0);
  CHECK(pair.read(0, csr::kIp1) == 0xaa220044);
  CHECK(pair.read(0, csr::kRetry) == 0x1907);
  CHECK(pair.write(0, csr::kRetry, 0xffffffff) == 0);
  CHECK(pair.read(0, csr::kRetry) == 0x1f07);
  CHECK(pair.write(0, csr::kId, 0) == 2);
  CHECK(pair.read(0, csr::kId) == 0x4D52434E);
  CHECK(pair.write(0, csr::kCntTx0, 5) == 2);
  for (const uint32_t hole : {0x74u, 0xccu, 0x1a8u, 0x200u, 0xfffcu}) {
    CHECK(pair.read(0, hole, &resp) == 0);
    CHECK(resp == 2);
    CHECK(pair.write(0, hole, 1) == 2);
  }
  CHECK(pair.read(0, csr::kCntTx0 + 28, &resp) == 0);  // a plane this preset has not
  CHECK(resp == 0);
}

TEST_CASE("bvalid is up two cycles after address and data were taken", "[csr]") {
  Stream<Evev> evev;
  Csr regs(*find_preset("tiny"), evev);
  Csr::In in{.awvalid = true, .wvalid = true, .awaddr = csr::kRto, .wdata = 3, .wstrb = 15};
  unsigned cycles = 0;
  while (!regs.out().bvalid) {
    regs.step(in);
    regs.clock();
    in.awvalid = in.wvalid = false;
    ++cycles;
  }
  CHECK(cycles == 2);  // taken in cycle 0, written in 1, bvalid seen in 2
  CHECK(regs.values().rto == 3);
  CHECK_FALSE(regs.out().awready);
  in.bready = true;
  regs.step(in);
  regs.clock();
  CHECK_FALSE(regs.out().bvalid);
  CHECK(regs.out().awready);
  CHECK(regs.out().wready);
}

TEST_CASE("address and data may come in any order", "[csr]") {
  Stream<Evev> evev;
  Csr regs(*find_preset("tiny"), evev);
  regs.step({.wvalid = true, .wdata = 9, .wstrb = 15});
  regs.clock();
  CHECK(regs.out().awready);
  CHECK_FALSE(regs.out().wready);
  regs.step({.wvalid = true, .wdata = 77, .wstrb = 15});  // not taken: wready is 0
  regs.clock();
  regs.step({.awvalid = true, .awaddr = csr::kRto});
  regs.clock();
  regs.step({});
  regs.clock();
  CHECK(regs.out().bvalid);
  CHECK(regs.values().rto == 9);
}

TEST_CASE("a table write is broadcast until all blocks have taken it and let go", "[csr]") {
  Stream<Evev> evev;
  Csr regs(*find_preset("tiny"), evev);
  const auto cycle = [&](Csr::In in) {
    regs.step(in);
    regs.clock();
  };
  cycle({.awvalid = true, .wvalid = true, .awaddr = csr::kTblData0 + 4, .wdata = 0x55, .wstrb = 15});
  cycle({});
  cycle({.bready = true});
  cycle({.awvalid = true, .wvalid = true, .awaddr = csr::kTblCmd, .wdata = 0x2'0007, .wstrb = 15});
  CHECK_FALSE(regs.cfg().req);
  cycle({});
  CHECK(regs.cfg().req);
  CHECK(regs.cfg().table == 2);
  CHECK(regs.cfg().index == 7);
  CHECK(regs.cfg().data[1] == 0x55);
  cycle({.any_ack = true});
  CHECK(regs.cfg().req);
  cycle({.all_ack = true, .any_ack = true});
  CHECK_FALSE(regs.cfg().req);
  CHECK_FALSE(regs.out().bvalid);
  cycle({.any_ack = true});
  CHECK_FALSE(regs.out().bvalid);
  cycle({});
  CHECK(regs.out().bvalid);
  CHECK(regs.out().bresp == 0);
}

TEST_CASE("a counter shows a pulse in the cycle after it", "[csr]") {
  Stream<Evev> evev;
  Csr regs(*find_preset("tiny"), evev);
  regs.count(csr::kCntSkip);
  regs.count(csr::kCntTx0 + 4);
  regs.step({.arvalid = true, .araddr = csr::kCntSkip});  // reads the register of this cycle
  regs.clock();
  CHECK(regs.out().rvalid);
  CHECK(regs.out().rdata == 0);
  regs.step({.arvalid = true, .rready = true, .araddr = csr::kCntSkip});
  regs.clock();
  CHECK_FALSE(regs.out().rvalid);
  regs.step({.arvalid = true, .araddr = csr::kCntSkip});
  regs.clock();
  CHECK(regs.out().rdata == 1);
}

TEST_CASE("RETRY reaches the blocks as linear and exponential retries", "[csr]") {
  Stream<Evev> evev;
  Csr regs(*find_preset("tiny"), evev);
  CHECK(regs.values().retry_linear == 7);
  CHECK(regs.values().retry_exp == 25);
  regs.step({.awvalid = true, .wvalid = true, .awaddr = csr::kRetry, .wdata = 0x0C03, .wstrb = 15});
  regs.clock();
  regs.step({});
  regs.clock();
  CHECK(regs.values().retry_linear == 3);
  CHECK(regs.values().retry_exp == 12);
}

TEST_CASE("EV events are read oldest first, and what a full queue loses is counted", "[csr]") {
  Stream<Evev> evev;
  Csr regs(*find_preset("tiny"), evev);
  const auto cycle = [&](Csr::In in) {
    regs.step(in);
    regs.clock();
    evev.clock();
  };
  const auto read = [&](uint16_t at) {
    cycle({.arvalid = true, .araddr = at});
    const uint32_t v = regs.out().rdata;
    cycle({.rready = true});
    return v;
  };
  CHECK(read(csr::kEvq) == 0);
  for (uint16_t i = 0; i < 19; ++i) {
    REQUIRE(evev.free());  // csr never stops it
    evev.load({.qp = 5, .ev_idx = i, .state = static_cast<uint8_t>(i == 1 ? kEvGood : kEvBad), .floor = i == 2});
    cycle({});
  }
  cycle({});
  cycle({});
  CHECK(read(csr::kEvqDrop) == 3);
  CHECK(read(csr::kEvq) == 0x80052000);  // valid, QP 5, ASSUMED_BAD, EV 0
  CHECK(read(csr::kEvq) == 0x80050001);  // GOOD, EV 1
  CHECK(read(csr::kEvq) == 0x8005a002);  // floor
  for (uint32_t i = 3; i < 16; ++i) CHECK(read(csr::kEvq) == (0x80052000 | i));
  CHECK(read(csr::kEvq) == 0);
  CHECK(read(csr::kEvqDrop) == 3);
}

TEST_CASE("EV registers reach the blocks", "[csr]") {
  Stream<Evev> evev;
  Csr regs(*find_preset("tiny"), evev);
  CHECK(regs.values().ev_min_active == 8);
  CHECK(regs.values().probe_interval == 781);
  CHECK(regs.values().probe_successes == 3);
  CHECK_FALSE(regs.values().probe_skip_good);
  const auto write = [&](uint16_t at, uint32_t value) {
    regs.step({.awvalid = true, .wvalid = true, .awaddr = at, .wdata = value, .wstrb = 15});
    for (int i = 0; i < 4; ++i) {
      regs.clock();
      regs.step({.bready = true});
    }
    regs.clock();
  };
  write(csr::kEvCtl, 0xffffff00);
  write(csr::kEvProbe, 0x000d0102);
  CHECK(regs.values().ev_min_active == 0x100);
  CHECK(regs.values().probe_interval == 0x0102);
  CHECK(regs.values().probe_successes == 5);
  CHECK(regs.values().probe_skip_good);
}
