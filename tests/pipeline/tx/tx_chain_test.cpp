// SPDX-License-Identifier: Apache-2.0
/// The transmit blocks together: what leaves the ports.
#include <catch2/benchmark/catch_benchmark.hpp>
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "tests/pipeline/tx/tx_top.hpp"
#include "wire/bytes.hpp"
#include "wire/decode.hpp"

namespace mrc::test::tx_chain_test {
namespace {

/// A responder as simple as can be: remembers what arrived, answers each packet with a SACK, each complete message with
/// an ACK. `filter` may drop a packet (0 arrives, 1 lost, 2 trimmed, 3 ECN mark).
struct Peer {
  explicit Peer(TxTop& t) : top(t) {
    t.on_frame = [this](unsigned plane, const Bytes& f) { frame(plane, f); };
  }
  struct Qp {
    uint32_t cack = 0;  // next expected
    uint16_t msn = 0;
    std::set<uint32_t> above;
    std::map<uint32_t, bool> last;
  };

  void open(unsigned qp, const csr::TblQpCtx& c) {
    qps[c.dqpn].cack = c.sq_psn;
    qps[c.dqpn].msn = c.msn;
    index[c.dqpn] = static_cast<uint16_t>(qp);
  }
  void frame(unsigned plane, const Bytes& f) {
    const wire::Packet p = wire::decode(f);
    if (p.error) errors.push_back(p.error->message());
    if (!p.bth || !p.reth || p.error) return;
    ++per_plane[plane];
    rtx += p.bth->rtx;
    const int fate = filter ? filter(plane, p) : 0;
    Qp& q = qps[p.bth->dqp];
    Ctl c{.qp = index[p.bth->dqp], .psn = p.bth->psn, .entropy = p.entropy()};
    if (fate == 1) return;
    if (fate == 2) {
      c.kind = CtlKind::Nack;
      c.reason = 1;
      top.ctls.push_back(c);
      return;
    }
    for (std::size_t i = 0; i < p.payload.size(); ++i) placed[p.reth->va + i] = p.payload[i];
    const auto op = static_cast<uint8_t>(p.bth->opcode);
    const bool last = op != 0xC6 && op != 0xC7;
    if (!psn_before(p.bth->psn, q.cack)) {
      q.above.insert(p.bth->psn);
      q.last[p.bth->psn] = last;
    }
    bool done = false;
    uint32_t done_psn = 0;
    for (auto it = q.above.find(q.cack); it != q.above.end(); it = q.above.find(q.cack)) {
      if (q.last[q.cack]) {
        done = true;
        done_psn = q.cack;
        ++q.msn;
      }
      q.above.erase(it);
      q.last.erase(q.cack);
      q.cack = psn_add(q.cack, 1);
    }
    c.kind = CtlKind::Sack;
    c.cack = psn_add(q.cack, -1);
    c.base = q.cack;
    for (const uint32_t a : q.above) {
      if (psn_dist(a, c.base) < 64) c.bitmap |= uint64_t{1} << psn_dist(a, c.base);
    }
    c.ooo = static_cast<uint16_t>(q.above.size());
    c.m = fate == 3 ? 1 : 0;
    top.ctls.push_back(c);
    if (done || psn_before(p.bth->psn, psn_add(q.cack, -1))) {
      Ctl a;
      a.kind = CtlKind::Ack;
      a.qp = c.qp;
      a.psn = done ? done_psn : psn_add(q.cack, -1);
      a.msn = q.msn;
      a.reason = 0x1f;
      if (done || q.above.empty()) top.ctls.push_back(a);
    }
  }

