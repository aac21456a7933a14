// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <map>
#include <random>
#include <utility>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_random_test {

using namespace mrc::inflight_test;

namespace {

/// The blocks around tx_inflight as far as it can tell: a sender that keeps window and count of blocks as tx_segment
/// does, a peer that acknowledges and refuses, controllers that refuse, software that ends and renews QPs.
struct Traffic : Bench {
  struct Side {
    bool live = false, dead = false, cc = false;         // dead: not live, as far as this side knows
    uint32_t psn = 0, una = 0, notified = 0, known = 0;  // next; acknowledged; as told by upd; recorded for sure
    bool fresh = true;
    uint16_t msn = 0;
    unsigned idx = 0;
    std::map<uint32_t, Rec> sent;      // by PSN
    std::map<uint32_t, bool> waits;    // NACKed PSNs that must be ordered
    std::map<uint32_t, bool> on_way;   // ordered, not yet recorded again
    std::map<uint32_t, uint16_t> was;  // EV of a packet before it was sent again
  };
  std::array<Side, 4> side;
  std::mt19937 rng;
  int credit = 20;
  int64_t flight[4] = {};  // by QP: the controller's view
  unsigned life = 0, sent_packets = 0, nacks = 0, orders = 0, ends = 0, lives = 0;
  bool exact;          // only NACKs order retransmissions
  bool ports = false;  // that fall and rise, and peers who tell
  bool times = false;  // SACKs return time stamps, nothing is trimmed, a tick has eight cycles
  std::size_t retx_seen = 0, upd_seen = 0, ccev_seen = 0, granted_seen = 0;
  std::deque<Rec> again;   // packets to be sent again
  std::deque<Rec> loaded;  // may still be on their way into the block
  unsigned freed_seen = 0;

  Traffic(unsigned seed, bool only_nacks) : Bench(false), rng(seed), exact(only_nacks) {
    csr.reorder = exact ? 1000 : 8;
    csr.same_ev = !exact;
    ctx.timeout = exact ? 24 : 0;
    for (uint16_t q = 0; q < 4; ++q) renew(q);
  }
  uint32_t draw(uint32_t n) { return static_cast<uint32_t>(rng() % n); }
  bool chance(uint32_t n) { return draw(n) == 0; }

  void prepare(uint16_t q) {
    Side& s = side[q];
    s = Side{};
    s.cc = ctx.cc = q != 0;
    s.psn = s.una = s.notified = s.known = ctx.sq_psn = rng() & kPsnMask;
    s.msn = ctx.msn = static_cast<uint16_t>(rng());
    ++lives;
  }
  /// QP_CTX with everything else quiet.
  void renew(uint16_t q) {
    prepare(q);
    configure(q);
    side[q].live = true;
  }

