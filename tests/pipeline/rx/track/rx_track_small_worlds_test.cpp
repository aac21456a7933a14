// SPDX-License-Identifier: Apache-2.0
/// Small worlds: every order in which a handful of packets can arrive, to the reference, to the rules of
/// cmodel/protocol, to rx_track. The reference knows a set of PSNs; the other two know rows and masks.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <vector>

#include "reference/responder.hpp"
#include "tests/pipeline/rx/track/rx_track_bench.hpp"

namespace mrc::test::rx_track_small_worlds_test {
namespace {

/// A packet of the world: where its PSN lies from the first one on, and how it comes.
struct Letter {
  int psn;
  bool trimmed, last, request, ce;
};
/// PSNs at the edges of rows of 64, of the window of 128, and beyond both.
constexpr std::array kLetters = {
    Letter{0, false, false, false, false},  Letter{0, true, false, false, false},
    Letter{1, false, true, false, false},   Letter{1, true, false, true, false},
    Letter{2, false, true, true, false},    Letter{4, false, false, false, true},
    Letter{63, false, true, false, false},  Letter{64, false, false, false, false},
    Letter{127, false, true, false, true},  Letter{128, false, false, true, false},
    Letter{-1, false, false, false, false}, Letter{4, true, false, false, true},
};
constexpr uint32_t kPayload = 1000;

ref::Arrival arrival(const Letter& l, ref::Seq first) {
  ref::Arrival a;
  a.what = l.trimmed ? ref::Arrival::What::Trimmed : ref::Arrival::What::Data;
  a.psn = first + l.psn;
  a.request = l.request;
  a.ce = l.ce;
  a.last = l.last;
  a.payload = kPayload;
  a.udp = kPayload + 60;
  return a;
}

/// The responder's window by the rules of cmodel/protocol alone, as rx_track's page strings them together.
struct Rows {
  RxWindow w;
  std::map<uint32_t, RxRow> rows;  // by psn / 64
  SackDue due;
  unsigned messages = 0;

  explicit Rows(uint32_t first) { w.cack = w.max = psn_add(first, -1); }
  RxRow& row(uint32_t psn) { return rows[psn >> 6]; }

  PsnClass take(uint32_t psn, const Letter& l) {
    const PsnClass c = psn_class(psn, w.cack, 1, 1, row(psn));
    if (c != PsnClass::New || l.trimmed) return c;
    RowAdvance advance = row_take(w, row(psn), psn, l.last);
    messages += advance.messages;
    while (advance.goes_on) {
      const uint32_t next = psn_add(w.cack, 1);
      advance = row_go_on(w, row(next), next);
      messages += advance.messages;
    }
    return c;
  }
};

ref::Fate fate_of(PsnClass c, bool trimmed) {
  switch (c) {
    case PsnClass::New:
      return trimmed ? ref::Fate::Trimmed : ref::Fate::New;
    case PsnClass::DupBelow:
      return trimmed ? ref::Fate::TrimmedHad : ref::Fate::Below;
    case PsnClass::DupAbove:
      return trimmed ? ref::Fate::TrimmedHad : ref::Fate::Above;
    default:
      return ref::Fate::Outside;
  }
}

/// Every order of up to `depth` letters, depth first; both are values.
struct Walk {
  uint32_t base;
  uint64_t orders = 0;

