// SPDX-License-Identifier: Apache-2.0
#include "reference/responder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <vector>

namespace mrc::test::responder_test {

using namespace mrc::ref;
using What = Arrival::What;

namespace {

Arrival data(Seq psn, bool last = false) {
  Arrival a;
  a.psn = psn;
  a.last = last;
  a.payload = 4096;
  a.udp = 4096 + 44;
  return a;
}
Arrival trim(Seq psn) {
  Arrival a;
  a.what = What::Trimmed;
  a.psn = psn;
  return a;
}
Arrival probe(uint16_t id) {
  Arrival a;
  a.what = What::Probe;
  a.probe = id;
  return a;
}

}  // namespace

TEST_CASE("cack goes over what is contiguous, the rest is counted", "[reference.responder]") {
  Responder r(100, 7, 1024);
  CHECK(r.cack() == 99);
  CHECK(r.take(data(100)) == Fate::New);
  CHECK(r.take(data(102)) == Fate::New);
  CHECK(r.take(data(103, true)) == Fate::New);
  CHECK(r.cack() == 100);
  CHECK(r.above() == 2);
  CHECK(r.above(102) == 1);
  CHECK(r.above(99) == 3);
  CHECK(r.highest() == 103);
  CHECK(r.completed() == 7);
  CHECK(r.take(data(103, true)) == Fate::Above);
  CHECK(r.take(data(99)) == Fate::Below);
  CHECK(r.take(data(101)) == Fate::New);
  CHECK(r.cack() == 103);
  CHECK(r.above() == 0);
  CHECK(r.completed() == 8);
  CHECK(r.end_of(7) == 103);
  CHECK(r.bytes(0) == 4 * (4140 + 40));
  CHECK(r.bytes(1) == 4 * 4096);
  CHECK(r.bytes(2) == 4 * 4136);
}

TEST_CASE("the window ends MPR above cack, the one of now may be smaller", "[reference.responder]") {
  Responder r(0, 0, 256);
  CHECK(r.fate(data(255)) == Fate::New);
  CHECK(r.fate(data(256)) == Fate::Outside);
  CHECK(r.demands(data(256), Fate::Outside) == kNackOor);
  r.narrow(128);
  CHECK(r.fate(data(127)) == Fate::New);
  CHECK(r.fate(data(128)) == Fate::Beyond);
  CHECK(r.demands(data(128), Fate::Beyond) == kNackNoBitmap);
  CHECK(r.fate(data(256)) == Fate::Outside);
  ResponderRules silent;
  silent.oor_drop = true;
  CHECK(Responder(0, 0, 128, silent).demands(data(128), Fate::Outside) == 0);
}

TEST_CASE("what a packet demands", "[reference.responder]") {
  Responder r(0, 0, 1024);
  Arrival a = data(0, true);
  CHECK(r.demands(a, r.take(a)) == kAck);
  a = data(1);
  a.request = true;
  CHECK(r.demands(a, r.take(a)) == kSack);
  a = data(2);
  a.ce = true;
  CHECK(r.demands(a, r.take(a)) == kSack);
  CHECK(r.owed() == 3 * 4096);
  a = data(3);
  CHECK(r.demands(a, r.take(a)) == kSack);  // 16384 bytes
  r.sacked();
  a = data(4);
  a.payload = 1;
  CHECK(r.demands(a, r.take(a)) == 0);
  CHECK(r.owed() == 1024);
  CHECK(r.demands(data(0), r.take(data(0))) == (kSack | kAck));
  CHECK(r.demands(probe(9), r.take(probe(9))) == (kSackProbe | kAck));
  CHECK(r.demands(trim(5), r.take(trim(5))) == (kNackTrimmed | kSackUnrequested));
  CHECK(r.take(trim(4)) == Fate::TrimmedHad);
  CHECK(r.cack() == 4);
  r.fail();
  CHECK(r.take(data(5)) == Fate::Dead);
  CHECK(r.demands(data(5), Fate::Dead) == kNackUnexp);
  CHECK(r.enabled() == kNackUnexp);
}

TEST_CASE("a packet at fault counts as lost until it is the next one", "[reference.responder]") {
  Responder r(0, 0, 1024);
  Arrival bad = data(1, true);
  bad.fault = Fault::Access;
  CHECK(r.demands(bad, r.take(bad)) == 0);
  CHECK(r.take(data(2, true)) == Fate::New);
  CHECK(r.take(data(0, true)) == Fate::New);
  CHECK(r.cack() == 0);
  CHECK(r.completed() == 1);
  CHECK((r.enabled() & kNak) != 0);
  CHECK(r.demands(bad, r.take(bad)) == kNak);
  SECTION("its retransmission may be right") {
    CHECK(r.take(data(1, true)) == Fate::New);
    CHECK(r.completed() == 3);
  }
  SECTION("it may count as arrived; then the message still does not complete") {
    ResponderRules rules;
    rules.faulty_arrive = true;
    Responder hi(0, 0, 1024, rules);
    hi.take(data(0, true));
    CHECK(hi.take(bad) == Fate::New);
    hi.take(data(2, true));
    CHECK(hi.cack() == 2);
    CHECK(hi.completed() == 1);
    hi.take(data(1, true));
    CHECK(hi.completed() == 3);
  }
}

TEST_CASE("what was taken can be taken back", "[reference.responder]") {
  Responder r(0, 0, 1024);
  for (Seq p = 0; p < 10; ++p) r.take(data(p, p % 2 == 1));
  CHECK(r.completed() == 5);
  r.without(4);
  CHECK(r.cack() == 3);
  CHECK(r.above() == 5);
  CHECK(r.completed() == 2);
  CHECK(r.count() == 9);
  r.without(9);
  CHECK(r.above() == 4);
  r.take(data(4));
  CHECK(r.cack() == 8);
  CHECK(r.completed() == 4);
  Responder other(0, 0, 1024);
  for (Seq p = 0; p < 12; ++p) other.take(data(p, true));
  r.raise(10, other);
  CHECK(r.cack() == 10);
  CHECK(r.count() == 11);
}

TEST_CASE("immediates come out in the order of their messages", "[reference.responder]") {
  Responder r(0, 0, 1024);
  Arrival a = data(2, true);
  a.immediate = true;
  a.imm = 22;
  Arrival b = data(1, true);
  b.immediate = true;
  b.imm = 11;
  r.take(a);
  r.take(b);
  CHECK(r.immediates.empty());
  r.take(data(0));
  REQUIRE(r.immediates.size() == 2);
  CHECK(r.immediates[0].imm == 11);
  CHECK(r.immediates[0].msn == 0);
  CHECK(r.immediates[1].msn == 1);
}

TEST_CASE("a SACK may say what is so, and less in its bitmap", "[reference.responder]") {
  Responder r(0, 0, 1024);
  for (const Seq p : {0, 1, 3, 5}) r.take(data(p));
  Responder::Sack s = r.sack(2);
  CHECK(s.bitmap == 0b1010);
  CHECK(r.permits(s));
  s.bitmap = 0b1000;
  CHECK(r.permits(s));
  s.bitmap = 0b1001;
  CHECK_FALSE(r.permits(s));
  s = r.sack(0);
  s.cack = 0;
  CHECK_FALSE(r.permits(s));
  s = r.sack(0);
  s.above = 3;
  CHECK_FALSE(r.permits(s));
}

namespace {

/// The text of section 6 again, from the list of all that came: nothing is kept from one packet to the next.
struct Brute {
  static constexpr Seq kWindow = 4;
  struct View {
    std::set<Seq> got;
    Seq cack = -1, messages = 0, payload = 0;
    Fate last = Fate::New;
  };
  static bool ends(Seq psn) { return psn % 2 == 1; }  // messages of two packets
  static View view(const std::vector<Arrival>& came) {
    View v;
    for (const Arrival& a : came) {
      Seq cack = -1;
      while (v.got.count(cack + 1) != 0) ++cack;
      const bool here = a.psn <= cack || v.got.count(a.psn) != 0;
      if (a.what == What::Probe) {
        v.last = Fate::Probe;
      } else if (here) {
        v.last = a.what == What::Trimmed ? Fate::TrimmedHad : a.psn <= cack ? Fate::Below : Fate::Above;
      } else if (a.psn > cack + kWindow) {
        v.last = Fate::Outside;
      } else if (a.what == What::Trimmed) {
        v.last = Fate::Trimmed;
      } else {
        v.last = Fate::New;
        v.got.insert(a.psn);
        v.payload += a.payload;
      }
    }
    while (v.got.count(v.cack + 1) != 0) {
      ++v.cack;
      if (ends(v.cack)) ++v.messages;
    }
    return v;
  }
};

struct World {
  std::vector<Arrival> alphabet;
  std::vector<Arrival> came;
  uint64_t states = 0, wrong = 0;