  bool may_send(const Side& s) const {
    const bool begins = s.psn % 16 == 0 || s.fresh;
    return s.live && psn_dist(s.psn, s.notified) < 128 && block_dist(psn_block(s.psn), psn_block(s.notified)) < 8 &&
           (!begins || credit > 4 || (credit != 0 && psn_dist(s.psn, s.notified) < 16));
  }
  void send(uint16_t q) {
    Side& s = side[q];
    Rec r{.qp = q,
          .psn = s.psn,
          .msn = s.msn,
          .row = static_cast<uint16_t>(draw(24)),
          .idx = s.idx++,
          .ev_idx = static_cast<uint16_t>(draw(16)),
          .rtx = false,
          .last = chance(5),
          .size = static_cast<uint16_t>(100 + draw(4000)),
          .voided = false};
    if (s.psn % 16 == 0 || s.fresh) --credit;
    REQUIRE(credit >= 0);
    s.fresh = false;
    load(r);
    s.sent[s.psn] = r;
    s.psn = psn_add(s.psn, 1);
    if (r.last) {
      ++s.msn;
      s.idx = 0;
    }
    if (s.cc) flight[q] += r.size;
    ++sent_packets;
  }
  void send_again() {
    Rec r = again.front();
    again.pop_front();
    Side& s = side[r.qp];
    r.rtx = true;
    r.voided = chance(8);
    if (!r.voided) {
      r.ev_idx = static_cast<uint16_t>(draw(16));
      s.was[r.psn] = std::exchange(s.sent[r.psn].ev_idx, r.ev_idx);
    }
    load(r);
  }
  void load(const Rec& r) {
    rec.load(r);
    loaded.push_back(r);
    if (loaded.size() > 3) taken();  // the stream holds no more
  }
  /// The oldest packet loaded has been taken by the block.
  void taken() {
    const Rec r = loaded.front();
    loaded.pop_front();
    Side& s = side[r.qp];
    if (!s.live) return;
    if (r.rtx) {
      s.on_way.erase(r.psn);
    } else {
      s.known = psn_add(r.psn, 1);
    }
  }
  /// Something for QP q, of what is surely recorded.
  void news(uint16_t q) {
    Side& s = side[q];
    const uint32_t out = psn_dist(s.known, s.una);
    if (!s.live || out == 0) return;
    const uint32_t psn = psn_add(s.una, draw(out));
    if (chance(4)) {
      Ctl c;
      c.kind = CtlKind::Sack;
      c.qp = q;
      c.psn = psn;
      const uint32_t up = draw(std::min(out + 1, 24u));
      s.una = psn_add(s.una, up);
      for (auto it = s.waits.begin(); it != s.waits.end();) {
        it = psn_before(it->first, s.una) ? s.waits.erase(it) : std::next(it);
      }
      c.cack = psn_add(s.una, -1);
      c.base = psn_add(s.una, draw(3));
      if (!exact) {
        c.bitmap = rng() | uint64_t{rng()} << 32;
        c.ooo = static_cast<uint16_t>(draw(20));
      }
      c.rcvd = rng() & 0xffffff;
      if (times) c.ts = static_cast<uint16_t>(tick() - 4 - draw(40));
      ctl.load(c);
      return;
    }
    if (s.waits.count(psn) || s.on_way.count(psn)) return;
    s.waits[psn] = true;
    ++nacks;
    ctl.load(Ctl{.kind = CtlKind::Nack, .qp = q, .psn = psn, .reason = times ? uint8_t{7} : uint8_t{2}});
  }
  void look() {
    for (; retx_seen < retx.size(); ++retx_seen) {
      const Retx& o = retx[retx_seen];
      Side& s = side[o.qp];
      if (!s.live) continue;  // ordered before it ended
      ++orders;
      REQUIRE(s.sent.count(o.psn));
      Rec sent = s.sent[o.psn];
      // Ordered once more while the copy sent before is not recorded yet.
      if (!exact && s.on_way.count(o.psn) && o.avoid_ev != sent.ev_idx) sent.ev_idx = s.was.at(o.psn);
      Retx order = o;
      CHECK((!order.two || order.lost));
      order.lost = order.two = false;
      REQUIRE(order == order_of(sent));
      if (exact && !psn_before(o.psn, s.una)) REQUIRE(s.waits.erase(o.psn) == 1);
      s.on_way[o.psn] = true;
      again.push_back(s.sent[o.psn]);
    }
    for (; upd_seen < upd.size(); ++upd_seen) {
      const Upd& u = upd[upd_seen];
      Side& s = side[u.qp];
      if (s.live && psn_dist(u.una, s.notified) <= psn_dist(s.psn, s.notified)) s.notified = u.una;
    }
    for (; granted_seen < granted.size(); ++granted_seen)
      flight[3 - granted[granted_seen].cc] += granted[granted_seen].bytes;
    for (; ccev_seen < ccev.size(); ++ccev_seen) {
      const unsigned q = 3u - ccev[ccev_seen].cc;
      flight[q] -= ccev[ccev_seen].bytes;
      REQUIRE(flight[q] >= 0);
    }
    if (freed == freed_seen) return;
    credit += static_cast<int>(freed - freed_seen);
    freed_seen = freed;
    REQUIRE(credit <= 20);
  }
  void one_cycle() {
    refuse = chance(3) ? rng() & 15 : refuse;
    take_retx = !chance(4);
    if (ports && chance(300)) port_up = draw(4);
    if (times && chance(8)) ++tick0;
    take_ccev = !chance(6);
    take_upd = !chance(6);
    if (rec.free()) {
      const auto q = static_cast<uint16_t>(draw(4));
      if (!again.empty() && chance(3)) {
        send_again();
      } else if (may_send(side[q])) {
        send(q);
      }
    }
    if (ctl.free() && chance(5)) news(static_cast<uint16_t>(draw(4)));
    cycle();
    look();
  }
  /// Ends QP q while the others go on, and begins it anew when nothing of it is on its way.
  void end(uint16_t q) {
    side[q].live = false;
    ++ends;
    if (chance(2)) {
      cfg.table = static_cast<uint8_t>(CfgTable::QpState);
      cfg.index = q;
      cfg.data[0] = static_cast<uint32_t>(QpState::Error);
      cfg.req = true;
      while (!inflight.cfg_ack()) one_cycle();
      cfg.req = false;
    }
    for (unsigned i = 0; i < 60; ++i) one_cycle();
    take_retx = take_ccev = take_upd = true;
    while (std::any_of(again.begin(), again.end(), [&](const Rec& r) { return r.qp == q; }) || rec.valid() ||
           rec.has()) {
      const bool others = chance(50);
      if (rec.free() && !again.empty()) send_again();
      if (others && ctl.free()) news(static_cast<uint16_t>(draw(4)));
      cycle();
      look();
    }
    while (!loaded.empty()) taken();
    const bool cc = side[q].cc;
    prepare(q);
    side[q].cc = cc;
    ctx.cc = cc;
    request(q);
    while (!inflight.cfg_ack()) one_cycle();
    cfg.req = false;
    one_cycle();
    for (unsigned i = 0; i < 40; ++i) one_cycle();
    CHECK(flight[q] == 0);
    side[q].live = true;
  }
  void finish() {
    take_retx = take_ccev = take_upd = true;
    refuse = 0;
    for (unsigned i = 0; i < 4000; ++i) {
      if (rec.free() && !again.empty()) send_again();
      cycle();
      look();
    }
    if (exact) {
      for (const Side& s : side) CHECK(s.waits.empty());
    }
    for (uint16_t q = 0; q < 4; ++q) set_state(q, QpState::Reset);
    run(100);
    look();
    CHECK(credit == 20);
    for (const int64_t f : flight) CHECK(f == 0);
  }
};

}  // namespace