  void go(const ref::Responder& reference, const Rows& rows, unsigned depth) {
    for (const Letter& l : kLetters) {
      ref::Responder r = reference;
      Rows p = rows;
      const uint32_t psn = psn_add(base, l.psn);
      const ref::Fate want = r.take(arrival(l, ref::Seq{1} << 24 | base));
      const ref::Fate got = fate_of(p.take(psn, l), l.trimmed);
      ++orders;
      bool same = want == got && static_cast<uint32_t>(r.cack() & kPsnMask) == p.w.cack && r.above() == p.w.ooo &&
                  static_cast<uint32_t>(r.highest() & kPsnMask) == p.w.max && r.completed() == p.messages;
      // The bitmap from cack + 1 on, and from the next row on.
      for (const uint32_t from : {1u, 64u}) {
        const uint32_t first = psn_add(p.w.cack, from);
        const uint64_t bits = sack_bitmap(p.row(first).rcv, p.row(psn_add(first, 64)).rcv, first, p.w.max);
        same = same && bits == r.sack(r.cack() + from).bitmap;
      }
      if (!same) {
        UNSCOPED_INFO("offset " << l.psn << (l.trimmed ? " trimmed" : "") << ", order " << orders << ": reference "
                                << ref::name_of(want) << ", cack " << (r.cack() & kPsnMask) << ", above " << r.above()
                                << ", messages " << r.completed() << "; rules " << ref::name_of(got) << ", cack "
                                << p.w.cack << ", above " << p.w.ooo << ", messages " << p.messages);
        FAIL("the reference and the rules disagree");
      }
      if (depth > 1) go(r, p, depth - 1);
    }
  }
};

}  // namespace

TEST_CASE("every order of five arrivals: the reference and the rules agree", "[reference][small-worlds]") {
  // Where rows begin, in the middle of one, and where PSNs wrap.
  for (const uint32_t base : {0x40u, 0x7fu, 0xffffffu}) {
    Walk walk{.base = base};
    walk.go(ref::Responder(ref::Seq{1} << 24 | base, 0, 128), Rows(base), 5);
    CHECK(walk.orders == 12 + 144 + 1728 + 20736 + 248832);
  }
}

TEST_CASE("every order of three arrivals: the reference and rx_track agree", "[reference][small-worlds]") {
  test::rx_track::Track track;
  constexpr uint32_t kFirst = 0xffffffu;
  constexpr std::size_t kN = kLetters.size();
  for (std::size_t world = 0; world < kN * kN * kN; ++world) {
    csr::TblQpState reset{.state = QpState::Reset};
    track.configure(CfgTable::QpState, 1, reset);
    track.configure(1, kFirst);
    ref::Responder r(ref::Seq{1} << 24 | kFirst, 0x20, 128);
    const std::array order = {world % kN, world / kN % kN, world / kN / kN};
    for (const std::size_t n : order) {
      const Letter& l = kLetters[n];
      Rxpkt p = test::rx_track::Track::packet(psn_add(kFirst, l.psn), kPayload);
      p.last = l.last;
      p.ackreq = l.request;
      p.ce = l.ce;
      if (l.trimmed) {
        p.trim = Trim::Trimmed;
        p.buf_valid = false;
        p.plen = 0;
      }
      const ref::Arrival a = arrival(l, ref::Seq{1} << 24 | kFirst);
      const ref::Fate fate = r.take(a);
      const unsigned demands = r.demands(a, fate);
      track.send(p);
      INFO("world " << world << ", offset " << l.psn << ": " << ref::name_of(fate));
      const bool placed =
          std::any_of(track.verdicts.begin(), track.verdicts.end(), [](const Verdict& v) { return v.place; });
      REQUIRE(placed == (fate == ref::Fate::New));
      const auto came = [&](CtlKind kind, auto&& fits) {
        return std::any_of(track.resps.begin(), track.resps.end(),
                           [&](const Resp& x) { return x.kind == kind && fits(x); });
      };
      const auto any = [](const Resp&) { return true; };
      REQUIRE(came(CtlKind::Nack, [](const Resp& x) {
                return x.reason == static_cast<uint8_t>(wire::NackReason::Trimmed);
              }) == ((demands & ref::kNackTrimmed) != 0));
      REQUIRE(came(CtlKind::Nack, [](const Resp& x) {
                return x.reason == static_cast<uint8_t>(wire::NackReason::PsnOorWindow);
              }) == ((demands & ref::kNackOor) != 0));
      if ((demands & ref::kSack) != 0) REQUIRE(came(CtlKind::Sack, any));
      if (fate == ref::Fate::New && r.completed() > 0x20 && (demands & ref::kAck) != 0)
        REQUIRE_FALSE(track.acks.empty());
      for (const Resp& x : track.resps) {
        if (x.kind != CtlKind::Sack) continue;
        const ref::Seq base = ref::unwrap(x.base, r.cack());
        REQUIRE(r.permits({ref::unwrap(x.cack, r.cack()), x.ooo, base, x.bitmap}));
        REQUIRE(x.bitmap == (base > r.highest() ? 0 : r.sack(base).bitmap));
        REQUIRE(x.rcvd == ((kPayload * static_cast<uint64_t>(r.count()) + 255) >> 8));
      }
      for (const Ackev& x : track.acks) REQUIRE(x.msn == (r.completed() & 0xffff));
    }
  }
}

}  // namespace mrc::test::rx_track_small_worlds_test