  void walk(const Responder& responder, unsigned depth) {
    for (const Arrival& a : alphabet) {
      Responder next = responder;
      const Fate fate = next.take(a);
      came.push_back(a);
      const Brute::View view = Brute::view(came);
      Seq above = 0;
      bool same = fate == view.last && next.cack() == view.cack && next.completed() == view.messages &&
                  next.payload() == view.payload && next.count() == static_cast<Seq>(view.got.size());
      for (const Seq psn : view.got) above += psn > view.cack ? 1 : 0;
      for (Seq psn = 0; psn < 12; ++psn) same = same && next.has(psn) == (view.got.count(psn) != 0);
      same = same && next.above() == above;
      ++states;
      if (!same) ++wrong;
      // Taken back and taken again leads to the same.
      if (fate == Fate::New) {
        Responder back = next;
        back.without(a.psn);
        same = back.cack() == responder.cack() && back.above() == responder.above() &&
               back.completed() == responder.completed() && back.count() == responder.count();
        back.take(a);
        same = same && back.cack() == next.cack() && back.above() == next.above() &&
               back.completed() == next.completed() && back.payload() == next.payload();
        if (!same) ++wrong;
      }
      if (depth > 1) walk(next, depth - 1);
      came.pop_back();
    }
  }
};

}  // namespace

TEST_CASE("small world: every order of six packets, beside the text", "[reference.responder]") {
  World world;
  for (Seq psn = 0; psn < 5; ++psn) world.alphabet.push_back(data(psn, Brute::ends(psn)));
  for (const Seq psn : {0, 2, 4}) world.alphabet.push_back(trim(psn));
  world.alphabet.push_back(probe(1));
  Responder responder(0, 0, Brute::kWindow);
  world.walk(responder, 6);
  CHECK(world.states == 9 + 81 + 729 + 6561 + 59049 + 531441);
  CHECK(world.wrong == 0);
}

}  // namespace mrc::test::responder_test
