// SPDX-License-Identifier: Apache-2.0
/// A WRITE of no bytes with an immediate says that the data before it are there (A-19; collectives libraries signal
/// so): rx_track, rx_reorder and rx_place together, with lanes that write payloads out line by line.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <deque>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/rx/rx_place.hpp"
#include "pipeline/rx/rx_reorder.hpp"
#include "pipeline/rx/track/rx_track.hpp"
#include "tests/pipeline/block_bench.hpp"

namespace mrc::test::rx_reorder_empty_test {
namespace {

constexpr unsigned kQp = 1;
constexpr unsigned kBlock = 16;  ///< packets that may overtake each other

/// Packet n has PSN n, and data of n * 4096 on.
struct Chain : BlockBench<Chain> {
  const Preset& preset = *find_preset("tiny");
  CsrOut csr;
  Stream<Rxpkt> rxpkt;
  PlaneDemux<Verdict> verdict{preset.num_planes, preset.lane_fifo};
  Stream<Resp> resp{16};
  Stream<Ackev> ackev;
  Stream<Ord> ord;
  Stream<Qperr> track_qperr, reorder_qperr;
  Stream<Came> came;
  std::vector<Stream<Line>> lanes{preset.num_planes, Stream<Line>()};
  Stream<Cqe> cqe;
  RxTrack track{preset, rxpkt, verdict, resp, ackev, ord, track_qperr, came};
  RxReorder reorder{preset, ord, cqe, reorder_qperr};
  RxPlace place{preset, lanes};

  Feed<Rxpkt> packets;
  std::vector<std::deque<Line>> draining{preset.num_planes};  ///< what the lanes have been told to write
  std::vector<Pace> paces{preset.num_planes, Pace::always()};
  Pin<Line> host;
  std::vector<Ackev> acks;
  std::vector<Cqe> cqes;
  std::vector<unsigned> cqe_at;
  unsigned verdicts = 0, nacks = 0;

  Chain() {
    csr::TblQpCtx row{.max_wimm_dest = 32, .mpr_dest = 1, .state = QpState::Rtr};
    configure(CfgTable::QpCtx, kQp, row);
  }
  bool cfg_ack() const { return track.cfg_ack() && reorder.cfg_ack(); }