  TxTop& top;
  std::map<uint32_t, Qp> qps;
  std::map<uint32_t, uint16_t> index;
  std::map<uint64_t, uint8_t> placed;
  std::array<unsigned, 8> per_plane{};
  unsigned rtx = 0;
  std::vector<std::string> errors;
  std::function<int(unsigned, const wire::Packet&)> filter;
};

unsigned below(std::mt19937& rng, unsigned n) { return static_cast<unsigned>(rng() % n); }

struct World {
  explicit World(const char* preset, unsigned qps = 2, bool srv6 = false, unsigned mtu = 2, unsigned timeout = 7)
      : top(*find_preset(preset)), peer(top) {
    top.write_evs(0);
    for (unsigned q = 0; q < qps; ++q) {
      csr::TblQpCtx c = TxTop::default_ctx(q);
      c.encap = srv6;
      c.mtu = static_cast<uint8_t>(mtu);
      c.timeout = static_cast<uint8_t>(timeout);
      c.ts = q & 1u;
      c.srv6 = static_cast<U128>(0xfcbb000001000200) << 64;
      top.write_ctx(q, c);
      peer.open(q, c);
    }
  }
  void post(unsigned qp, uint64_t laddr, uint64_t raddr, uint32_t length, bool imm = false) {
    top.wqes.push_back({.qp = static_cast<QpIndex>(qp),
                        .imm_valid = imm,
                        .wr_id = posted++,
                        .laddr = laddr,
                        .raddr = raddr,
                        .rkey = 5,
                        .length = length,
                        .imm = 9});
  }
  bool finish(unsigned limit) {
    return top.run_until([&] { return top.cqes.size() == posted; }, limit);
  }
  bool right(uint64_t laddr, uint64_t raddr, uint32_t length) const {
    for (uint32_t i = 0; i < length; ++i) {
      const auto it = peer.placed.find(raddr + i);
      if (it == peer.placed.end() || it->second != host_byte(laddr + i)) return false;
    }
    return true;
  }
  TxTop top;
  Peer peer;
  uint32_t posted = 0;
};

}  // namespace

TEST_CASE("one byte leaves as one good frame within 64 cycles", "[pipeline][tx]") {
  World w("asic800");
  w.top.host_latency = 1;
  w.post(0, 0x1001, 0x5000, 1);
  const uint64_t start = w.top.now;
  REQUIRE(w.top.run_until([&] { return w.top.beats != 0; }, 100));
  CHECK(w.top.now - start <= 64);
  REQUIRE(w.finish(2000));
  CHECK(w.peer.errors.empty());
  CHECK(w.right(0x1001, 0x5000, 1));
  CHECK(w.top.tx_inc == 1);
  // The packet: 14 + 40 + 8 + 12 + 20 + 1 + 3 + 4 bytes.
  unsigned frames = 0;
  for (const auto& plane : w.top.frames) {
    for (const Bytes& f : plane) {
      ++frames;
      CHECK(f.size() == 102);
    }
  }
  CHECK(frames == 1);
}

TEST_CASE("messages of all lengths and alignments arrive as they are in host memory", "[pipeline][tx]") {
  for (const char* preset : {"tiny", "fpga100", "asic800"}) {
    for (const bool srv6 : {false, true}) {
      World w(preset, 4, srv6, srv6 ? 4 : 2);
      std::mt19937 rng(7);
      struct Job {
        uint64_t laddr, raddr;
        uint32_t length;
      };
      std::vector<Job> jobs;
      for (unsigned i = 0; i < 60; ++i) {
        jobs.push_back({rng() % 100000, 0x100000ull * (i + 1), i < 40 ? 1 + i : 1 + below(rng, 5000) + 4096 * (i % 2)});
        w.post(i % 4, jobs.back().laddr, jobs.back().raddr, jobs.back().length, i % 3 == 0);
      }
      INFO(preset << " srv6 " << srv6);
      REQUIRE(w.finish(200000));
      CHECK(w.peer.errors.empty());
      for (const Job& j : jobs) CHECK(w.right(j.laddr, j.raddr, j.length));
      for (const Cqe& c : w.top.cqes) CHECK(c.status == CqStatus::Ok);
      CHECK(w.peer.rtx == 0);
      CHECK(w.top.tx_inc == w.top.frame_count);
    }
  }
}

TEST_CASE("ports that pause and a host that pauses change no byte", "[pipeline][tx]") {
  World w("tiny", 4);
  std::mt19937 rng(11);
  for (unsigned i = 0; i < 30; ++i) w.post(i % 4, 77 * i, 0x100000ull * (i + 1), 1 + below(rng, 4000));
  for (unsigned i = 0; i < 400000 && w.top.cqes.size() != w.posted; ++i) {
    w.top.tready = rng() & 3;
    w.top.host_ready = rng() % 3 == 0;
    w.top.cycle();
  }
  CHECK(w.top.cqes.size() == w.posted);
  CHECK(w.peer.errors.empty());
  rng.seed(11);
  for (unsigned i = 0; i < 30; ++i) CHECK(w.right(77 * i, 0x100000ull * (i + 1), 1 + below(rng, 4000)));
}

TEST_CASE("lost, trimmed and marked packets: everything arrives, everything completes", "[pipeline][tx]") {
  World w("tiny", 4, false, 2, 2);
  std::mt19937 rng(3);
  unsigned lost = 0, trimmed = 0, marked = 0;
  w.peer.filter = [&](unsigned, const wire::Packet&) {
    const unsigned r = below(rng, 100);
    if (r < 5) return ++lost, 1;
    if (r < 10) return ++trimmed, 2;
    if (r < 20) return ++marked, 3;
    return 0;
  };
  for (unsigned i = 0; i < 60; ++i) w.post(i % 4, 1000 * i, 0x100000ull * (i + 1), 8000);
  REQUIRE(w.finish(3000000));
  CHECK(w.peer.errors.empty());
  for (unsigned i = 0; i < 60; ++i) CHECK(w.right(1000 * i, 0x100000ull * (i + 1), 8000));
  CHECK(lost > 10);
  CHECK(w.peer.rtx >= lost + trimmed);
  CHECK(w.top.rtxs >= w.peer.rtx);
  CHECK(w.top.skips > 0);
  for (uint32_t i = 0; i < w.posted; ++i) CHECK(w.top.cqes[i].status == CqStatus::Ok);
}

TEST_CASE("with every fourth packet lost everything still completes", "[pipeline][tx]") {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    World w("tiny", 4, false, 0, 2);
    std::mt19937 rng(seed);
    w.peer.filter = [&](unsigned, const wire::Packet&) { return below(rng, 4) == 0 ? 1 : 0; };
    w.top.csr.reorder = 4;
    for (unsigned i = 0; i < 40; ++i) w.post(i % 4, 1000 * i, 0x100000ull * (i + 1), 10000);
    INFO("seed " << seed);
    REQUIRE(w.finish(3000000));
    for (unsigned i = 0; i < 40; ++i) CHECK(w.right(1000 * i, 0x100000ull * (i + 1), 10000));
  }
}