TEST_CASE("tx_inflight: in random traffic each NACK is one order, each record its packet's, and no block is lost",
          "[pipeline][tx_inflight][random]") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    Traffic t(seed, true);
    for (unsigned round = 0; round < 30; ++round) {
      for (unsigned i = 0; i < 400; ++i) t.one_cycle();
      t.end(static_cast<uint16_t>(t.draw(4)));
    }
    t.finish();
    CHECK(t.sent_packets > 3000);
    CHECK(t.orders > 300);
  }
}

TEST_CASE("tx_inflight: the same with ports that fall and rise", "[pipeline][tx_inflight][random][port-loss][A-82]") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    Traffic t(seed, false);
    t.ports = true;
    for (unsigned round = 0; round < 30; ++round) {
      for (unsigned i = 0; i < 400; ++i) t.one_cycle();
      t.end(static_cast<uint16_t>(t.draw(4)));
    }
    t.port_up = 3;
    t.finish();
    CHECK(t.orders > 500);
    CHECK(t.state_inc > 20);
  }
}

TEST_CASE("tx_inflight: the same with losses that time tells", "[pipeline][tx_inflight][random][time-loss][A-83]") {
  for (const bool wait : {false, true}) {
    auto blamed = std::ptrdiff_t{0};
    for (unsigned seed = 1; seed <= 4; ++seed) {
      CAPTURE(seed);
      Traffic t(seed, false);
      t.times = t.ctx.ts = true;
      t.ctx.timeout = 24;
      t.csr.time_wait = wait;
      t.csr.reorder = 1000;
      t.csr.same_ev = false;
      for (uint16_t q = 0; q < 4; ++q) t.end(q);
      t.fb.clear();
      for (unsigned round = 0; round < 30; ++round) {
        for (unsigned i = 0; i < 800; ++i) t.one_cycle();
        t.end(static_cast<uint16_t>(t.draw(4)));
      }
      t.finish();
      blamed += std::count_if(t.fb.begin(), t.fb.end(), [](const Fb& f) { return f.kind == FbKind::Loss; });
    }
    // Neither NACKs nor a timer of minutes blame an EV.
    if (wait) {
      CHECK(blamed == 0);
    } else {
      CHECK(blamed > 100);
    }
  }
}

TEST_CASE("tx_inflight: the same with gaps, the same-EV rule and a quick timer", "[pipeline][tx_inflight][random]") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    Traffic t(seed, false);
    for (unsigned round = 0; round < 30; ++round) {
      for (unsigned i = 0; i < 400; ++i) t.one_cycle();
      t.end(static_cast<uint16_t>(t.draw(4)));
    }
    t.finish();
    CHECK(t.sent_packets > 3000);
    CHECK(t.orders > 500);
    CHECK(t.rto_inc > 10);
  }
}

}  // namespace mrc::test::tx_inflight_random_test
