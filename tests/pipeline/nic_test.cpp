// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <initializer_list>

#include "tests/pipeline/nic_pair.hpp"
#include "wire/icrc.hpp"

namespace mrc::test::nic_test {
namespace {

Wqe write_of(unsigned qp, const Preset& preset, uint32_t length, uint64_t laddr, uint64_t raddr) {
  Wqe w;
  w.qp = static_cast<QpIndex>(qp);
  w.wr_id = 0x1000 + qp;
  w.laddr = laddr;
  w.raddr = raddr;
  w.rkey = (qp % preset.num_mrs) << 8;
  w.length = length;
  return w;
}

void fill(std::vector<uint8_t>& mem, uint64_t at, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) mem[at + i] = static_cast<uint8_t>(i * 7 + (i >> 8) + 1);
}

}  // namespace

TEST_CASE("one WRITE arrives in the peer's memory and completes", "[nic]") {
  const char* name = GENERATE("tiny", "fpga100", "asic800");
  const uint32_t length = GENERATE(1u, 64u, 4096u, 10'001u);
  const bool srv6 = GENERATE(false, true);
  const bool ts = GENERATE(false, true);
  CAPTURE(name, length, srv6, ts);
  const Preset& preset = *find_preset(name);
  NicPair pair(preset);
  pair.set_up();
  pair.connect_qp(1, 4, srv6, ts);
  Host &a = pair.host[0], &b = pair.host[1];
  fill(a.mem, 0x1003, length);
  a.wqes.push_back(write_of(1, preset, length, 0x1003, 0x8005));
  REQUIRE(pair.run_until([&] { return !a.cqes.empty(); }, 5000));
  CHECK(a.cqes[0].wr_id == 0x1001);
  CHECK(a.cqes[0].status == CqStatus::Ok);
  CHECK(a.cqes[0].length == length);
  CHECK_FALSE(a.cqes[0].recv);
  CHECK(b.cqes.empty());
  pair.run(1000);  // the ACK says "arrived": the last bytes may still be on their way to memory
  CHECK(std::equal(a.mem.begin() + 0x1003, a.mem.begin() + 0x1003 + length, b.mem.begin() + 0x8005));
  CHECK(b.mem[0x8004] == 0);
  CHECK(b.mem[0x8005 + length] == 0);
  const uint32_t packets = (length + 4095) / 4096;
  uint32_t sent = 0, received = 0, answered = 0;
  for (unsigned p = 0; p < preset.num_planes; ++p) {
    sent += pair.read(0, csr::kCntTx0 + 4 * p);
    received += pair.read(1, csr::kCntRx0 + 4 * p);
    answered += pair.read(0, csr::kCntRx0 + 4 * p);
  }
  const uint32_t probed = pair.read(0, csr::kCntEpRsp);  // the receiver probes its reverse paths
  // Links take no time: the round trip of a short packet is two ticks. The sender may ask about long ones, on two
  // planes.
  const uint32_t requested = std::min(preset.num_planes, 2u) * pair.read(0, csr::kCntState);
  CHECK(sent == packets + probed + requested);
  CHECK(received == packets + probed + requested);
  CHECK(answered >= 2);  // one ACK, at least the SACK that the last packet asks for
  for (unsigned side = 0; side < 2; ++side) {
    for (const uint32_t counter :
         {csr::kCntDropParse, csr::kCntDropIcrc, csr::kCntDropQp, csr::kCntDropPkey, csr::kCntDropLen, csr::kCntAccess,
          csr::kCntDup, csr::kCntOor, csr::kCntTrim, csr::kCntRtx, csr::kCntRto}) {
      CAPTURE(side, counter);
      CHECK(pair.read(side, counter) == 0);
    }
  }
}

TEST_CASE("the largest window: 8192 PSNs are on their way while nothing is heard of the peer", "[nic]") {
  Preset preset = *find_preset("asic800");
  preset.max_mpr = 8192;
  preset.num_blocks = 1024;
  preset.num_rx_rows = 1024;
  NicPair pair(preset);
  pair.set_up();
  pair.timeout = 12;  // 4 ms
  pair.connect_qp(1, 0);
  Host &a = pair.host[0], &b = pair.host[1];
  constexpr uint32_t kLength = 256 * 1000, kAt = 0x10000;
  fill(a.mem, 0, kLength);
  for (uint32_t i = 0; i < 10; ++i) a.wqes.push_back(write_of(1, preset, kLength, 0, kAt + 256 * i));
  bool deaf = true, spoilt = false;
  unsigned sent = 0;
  pair.tap = [&](NicPair& p) {
    for (unsigned plane = 0; plane < preset.num_planes; ++plane) {
      sent += (p.host[1].in.rx_tvalid & p.host[1].in.rx_tlast) >> plane & 1;
    }
    if (deaf) p.host[0].in.rx_tvalid = 0;
    // The first frame of all is spoilt, so that the receiver keeps the whole window beside it.
    mrc_pins_in& in = p.host[1].in;
    if (!spoilt && in.rx_tvalid != 0) in.rx_tdata[std::countr_zero(in.rx_tvalid)][12] ^= 1;
    spoilt = spoilt || in.rx_tvalid != 0;
  };
  pair.run(60'000);
  CHECK(sent >= 8192);
  CHECK(sent < 8192 + 300);  // and endpoint packets
  CHECK(a.cqes.empty());
  deaf = false;
  REQUIRE(pair.run_until([&] { return a.cqes.size() == 10; }, 12'000'000));
  pair.run(1000);
  for (const Cqe& c : a.cqes) CHECK(c.status == CqStatus::Ok);
  CHECK(std::equal(a.mem.begin(), a.mem.begin() + kLength, b.mem.begin() + kAt + 9 * 256));
  CHECK(pair.read(1, csr::kCntOor) == 0);
  CHECK(pair.read(1, csr::kCntDropParse) == 1);
  CHECK(pair.read(0, csr::kCntRtx) >= 1);
}

TEST_CASE("immediates are delivered in order, after their data", "[nic]") {
  const Preset& preset = *find_preset("tiny");
  NicPair pair(preset);
  pair.set_up();
  pair.connect_qp(0, 0);
  Host &a = pair.host[0], &b = pair.host[1];
  constexpr uint32_t kLength = 1000;
  fill(a.mem, 0, 20 * kLength);
  for (unsigned i = 0; i < 20; ++i) {
    Wqe w = write_of(0, preset, kLength, i * kLength, 0x10000 + i * kLength);
    w.imm_valid = i % 2 == 1;
    w.imm = 0xabc0000 + i;
    w.wr_id = i;
    a.wqes.push_back(w);
  }
  std::size_t seen = 0;
  bool in_memory = true;
  REQUIRE(pair.run_until(
      [&] {
        for (; seen < b.cqes.size(); ++seen) {  // all messages up to this one are in memory
          in_memory =
              in_memory && std::equal(a.mem.begin(), a.mem.begin() + static_cast<long>((2 * seen + 2) * kLength),
                                      b.mem.begin() + 0x10000);
        }
        return a.cqes.size() == 20 && b.cqes.size() == 10;
      },
      20'000));
  CHECK(in_memory);
  for (unsigned i = 0; i < 10; ++i) {
    CHECK(b.cqes[i].recv);
    CHECK(b.cqes[i].status == CqStatus::Ok);
    CHECK(b.cqes[i].imm == 0xabc0000 + 2 * i + 1);
    CHECK(b.cqes[i].msn == i);
    CHECK(b.cqes[i].length == kLength);
  }
  for (unsigned i = 0; i < 20; ++i) {
    CHECK(a.cqes[i].wr_id == i);
    CHECK(a.cqes[i].msn == i);
  }
}

TEST_CASE("a corrupted packet is dropped for its ICRC and comes again", "[nic]") {
  const Preset& preset = *find_preset("tiny");
  NicPair pair(preset);
  pair.set_up();
  pair.timeout = 3;
  pair.connect_qp(2, 2);
  Host &a = pair.host[0], &b = pair.host[1];
  fill(a.mem, 0, 8000);
  a.wqes.push_back(write_of(2, preset, 8000, 0, 0x4000));
  bool hit = false;
  unsigned beats = 0;
  pair.tap = [&](NicPair& p) {
    mrc_pins_in& in = p.host[1].in;
    if (in.rx_tvalid & 1 && ++beats == 30) {
      in.rx_tdata[0][3] ^= 0x10;
      hit = true;
    }
  };
  REQUIRE(pair.run_until([&] { return !a.cqes.empty(); }, 100'000));
  CHECK(hit);
  CHECK(a.cqes[0].status == CqStatus::Ok);
  CHECK(pair.read(1, csr::kCntDropIcrc) == 1);
  // A packet that arrived after the last SACK was sent may be retransmitted with the lost one: it is then a duplicate.
  CHECK(pair.read(0, csr::kCntRtx) == 1 + pair.read(1, csr::kCntDup));
  pair.run(1000);
  CHECK(std::equal(a.mem.begin(), a.mem.begin() + 8000, b.mem.begin() + 0x4000));
}

TEST_CASE("a WRITE outside the memory region is refused and ends the QP", "[nic]") {
  const Preset& preset = *find_preset("tiny");
  NicPair pair(preset);
  pair.set_up();
  pair.connect_qp(0, 2);
  Host &a = pair.host[0], &b = pair.host[1];
  const std::vector<uint8_t> before = b.mem;
  a.wqes.push_back(write_of(0, preset, 256, 0, b.mem.size() - 255));
  REQUIRE(pair.run_until([&] { return !a.cqes.empty(); }, 5000));
  CHECK(a.cqes[0].status == CqStatus::RemAccess);
  pair.run(200);
  CHECK(b.mem == before);
  CHECK(pair.read(1, csr::kCntAccess) == 1);
}

TEST_CASE("observe shows a packet at each boundary it passes", "[nic]") {
  const Preset& preset = *find_preset("tiny");
  NicPair pair(preset);
  pair.set_up();
  pair.connect_qp(0, 2);
  pair.write(1, csr::kEpCtl, csr::kEpCtlRevProbe.set(csr::kEpCtlReset, 0));  // no EV probe, nor its answer
  Host& a = pair.host[0];
  std::array<unsigned, kNumCoreStreams> tx{}, rx{};
  const auto tally = [&](Host& h, auto& sums) {
    const uint32_t *core = nullptr, *lanes = nullptr;
    h.nic.observe(core, lanes);
    for (unsigned i = 0; i < kNumCoreStreams; ++i) {
      if ((core[kCoreStreams[i].word_offset] & 3) == 3) ++sums[i];
    }
  };
  pair.tap = [&](NicPair& p) {
    tally(p.host[0], tx);
    tally(p.host[1], rx);
  };
  a.wqes.push_back(write_of(0, preset, 100, 0, 0));
  REQUIRE(pair.run_until([&] { return !a.cqes.empty(); }, 5000));
  pair.run(20);
  const auto at = [](const auto& sums, CoreStream b) { return sums[static_cast<unsigned>(b)]; };
  for (const CoreStream b :
       {CoreStream::HostWqe, CoreStream::TxSchedGrant, CoreStream::TxSegmentPkt, CoreStream::TxPathPath,
        CoreStream::TxPathRec, CoreStream::TxHeaderHdr, CoreStream::TxSegmentCqe, CoreStream::CqMuxCqe}) {
    CAPTURE(kCoreStreams[static_cast<unsigned>(b)].name);
    CHECK(at(tx, b) == 1);
  }
  CHECK(at(tx, CoreStream::TxSegmentPush) == 2);  // it may send; it has nothing more
  CHECK(at(tx, CoreStream::TxFetchRdreq) == 4);   // 100 bytes in lines of 32
  CHECK(at(tx, CoreStream::RxCheckCtl) == 2);     // ACK, SACK
  CHECK(at(rx, CoreStream::RxCheckRxpkt) == 1);
  CHECK(at(rx, CoreStream::RxTrackVerdict) == 1);
  CHECK(at(rx, CoreStream::RxTrackOrd) == 1);
  CHECK(at(rx, CoreStream::RxTrackResp) == 1);   // SACK
  CHECK(at(rx, CoreStream::RxTrackAckev) == 1);  // ACK
  CHECK(at(rx, CoreStream::AckGenCtlpkt) == 2);
  CHECK(at(rx, CoreStream::RxPlaceLine) == 4);
  CHECK(at(rx, CoreStream::HostWqe) == 0);
}

TEST_CASE("reset makes a NIC as new", "[nic]") {
  const Preset& preset = *find_preset("tiny");
  Nic used(preset), fresh(preset);
  mrc_pins_in in{};
  in.rst_n = 1;
  in.awvalid = in.wvalid = in.bready = 1;
  in.awaddr = csr::kIp0;
  in.wdata = 5;
  in.wstrb = 0xf;
  for (int i = 0; i < 3; ++i) used.step(in);
  in.rst_n = 0;
  used.step(in);
  used.step(in);
  in = {};
  in.rst_n = 1;
  in.arvalid = 1;
  in.araddr = csr::kIp0;
  mrc_pins_out x{}, y{};
  for (int i = 0; i < 10; ++i) {
    used.outputs(x);
    fresh.outputs(y);
    CHECK(std::memcmp(&x, &y, sizeof x) == 0);
    used.step(in);
    fresh.step(in);
  }
}

TEST_CASE("a QP whose peer is gone fails after its retries; set up again it works", "[nic][retry]") {
  const Preset& preset = *find_preset("tiny");
  NicPair pair(preset);
  pair.set_up();
  pair.timeout = 0;
  pair.retry_linear = pair.retry_exp = 1;  // 8, 8, 16 ticks
  pair.connect_qp(1, 2);
  Host &a = pair.host[0], &b = pair.host[1];
  fill(a.mem, 0, 4000);
  pair.tap = [](NicPair& p) { p.host[1].in.rx_tvalid = 0; };
  for (uint32_t i = 0; i < 3; ++i) {
    a.wqes.push_back(write_of(1, preset, 4000, 0, 0x4000));
    a.wqes.back().wr_id = i;
  }
  const uint64_t posted = pair.cycle;
  REQUIRE(pair.run_until([&] { return !a.cqes.empty(); }, 10'000));
  const uint64_t ticks = (pair.cycle - posted) / preset.tick_cycles;
  CHECK(ticks >= 31);
  CHECK(ticks <= 33);
  pair.run(3000);
  REQUIRE(a.cqes.size() == 3);
  for (uint32_t i = 0; i < 3; ++i) {
    CHECK(a.cqes[i].wr_id == i);
    CHECK(a.cqes[i].status == (i == 0 ? CqStatus::RetryExceeded : CqStatus::Flushed));
    CHECK(a.cqes[i].length == 4000);
    CHECK(a.cqes[i].msn == i);
  }
  CHECK(pair.read(0, csr::kCntRto) >= 2);  // and steps that found packets sent a moment after the first
  CHECK(pair.read(0, csr::kCntQpFail) == 1);
  CHECK(pair.read(1, csr::kCntQpFail) == 0);
  a.wqes.push_back(write_of(1, preset, 4000, 0, 0x4000));
  REQUIRE(pair.run_until([&] { return a.cqes.size() == 4; }, 100));
  CHECK(a.cqes[3].status == CqStatus::Flushed);
  CHECK(a.cqes[3].length == 0);
  pair.tap = nullptr;
  pair.connect_qp(1, 2);
  a.wqes.push_back(write_of(1, preset, 4000, 0, 0x4000));
  REQUIRE(pair.run_until([&] { return a.cqes.size() == 5; }, 10'000));
  CHECK(a.cqes[4].status == CqStatus::Ok);
  pair.run(1000);
  CHECK(std::equal(a.mem.begin(), a.mem.begin() + 4000, b.mem.begin() + 0x4000));
  CHECK(pair.read(0, csr::kCntQpFail) == 1);
}

TEST_CASE("QP_STATE Error ends a QP's work requests, and counts as no failure", "[nic][retry]") {
  const Preset& preset = *find_preset("tiny");
  NicPair pair(preset);
  pair.set_up();
  pair.connect_qp(2, 2);
  Host& a = pair.host[0];
  pair.tap = [](NicPair& p) { p.host[1].in.rx_tvalid = 0; };
  for (uint32_t i = 0; i < 4; ++i) {
    a.wqes.push_back(write_of(2, preset, 100, 0, 0x4000));
    a.wqes.back().wr_id = i;
  }
  pair.run(300);
  CHECK(a.cqes.empty());
  pair.write(0, csr::kTblData0, static_cast<uint32_t>(QpState::Error));
  pair.command(0, csr::kTblQpStateId, 2);
  pair.run(100);
  REQUIRE(a.cqes.size() == 4);
  for (uint32_t i = 0; i < 4; ++i) {
    CHECK(a.cqes[i].wr_id == i);
    CHECK(a.cqes[i].status == CqStatus::Flushed);
  }
  CHECK(pair.read(0, csr::kCntQpFail) == 0);
}

TEST_CASE("a path that loses packets leaves use, a backup stands in, and probes bring it back", "[nic]") {
  const Preset& preset = *find_preset("tiny");
  NicPair pair(preset);
  pair.set_up();
  pair.timeout = 4;                        // 128 ticks
  pair.connect_qp(1, 0, false, false, 2);  // 256-byte packets; EVs 12 to 15 are backup
  pair.write(0, csr::kEvProbe, csr::kEvProbeInterval.set(0, 4) | csr::kEvProbeSuccesses.set(0, 3));
  Host &a = pair.host[0], &b = pair.host[1];
  fill(a.mem, 0, 60'000);
  // Frames towards the peer by EV, and those of EV 3 (UDP source port 0xc003) spoilt while `broken`.
  bool broken = true;
  std::array<unsigned, 2> beat{}, ev{};
  std::array<unsigned, 16> data{};
  unsigned probes = 0;
  pair.tap = [&](NicPair& p) {
    mrc_pins_in& in = p.host[1].in;
    for (unsigned plane = 0; plane < 2; ++plane) {
      if (!(in.rx_tvalid >> plane & 1)) continue;
      const uint8_t* d = in.rx_tdata[plane];
      if (beat[plane] == 3) {  // bytes 48..63: UDP from 54, BTH from 62
        ev[plane] = (static_cast<unsigned>(d[6]) << 8 | d[7]) - 0xc000;
        if (d[14] == 0xD8 || d[14] == 0xDE) ++probes;  // either kind in turn: nothing else asks here
        if (d[14] <= 0xCB && ev[plane] < 16) ++data[ev[plane]];
      }
      const bool last = in.rx_tlast >> plane & 1;
      if (last && broken && ev[plane] == 3) in.rx_tuser = static_cast<uint8_t>(in.rx_tuser | 1u << plane);
      beat[plane] = last ? 0 : beat[plane] + 1;
    }
  };
  const auto send = [&] {
    for (unsigned i = 0; i < 15; ++i) a.wqes.push_back(write_of(1, preset, 4000, i * 4000, 0x20000 + i * 4000));
    const std::size_t want = a.cqes.size() + 15;
    REQUIRE(pair.run_until([&] { return a.cqes.size() == want; }, 200'000));
  };
  send();
  pair.run(1000);
  CHECK(std::equal(a.mem.begin(), a.mem.begin() + 60'000, b.mem.begin() + 0x20000));
  CHECK(pair.read(0, csr::kCntEvBad) == 1);
  CHECK(pair.read(0, csr::kEvq) == 0x80001203);  // QP 1: EV 3 to ASSUMED_BAD
  CHECK(pair.read(0, csr::kEvq) == 0);
  CHECK(pair.read(0, csr::kCntEvFloor) == 0);
  CHECK(data[13] != 0);
  CHECK(data[12] + data[14] + data[15] == 0);

  data = {};
  send();
  CHECK(data[3] == 0);
  // 240 packets over twelve EVs are twenty passes, begun anywhere in one; the planes take turns all the same.
  const auto fair = [&](std::initializer_list<unsigned> evs) {
    std::array<unsigned, 2> plane{};
    for (const unsigned i : evs) {
      CAPTURE(i);
      CHECK(data[i] >= 19);
      CHECK(data[i] <= 21);
      plane[i % 2] += data[i];
    }
    CHECK(plane[0] + plane[1] == 240);
    CHECK(plane[0] == plane[1]);
  };
  fair({0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13});
  REQUIRE(pair.run_until([&] { return probes >= 2; }, 100'000));
  CHECK(pair.read(0, csr::kCntRevived) == 0);
  broken = false;
  REQUIRE(pair.run_until([&] { return probes >= 6; }, 200'000) == false);
  CHECK(pair.read(0, csr::kCntRevived) == 1);
  CHECK(pair.read(0, csr::kCntProbe) == probes);
  CHECK(pair.read(0, csr::kEvq) == 0x80001003);  // EV 3 to GOOD
  CHECK(pair.read(1, csr::kCntDropQp) == 0);
  data = {};
  send();
  fair({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("unloaded, a first byte leaves within 64 cycles of its cause", "[nic]") {
  const Preset& preset = *find_preset("asic800");
  NicPair pair(preset);
  pair.set_up();
  pair.connect_qp(0);
  uint64_t wqe_taken = 0, first_out = 0, last_in = 0, answer_out = 0;
  pair.tap = [&](NicPair& p) {
    const Host &a = p.host[0], &b = p.host[1];
    if (a.in.wqe_valid && a.out.wqe_ready) wqe_taken = p.cycle;
    if (a.out.tx_tvalid && first_out == 0) first_out = p.cycle;
    if (b.in.rx_tvalid & b.in.rx_tlast) last_in = p.cycle;
    if (b.out.tx_tvalid && answer_out == 0) answer_out = p.cycle;
  };
  pair.host[0].wqes.push_back(write_of(0, preset, 4096, 0, 0));
  REQUIRE(pair.run_until([&] { return !pair.host[0].cqes.empty(); }, 5000));
  CAPTURE(first_out - wqe_taken, answer_out - last_in);
  CHECK(wqe_taken < first_out);
  CHECK(first_out - wqe_taken <= 64);
  CHECK(last_in < answer_out);
  CHECK(answer_out - last_in <= 64);
}

}  // namespace mrc::test::nic_test