TEST_CASE("planes carry equal shares and are full with long writes", "[pipeline][tx]") {
  World w("asic800", 8, true);
  w.top.capture = true;
  w.top.host_latency = 200;
  for (unsigned q = 0; q < 8; ++q) {
    csr::TblQpCtx c = TxTop::default_ctx(q);
    c.mtu = 4;
    c.mpr = 8;
    c.encap = 1;
    w.top.write_ctx(q, c);
    w.peer.open(q, c);
  }
  for (unsigned i = 0; i < 64; ++i) w.post(i % 8, 4096 * i, 0x100000ull * (i + 1), 64 * 1024);
  w.top.run(4000);
  const uint64_t before = w.top.beats;
  w.top.run(8000);
  // 4096 bytes behind SRv6: 4234 or 4238 bytes, 265 beats; one cycle between frames.
  CHECK(w.top.beats - before >= 8000 * 8 * 264 / 266);
  unsigned low = ~0u, high = 0;
  for (const unsigned n : w.peer.per_plane) {
    low = std::min(low, n);
    high = std::max(high, n);
  }
  CHECK(high - low <= 1);
}

TEST_CASE("the order in which blocks step within a cycle makes no difference", "[pipeline][tx]") {
  World a("tiny", 4, false, 2, 1), b("tiny", 4, false, 2, 1);
  b.top.reverse = true;
  std::mt19937 ra(5), rb(5), rng(6);
  const auto filter = [](std::mt19937& r) {
    return [&r](unsigned, const wire::Packet&) {
      return static_cast<int>(r() % 12) < 9 ? 0 : static_cast<int>(r() % 3) + 1;
    };
  };
  a.peer.filter = filter(ra);
  b.peer.filter = filter(rb);
  a.top.csr.probe_interval = b.top.csr.probe_interval = 20;
  for (unsigned i = 0; i < 40; ++i) {
    const uint32_t length = 1 + below(rng, 6000);
    a.post(i % 4, 100 * i, 0x100000ull * i, length);
    b.post(i % 4, 100 * i, 0x100000ull * i, length);
  }
  const auto same = [](const auto& x, const auto& y) {
    return x.valid() == y.valid() && x.ready() == y.ready() && (!x.valid() || x.data() == y.data());
  };
  for (unsigned i = 0; i < 60000; ++i) {
    a.top.cycle();
    b.top.cycle();
    REQUIRE(same(a.top.pkt, b.top.pkt));
    REQUIRE(same(a.top.push, b.top.push));
    REQUIRE(a.top.cqe.valid() == b.top.cqe.valid());
    if (a.top.cqe.valid()) REQUIRE(a.top.cqe.head() == b.top.cqe.head());
    REQUIRE(same(a.top.path_out, b.top.path_out));
    REQUIRE(same(a.top.rec, b.top.rec));
    REQUIRE(same(a.top.retx, b.top.retx));
    REQUIRE(same(a.top.upd, b.top.upd));
    REQUIRE(same(a.top.fb, b.top.fb));
    REQUIRE(same(a.top.pfb, b.top.pfb));
    REQUIRE(same(a.top.evev, b.top.evev));
    REQUIRE(same(a.top.bad, b.top.bad));
    REQUIRE(same(a.top.probe, b.top.probe));
    for (unsigned p = 0; p < 2; ++p) REQUIRE(a.top.lanes[p]->tvalid() == b.top.lanes[p]->tvalid());
  }
  CHECK(a.top.cqes.size() == 40);
  CHECK(a.top.probes_sent != 0);
  CHECK(a.top.frames == b.top.frames);
}

