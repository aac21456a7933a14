// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "pipeline/tx/tx_header.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::tx_header_wave_test {

TEST_CASE("the waves of tx_header.md: control before data, and a table write under load",
          "[pipeline][tx_header][waves]") {
  const Preset preset = *find_preset("tiny");
  Stream<Path> path;
  Stream<Ctlpkt> ctlpkt, probe, eprq;
  TxHeader header{preset, path, ctlpkt, probe, eprq};
  CfgBus cfg;
  CsrOut csr;
  const auto cycle = [&] {
    header.step(cfg, csr, true);
    clock_all(header, path, ctlpkt, probe, eprq);
  };
  Wave wave("tx_header", "tx_header: data (D, by PSN), a SACK (C), an endpoint request (E), a probe (P), QP_CTX");
  wave.head("path head", path, [](const Path& p) { return fmt::format("D{}", p.pkt.psn); });
  wave.head("ctlpkt head", ctlpkt, [](const Ctlpkt&) { return "C"; });
  wave.head("probe head", probe, [](const Ctlpkt&) { return "P"; });
  wave.head("eprq head", eprq, [](const Ctlpkt&) { return "E"; });
  wave.bit("cfg_req", [&] { return cfg.req; });
  wave.bit("cfg_ack_q", [&] { return header.cfg_ack(); });
  wave.words(
      "hdr",
      [&]() -> std::string {
        if (!header.hdr().valid()) return "";
        const Hdr& h = header.hdr().data();
        const uint8_t* bth = reinterpret_cast<const uint8_t*>(h.hdr.data()) + 62;
        if (h.ctl) return bth[0] == 0xDC ? "C" : bth[0] == 0xDE ? "P" : "E";
        return fmt::format("D{}", bth[11]);
      },
      [] { return false; });
  wave.bit("hdr.ctl", [&] { return header.hdr().valid() && header.hdr().data().ctl; });
  unsigned sent = 0;
  wave.sample();
  for (unsigned i = 0; i < 16; ++i) {
    if (sent < 7 && path.free()) {
      Path p{};
      p.pkt.opcode = 0xC7;
      p.pkt.psn = ++sent;
      p.pkt.plen = 4096;
      path.load(p);
    }
    const auto control = [](uint8_t opcode) {
      Ctlpkt c{.opcode = opcode, .ext_len = 16};
      return c;
    };
    if (i == 2) ctlpkt.load(control(0xDC));
    if (i == 2) probe.load(control(0xDE));
    if (i == 2) eprq.load(control(0xD8));
    const bool acked = header.cfg_ack();
    cycle();
    if (i == 8) cfg.req = true;
    if (acked) cfg.req = false;
    wave.sample();
  }
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::tx_header_wave_test
