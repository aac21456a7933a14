// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "tests/pipeline/ctl/csr_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::csr_wave_test {

using namespace mrc::test::regs;

TEST_CASE("the waves of csr.md: a read, a register, a table", "[csr][waves]") {
  Bench b;
  Csr::In in;
  Wave wave(
      "csr",
      "csr: REORDER is read, UDP_PORT is written, then row 3 of the peers' ports (table 9); CMD_STATUS says when");
  wave.words(
      "araddr", [&] { return in.arvalid ? fmt::format("{:03x}", in.araddr) : std::string(); }, [] { return true; });
  wave.words(
      "rdata", [&] { return b.regs.out().rvalid ? fmt::format("{:x}", b.regs.out().rdata) : std::string(); },
      [] { return true; });
  wave.words(
      "awaddr, wdata", [&] { return in.awvalid ? fmt::format("{:03x}: {:x}", in.awaddr, in.wdata) : std::string(); },
      [] { return true; });
  wave.bit("bvalid", [&] { return b.regs.out().bvalid; });
  wave.bit("cfg.req", [&] { return b.regs.cfg().req; });
  wave.bit("all blocks ack", [&] { return b.ack; });
  const uint32_t write_at[] = {csr::kUdpPort, csr::kTblCmd};
  const uint32_t value[] = {4971, csr::kTblCmdTable.set(0, csr::kTblPeerPortsId) | csr::kTblCmdIndex.set(0, 3)};
  unsigned written = 0;
  for (unsigned i = 0; i < 19; ++i) {
    in = {};
    if (i == 1) in = {.arvalid = true, .araddr = csr::kReorder};
    if (i == 12 || i == 16) in = {.arvalid = true, .araddr = csr::kCmdStatus};
    if (i == 4 || i == 9) {
      in.awvalid = in.wvalid = true;
      in.awaddr = static_cast<uint16_t>(write_at[written]);
      in.wdata = value[written++];
      in.wstrb = 15;
    }
    in.rready = b.regs.out().rvalid;
    in.bready = b.regs.out().bvalid;
    wave.sample();
    b.cycle(in);
  }
  REQUIRE(b.writes.size() == 1);
  CHECK(b.writes[0].index == 3);
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::csr_wave_test