TEST_CASE("speed of the transmit side under full load", "[.speed]") {
  World w("asic800", 8, true);
  w.top.capture = false;
  w.top.on_frame = nullptr;
  for (unsigned q = 0; q < 8; ++q) {
    csr::TblQpCtx c = TxTop::default_ctx(q);
    c.mtu = 4;
    c.mpr = 8;
    c.encap = 1;
    w.top.write_ctx(q, c);
  }
  for (unsigned q = 0; q < 8; ++q) w.post(q, 0, 0, 1u << 31);
  unsigned moved = 0;
  BENCHMARK("100000 cycles, 8 planes busy") {
    // The window moves by hand: everything up to 64 packets behind is acknowledged.
    for (unsigned i = 0; i < 100000; ++i) {
      if (w.top.rec.has() && (++moved & 15u) == 0) {
        Ctl c;
        c.kind = CtlKind::Sack;
        c.qp = w.top.rec.head().qp;
        c.psn = c.cack = w.top.rec.head().psn;
        c.cack = psn_add(c.cack, -64);
        c.base = c.cack;
        if (psn_dist(c.cack, TxTop::default_ctx(c.qp).sq_psn) < kPsnHalf) w.top.ctls.push_back(c);
      }
      w.top.cycle();
    }
    return w.top.frame_count;
  };
  CHECK(w.top.beats > w.top.now * 7);  // the load was full
}

}  // namespace mrc::test::tx_chain_test