  void cycle() {
    host.look(place.line_valid(), place.line(), cycles);
    packets.into(rxpkt);
    track.step(cfg, csr,
               {.imm_ok = reorder.imm_ok(), .hold_ok = reorder.hold_ok(), .over = reorder.over(), .share = {}});
    reorder.step(cfg, csr, {.done_valid = place.done_valid(), .done_plane = place.done_plane()});
    for (unsigned p = 0; p < preset.num_planes; ++p) drain(p);
    place.step(host.ready);
    if (cqe.has()) cqe_at.push_back(cycles);
    take(cqe, cqes);
    take(ackev, acks);
    if (resp.has()) {
      nacks += resp.head().kind == CtlKind::Nack;
      resp.pop();
    }
    CHECK_FALSE(track_qperr.has());
    CHECK_FALSE(reorder_qperr.has());
    clock_all(rxpkt, verdict, resp, ackev, ord, track_qperr, reorder_qperr, came, cqe, track, reorder, place);
    for (auto& lane : lanes) lane.clock();
    ++cycles;
  }
  /// The lane's part: verdicts become lines.
  void drain(unsigned p) {
    Fifo<Verdict>& in = verdict.lane(p);
    if (in.valid()) {
      const Verdict& v = in.head();
      ++verdicts;
      CHECK(v.place);
      for (unsigned at = 0; at < v.plen; at += preset.host_bytes) {
        const unsigned n = std::min<unsigned>(preset.host_bytes, v.plen - at);
        draining[p].push_back(
            {.addr = v.addr + at, .len = static_cast<uint8_t>(n), .last = at + n == v.plen, .qp = v.qp});
      }
      in.pop();
    }
    if (draining[p].empty() || !lanes[p].free() || !paces[p]()) return;
    lanes[p].load(draining[p].front());
    draining[p].pop_front();
  }
  /// A message of one packet; without bytes its address is nothing.
  Rxpkt message(uint32_t psn, unsigned plen, unsigned plane) const {
    Rxpkt p;
    p.qp = kQp;
    p.plane = static_cast<uint8_t>(plane);
    p.psn = psn;
    p.msn = static_cast<uint16_t>(psn);
    p.last = true;
    p.buf_valid = plen != 0;
    p.plen = static_cast<uint16_t>(plen);
    p.dmalen = plen;
    p.size = static_cast<uint16_t>(plen + 84);
    p.haddr = plen != 0 ? uint64_t{psn} * 4096 : 0;
    return p;
  }
  Rxpkt signal(uint32_t psn, uint16_t rqmsn, unsigned plane) const {
    Rxpkt p = message(psn, 0, plane);
    p.imm_valid = true;
    p.imm = 0xabc0'0000 + rqmsn;
    p.rqmsn = rqmsn;
    return p;
  }
  /// Bytes of packet psn that the host had taken before that cycle.
  unsigned written(uint32_t psn, unsigned before) const {
    unsigned bytes = 0;
    for (std::size_t i = 0; i < host.taken.words.size() && host.taken.at[i] < before; ++i) {
      if (host.taken.words[i].addr / 4096 == psn) bytes += host.taken.words[i].len;
    }
    return bytes;
  }
};

}  // namespace

TEST_CASE("the immediate of a WRITE of no bytes waits until the data before it are written",
          "[rx_track][rx_reorder][rx_place][A-19]") {
  Chain c;
  c.host.taken.pace = Pace::never();
  c.packets.words = {c.message(0, 1000, 0), c.message(1, 1000, 1), c.signal(2, 0, 0)};
  c.run(200);
  CHECK(c.verdicts == 2);       // of nothing there is nothing to decide
  REQUIRE(c.acks.size() == 3);  // it has arrived, and is acknowledged as any message
  CHECK(c.acks[2].msn == 3);
  CHECK(c.cqes.empty());
  c.host.taken.pace = Pace::always();
  c.run_until([&] { return !c.cqes.empty(); }, 200);
  CHECK(c.cqes[0] == Cqe{.qp = kQp, .recv = true, .status = CqStatus::Ok, .wr_id = 0, .imm = 0xabc0'0000, .length = 0});
  CHECK(c.written(0, c.cqe_at[0]) == 1000);
  CHECK(c.written(1, c.cqe_at[0]) == 1000);
  c.run(50);
  CHECK(c.cqes.size() == 1);
  // With nothing before it that is not written, it needs no line and no host.
  c.host.taken.pace = Pace::never();
  c.packets.words = {c.signal(3, 1, 1)};
  c.run_until([&] { return c.cqes.size() == 2; }, 50);
  CHECK(c.verdicts == 2);
}

TEST_CASE("a WRITE of no bytes that comes early waits for the packets before it, and for their data",
          "[rx_track][rx_reorder][rx_place][A-19]") {
  Chain c;
  c.packets.words = {c.signal(2, 0, 1), c.message(1, 4096, 0)};
  c.run(300);
  CHECK(c.written(1, c.cycles) == 4096);
  CHECK(c.cqes.empty());
  c.host.taken.pace = Pace::never();
  c.packets.words = {c.message(0, 4096, 1)};
  c.run(100);
  CHECK(c.cqes.empty());
  c.host.taken.pace = Pace::always();
  c.run_until([&] { return !c.cqes.empty(); }, 300);
  CHECK(c.written(0, c.cqe_at[0]) == 4096);
}

TEST_CASE("at any pace, in any order, every WRITE of no bytes is told once, behind the data before it",
          "[rx_track][rx_reorder][rx_place][A-19]") {
  const uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  CAPTURE(seed);
  Chain c;
  Rng rng(seed, "rx_reorder_empty");
  c.host.taken.pace = Pace::random(seed % 2 == 0 ? 0.3 : 0.9, seed);
  c.packets.pace = Pace::random(0.2, seed + 1);
  for (unsigned p = 0; p < c.preset.num_planes; ++p) c.paces[p] = Pace::random(p == 0 ? 0.2 : 0.8, seed + 2 + p);
  constexpr unsigned kPackets = 60 * kBlock;
  std::vector<unsigned> bytes(kPackets);
  std::vector<uint32_t> signals;
  for (uint32_t first = 0; first < kPackets; first += kBlock) {
    std::vector<Rxpkt> block;
    for (uint32_t psn = first; psn < first + kBlock; ++psn) {
      const auto plane = static_cast<unsigned>(rng.below(c.preset.num_planes));
      // At most three in a block: with those of the block before they leave more than eight entries free, so that
      // rx_track refuses none.
      if (psn % 8 == 7 || (psn % kBlock == 6 && rng.chance(0.5))) {
        block.push_back(c.signal(psn, static_cast<uint16_t>(signals.size()), plane));
        signals.push_back(psn);
      } else {
        bytes[psn] = static_cast<unsigned>(rng.below(300));  // some of no bytes without immediate, too
        block.push_back(c.message(psn, bytes[psn], plane));
      }
    }
    if (seed > 2) {
      for (std::size_t i = block.size(); i > 1; --i) std::swap(block[i - 1], block[rng.below(i)]);
    }
    c.packets.words.insert(c.packets.words.end(), block.begin(), block.end());
  }
  c.run_until([&] { return c.cqes.size() >= signals.size(); });
  c.run(200);
  CHECK(c.nacks == 0);
  CHECK(c.verdicts == kPackets - static_cast<unsigned>(std::count(bytes.begin(), bytes.end(), 0u)));
  REQUIRE(c.cqes.size() == signals.size());
  for (std::size_t i = 0; i < signals.size(); ++i) {
    CAPTURE(i);
    CHECK(c.cqes[i].msn == i);
    CHECK(c.cqes[i].imm == 0xabc0'0000 + i);
    CHECK(c.cqes[i].length == 0);
    CHECK(c.cqes[i].status == CqStatus::Ok);
  }
  // What the host had taken when it was told.
  std::vector<unsigned> taken(kPackets);
  std::size_t line = 0;
  uint32_t psn = 0;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    for (; line < c.host.taken.words.size() && c.host.taken.at[line] < c.cqe_at[i]; ++line) {
      taken[c.host.taken.words[line].addr / 4096] += c.host.taken.words[line].len;
    }
    for (; psn < signals[i]; ++psn) {
      CAPTURE(i, psn);
      CHECK(taken[psn] == bytes[psn]);
    }
  }
}

}  // namespace mrc::test::rx_reorder_empty_test
