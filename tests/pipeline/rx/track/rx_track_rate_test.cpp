// SPDX-License-Identifier: Apache-2.0
// Packets right behind each other, outputs that hold back, and rows that run out.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "tests/pipeline/rx/track/rx_track_bench.hpp"

namespace mrc::test::rx_track_rate_test {

using namespace mrc::test::rx_track;

namespace {

/// The responder as sets of PSNs, a packet at a time: what must come of a sequence, whatever its timing.
struct Sets {
  struct Qp {
    uint32_t next = 0;  ///< first PSN missing; these tests stay far from the wrap
    std::set<uint32_t> above;
  };
  std::map<unsigned, Qp> qps;

  /// True when the packet is new.
  bool take(unsigned qp, uint32_t psn) {
    Qp& q = qps[qp];
    if (psn < q.next || psn >= 0x80'0000 || !q.above.insert(psn).second) return false;
    while (q.above.erase(q.next) != 0) ++q.next;
    return true;
  }
  /// A SACK of the QP says so.
  void check(unsigned qp, const Resp& r) {
    const Qp& q = qps[qp];
    CHECK(r.cack == psn_add(q.next, -1));
    CHECK(r.ooo == q.above.size());
    uint64_t bitmap = 0;
    for (const uint32_t psn : q.above) {
      if (psn_dist(psn, r.base) < 64) bitmap |= uint64_t{1} << psn_dist(psn, r.base);
    }
    CHECK(r.bitmap == bitmap);
  }
};

Rxpkt packet_of(unsigned qp, uint32_t psn) {
  Rxpkt p = Track::packet(psn, 0);
  p.qp = static_cast<QpIndex>(qp);
  return p;
}

/// Cycles from the first verdict to the last.
unsigned span(const Track& t) { return t.verdict_at.back() - t.verdict_at.front(); }

}  // namespace

TEST_CASE("a packet per cycle, and each sees what the one before it has done: every pair at distances 1, 2 and 3",
          "[rx_track][rate]") {
  // Two QPs with PSNs 1 and 70 above a hole at 0, in two rows. Between the pair: a third QP, in order.
  const std::vector<uint32_t> psns = {0, 1, 2, 63, 64, 70, 71, 0xffffff};
  const unsigned other = GENERATE(0u, 1u);  // of the same QP, or of another
  const uint32_t first = GENERATE_COPY(from_range(psns));
  for (const uint32_t second : psns) {
    for (unsigned distance = 1; distance <= 3; ++distance) {
      CAPTURE(other, first, second, distance);
      Track t("fpga100");
      Sets sets;
      t.csr.sack_trigger = 0xfffff;
      for (unsigned qp = 0; qp < 3; ++qp) t.configure(qp, 0);
      for (unsigned qp = 0; qp < 2; ++qp) {
        for (const uint32_t psn : {1u, 70u}) {
          t.send(packet_of(qp, psn));
          sets.take(qp, psn);
        }
      }
      std::vector<Rxpkt> list = {packet_of(0, first)};
      for (unsigned i = 1; i < distance; ++i) list.push_back(packet_of(2, i - 1));
      list.push_back(packet_of(other, second));
      for (uint32_t i = 0; i < 3; ++i) list.push_back(packet_of(2, distance - 1 + i));
      t.stream(list);
      REQUIRE(t.verdicts.size() == list.size());
      for (std::size_t i = 0; i < list.size(); ++i) {
        CAPTURE(i);
        CHECK(t.verdicts[i].place == sets.take(list[i].qp, list[i].psn));
      }
      CHECK(span(t) == list.size() - 1);
      for (unsigned qp = 0; qp < 3; ++qp) sets.check(qp, t.req(qp));
    }
  }
}

TEST_CASE("a packet per cycle also where cack runs into the next row, which costs one more", "[rx_track][rate]") {
  const unsigned distance = GENERATE(1u, 2u, 3u);
  const uint32_t second = GENERATE(0u, 5u, 64u, 66u, 67u, 120u);
  CAPTURE(distance, second);
  Track t("fpga100");
  Sets sets;
  t.csr.sack_trigger = 0xfffff;
  for (unsigned qp = 0; qp < 3; ++qp) t.configure(qp, 0);
  for (uint32_t psn = 1; psn < 66; ++psn) {  // all of the first row but 0, and a little of the next
    t.send(packet_of(0, psn));
    sets.take(0, psn);
  }
  std::vector<Rxpkt> list = {packet_of(0, 0)};
  for (unsigned i = 1; i < distance; ++i) list.push_back(packet_of(2, i - 1));
  list.push_back(packet_of(0, second));
  for (uint32_t i = 0; i < 6; ++i) list.push_back(packet_of(2, distance - 1 + i));
  t.stream(list);
  REQUIRE(t.verdicts.size() == list.size());
  for (std::size_t i = 0; i < list.size(); ++i) CHECK(t.verdicts[i].place == sets.take(list[i].qp, list[i].psn));
  CHECK(span(t) == list.size());
  sets.check(0, t.req(0));
}

TEST_CASE("packets in order: one per cycle, with immediates and message ends", "[rx_track][rate]") {
  Track t;
  t.csr.sack_trigger = 0xfffff;
  for (unsigned qp = 0; qp < 4; ++qp) t.configure(qp, 0);
  const unsigned qps = GENERATE(1u, 4u);
  std::vector<Rxpkt> list;
  for (uint32_t i = 0; i < 500; ++i) {
    list.push_back(packet_of(i % qps, i / qps));
    list.back().last = list.back().imm_valid = i % 3 == 0;
  }
  t.stream(list);
  REQUIRE(t.verdicts.size() == 500);
  CHECK(span(t) == 499);
  CHECK(t.ords.size() == 500);
  CHECK(t.acks.size() == 167);
}

TEST_CASE("packets out of order: one per cycle, and one for each row that cack runs out of", "[rx_track][rate]") {
  Track t("asic800");
  t.csr.sack_trigger = 0xfffff;
  t.configure(1, 0, 8);
  std::vector<Rxpkt> list;
  for (uint32_t from = 0; from < 768; from += 256) {  // 256 backwards: the last one fills four rows
    for (uint32_t i = 256; i > 0; --i) list.push_back(packet_of(1, from + i - 1));
  }
  t.stream(list);
  REQUIRE(t.verdicts.size() == 768);
  // Four rows that cack runs out of, for by then some of the next 256 are there; nothing follows the last 256.
  CHECK(span(t) == 767 + 2 * 4);
  REQUIRE(t.ords.size() == 3);  // one for all passes of a packet
  CHECK(t.ords[0].cack == 255);
  CHECK(t.ords[2].cack == 767);
}

TEST_CASE("a SACK for every packet: four cycles each", "[rx_track][rate]") {
  Track t;
  t.csr.sack_trigger = 0;
  t.configure(1, 0);
  std::vector<Rxpkt> list;
  for (uint32_t psn = 0; psn < 100; ++psn) list.push_back(packet_of(1, psn));
  t.stream(list);
  REQUIRE(t.resps.size() == 100);
  CHECK(t.resp_at.back() - t.resp_at.front() == 4 * 99);
  CHECK(t.verdicts.size() == 100);
}

TEST_CASE("NACKs leave at one per cycle, and a SACK waits for them", "[rx_track][rate]") {
  Track t;
  t.configure(1, 0);
  std::vector<Rxpkt> list = {packet_of(1, 3)};
  list[0].ce = true;
  for (unsigned i = 0; i < 20; ++i) {
    list.push_back(packet_of(1, 5));
    list.back().buf_valid = false;
    list.back().trim = Trim::Trimmed;
  }
  t.stream(list);
  REQUIRE(t.resps.size() == 21);
  for (unsigned i = 0; i < 20; ++i) {
    CHECK(t.resps[i].kind == CtlKind::Nack);
    CHECK(t.resp_at[i] == t.resp_at[0] + i);
  }
  CHECK(t.resps[20].kind == CtlKind::Sack);
  CHECK(t.resps[20].bitmap == 0b1000);
}

TEST_CASE("a SACK is never older than its rows: what cack has passed meanwhile is no hole", "[rx_track]") {
  const unsigned between = GENERATE(0u, 1u, 2u, 3u, 4u);  // packets between the one that asks and the one that fills
  Track t;
  t.configure(1, 0);
  t.configure(2, 0);
  std::vector<Rxpkt> list = {packet_of(1, 1)};
  list[0].ce = true;
  for (uint32_t i = 0; i < between; ++i) list.push_back(packet_of(2, i));
  list.push_back(packet_of(1, 0));
  t.stream(list);
  REQUIRE(t.resps.size() == 1);
  const Resp& r = t.resps[0];
  CAPTURE(between);
  // PSN 0 is in Track one cycle after PSN 1, or so many more; the base is chosen two cycles after it, the SACK is
  // loaded five cycles after it, and each sees what Track has written in the cycle before.
  CHECK(r.cack == (between <= 3 ? 1 : 0xffffff));
  CHECK(r.ooo == (between <= 3 ? 0 : 1));
  CHECK(r.base == (between == 0 ? 2 : 0));
  CHECK(r.bitmap == (between == 0 ? 0 : 0b10));
}

TEST_CASE("whatever holds the outputs back, nothing is lost, doubled or overtaken", "[rx_track]") {
  const unsigned seed = GENERATE(range(1u, 13u));
  CAPTURE(seed);
  std::minstd_rand rng(seed);
  const auto chance = [&](unsigned percent) { return rng() % 100 < percent; };
  Track t("fpga100");
  Sets sets;
  t.csr.ack_with_sack = seed % 3 == 0;
  t.csr.sack_trigger = seed % 2 != 0 ? 0xfffff : 4096;
  constexpr unsigned kQps = 3;
  for (unsigned qp = 0; qp < kQps; ++qp) t.configure(qp, 0, 2);
  std::vector<bool> place;
  unsigned discards = 0;
  for (unsigned cycle = 0; cycle < 6000; ++cycle) {
    if (t.rxpkt.free() && chance(80)) {
      const auto qp = static_cast<unsigned>(rng() % kQps);
      // Rows are passed often, and cack may lag behind: the window is never reached.
      const uint32_t next = sets.qps[qp].next;
      const uint32_t psn = chance(50) ? next : psn_add(next, static_cast<int64_t>(rng() % 120) - 20);
      Rxpkt p = packet_of(qp, psn);
      p.last = psn % 5 == 0;
      p.ce = chance(5);
      t.rxpkt.load(p);
      place.push_back(sets.take(qp, psn));
      if (!place.back()) ++discards;
    }
    t.take_verdict = chance(90);
    t.take_resp = chance(50);
    t.take_ackev = chance(70);
    t.take_ord = chance(80);
    t.cycle();
  }
  t.take_verdict = t.take_resp = t.take_ackev = t.take_ord = true;
  t.run(200);
  REQUIRE(t.verdicts.size() == place.size());
  for (std::size_t i = 0; i < place.size(); ++i) REQUIRE(t.verdicts[i].place == place[i]);
  CHECK(place.size() > 1500);
  CHECK(t.dup == discards);
  CHECK(t.oor + t.nores + t.trim == 0);
  for (unsigned qp = 0; qp < kQps; ++qp) {
    CHECK(sets.qps[qp].next > 300);
    uint32_t cack = 0xffffff;
    for (const Ord& o : t.ords) {
      if (o.qp != qp) continue;
      CHECK(psn_dist(o.cack, cack) < kPsnHalf);
      cack = o.cack;
    }
    CHECK(cack == sets.qps[qp].next - 1);
  }
  const std::vector<Ackev> acks = t.acks;
  for (unsigned qp = 0; qp < kQps; ++qp) {
    const Resp r = t.req(qp);  // repeats the newest ACK
    sets.check(qp, r);
    const uint32_t done = (sets.qps[qp].next - 1) / 5;  // message k ends with PSN 5 k
    const Ackev newest{.qp = static_cast<QpIndex>(qp),
                       .plane = 0,
                       .psn = 5 * done,
                       .msn = static_cast<uint16_t>(0x20 + done + 1),
                       .again = true};
    REQUIRE(t.acks.size() == 1);
    CHECK(t.acks[0] == newest);
    uint16_t msn = 0x20;
    for (const Ackev& a : acks) {
      if (a.qp != qp) continue;
      CHECK(a.psn == 5u * (a.msn - 0x21u));
      CHECK(a.msn >= msn);
      msn = a.msn;
    }
    if (!t.csr.ack_with_sack) CHECK(msn == newest.msn);
  }
}

TEST_CASE("cack stays where it is when its next row has been passed, and used anew, between two passes", "[rx_track]") {
  Track t;  // two rows per QP
  t.configure(1, 0);
  for (uint32_t psn = 1; psn < 128; ++psn) {
    if (psn != 64) t.send(packet_of(1, psn));
  }
  // 0 fills the first row and goes on at 64; before that pass, 64 itself fills the second row, and 192 has bit 0 in it.
  t.stream({packet_of(1, 0), packet_of(1, 64), packet_of(1, 192)});
  REQUIRE(t.verdicts.size() == 3);
  for (const Verdict& v : t.verdicts) CHECK(v.place);
  const Resp r = t.req(1);
  CHECK(r.cack == 127);
  CHECK(r.ooo == 1);
  REQUIRE(t.ords.empty());
  t.send(packet_of(1, 192));
  CHECK(t.dup == 1);
}

TEST_CASE("without a free row, packets that are not next in order are refused, the next one is not", "[rx_track]") {
  Track t;  // six rows for four QPs of two
  for (unsigned qp = 0; qp < 4; ++qp) t.configure(qp, 0);
  for (unsigned qp = 0; qp < 3; ++qp) {
    for (const uint32_t psn : {1u, 64u}) {
      t.send(packet_of(qp, psn));
      CHECK(t.verdicts.at(0).place);
    }
  }
  Rxpkt p = packet_of(3, 1);
  p.ackreq = p.imm_valid = true;
  t.send(p);
  CHECK(t.verdicts.at(0) == Verdict{.plane = 1, .place = false, .addr = 0, .plen = 0});
  CHECK(t.ords.empty());
  REQUIRE(t.resps.size() == 1);
  Resp want;
  want.kind = CtlKind::Nack;
  want.qp = 3;
  want.plane = 1;
  want.psn = 1;
  want.entropy = 0xe0000001;
  want.ts = 2;
  want.tsv = true;
  want.at = 3;
  want.reason = 0x06;
  CHECK(t.resps[0] == want);
  CHECK(t.nores == 1);
  t.send(packet_of(2, 2));  // its row is there
  CHECK(t.verdicts.at(0).place);
  t.send(packet_of(3, 0));
  CHECK(t.verdicts.at(0).place);
  CHECK(t.ords.at(0).cack == 0);
  CHECK(t.nores == 1);
  Rxpkt bad = packet_of(3, 5);  // refused anyway: as if lost
  bad.syndrome = 0x62;
  t.send(bad);
  CHECK(t.resps.empty());

  SECTION("a row that is passed is free again, in the next cycle") {
    t.stream({packet_of(0, 0), packet_of(3, 5), packet_of(3, 100)});
    CHECK(t.verdicts.at(1).place);        // the row of 0, 1 and 2
    CHECK_FALSE(t.verdicts.at(2).place);  // no second one
    CHECK(t.req(3).bitmap == 0b10000);    // PSN 5, from 1 on
  }
  SECTION("the rows of a QP that is set up again are free") {
    CHECK(t.configure(1, 0) == 1 + 2);
    t.stream({packet_of(3, 5), packet_of(3, 100), packet_of(1, 9)});
    CHECK(t.verdicts.at(0).place);
    CHECK(t.verdicts.at(1).place);
    CHECK_FALSE(t.verdicts.at(2).place);
    CHECK(t.req(1).ooo == 0);
  }
}

TEST_CASE("every row is handed out again and again", "[rx_track]") {
  Track t;
  for (unsigned qp = 0; qp < 4; ++qp) t.configure(qp, 0);
  for (uint32_t round = 0; round < 40; ++round) {
    std::vector<Rxpkt> list;
    for (const uint32_t ahead : {1u, 0u}) {
      for (unsigned qp = 0; qp < 4; ++qp) list.push_back(packet_of(qp, 2 * round + ahead));
    }
    t.stream(list);
    for (const Verdict& v : t.verdicts) REQUIRE(v.place);
  }
  for (unsigned qp = 0; qp < 4; ++qp) CHECK(t.req(qp).cack == 79);
  CHECK(t.nores + t.dup + t.oor == 0);
}

TEST_CASE("without room for a completion no packet goes on, not even one that brings none", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  t.send(packet_of(1, 0));
  CHECK(t.verdicts.size() == 1);
  t.verdicts.clear();
  t.hold_ok = false;
  t.rxpkt.load(packet_of(1, 0));  // a duplicate
  t.run(50);
  CHECK(t.verdicts.empty());
  CHECK(t.dup == 0);
  t.hold_ok = true;
  t.run(10);
  CHECK(t.verdicts.size() == 1);
  CHECK(t.dup == 1);
}

TEST_CASE("a trimmed packet brings a SACK of what has arrived, and so does every packet until it is here",
          "[rx_track][A-74]") {
  const bool silent = GENERATE(false, true);
  CAPTURE(silent);
  Track t;
  t.csr.trim_silent = silent;
  t.configure(1, 0);
  const auto trimmed = [&](uint32_t psn, bool sack) {
    Rxpkt p = packet_of(1, psn);
    p.buf_valid = false;
    p.trim = Trim::Trimmed;
    t.send(p);
    CAPTURE(psn);
    REQUIRE(t.resps.size() == (sack && !silent ? 2 : 1));
    CHECK(t.resps[0].kind == CtlKind::Nack);
    CHECK(t.resps[0].psn == psn);
  };
  const auto arrives = [&](uint32_t psn, bool sack) {
    t.send(packet_of(1, psn));
    CAPTURE(psn);
    CHECK(t.verdicts.at(0).place);
    REQUIRE(t.resps.size() == (sack && !silent ? 1 : 0));
    if (!t.resps.empty()) {
      CHECK(t.resps[0].kind == CtlKind::Sack);
      CHECK_FALSE(t.resps[0].pr);
      CHECK(t.resps[0].psn == psn);
    }
  };
  arrives(0, false);
  trimmed(4, true);
  if (!silent) {  // as an answer to a probe, with a number that nobody gives to one
    CHECK(t.resps[1].kind == CtlKind::Sack);
    CHECK(t.resps[1].pr);
    CHECK(t.resps[1].m == 0);
    CHECK(t.resps[1].psn == 0xffff);
    CHECK(t.resps[1].cack == 0);
  }
  trimmed(2, false);  // nothing has arrived since that SACK
  arrives(3, true);   // sent before the newest trimmed one
  arrives(6, true);   // and after it
  arrives(1, true);
  arrives(4, true);
  arrives(2, true);  // cack is 4 now: both are here
  arrives(5, false);
  arrives(7, false);
  trimmed(9, true);
  t.configure(1, 0);  // another connection knows nothing of it
  arrives(0, false);
}

TEST_CASE("rx_share hears of each new packet, of each trimmed one, and of messages that become complete",
          "[rx_track][A-78]") {
  Track t;
  t.configure(1, 0);
  t.send(packet_of(1, 0));
  CHECK(t.cames.empty());
  t.csr.share_enable = true;
  const auto packet = [](uint32_t psn, bool last, uint16_t msn) {
    Rxpkt p = packet_of(1, psn);
    p.last = last;
    p.msn = msn;
    p.plen = 700;
    p.dmalen = 9000;
    return p;
  };
  const auto heard = [&](const Rxpkt& p) {
    t.send(p);
    return t.cames;
  };
  using Words = std::vector<Came>;
  // MSN 0x20 is the one now being completed.
  CHECK(heard(packet(1, false, 0x20)) == Words{{1, 700, false, 0x20, 0x20, 9000}});
  CHECK(heard(packet(1, false, 0x20)).empty());  // a duplicate
  CHECK(heard(packet(3, true, 0x21)) == Words{{1, 700, false, 0x21, 0x20, 9000}});
  Rxpkt trimmed = packet(4, false, 0x22);
  trimmed.trim = Trim::LastHop;
  trimmed.plen = 0;
  trimmed.dmalen = 0;
  trimmed.buf_valid = false;
  CHECK(heard(trimmed) == Words{{1, 0, true, 0x22, 0x20, 0}});
  trimmed.trim = Trim::NoBuffer;  // not on its way
  CHECK(heard(trimmed).empty());
  CHECK(heard(packet(2, true, 0x20)) == Words{{1, 700, false, 0x20, 0x22, 9000}});
  // 63 ends a row, and cack goes on behind it: first what came with it, then the messages of the next row.
  for (uint32_t psn = 4; psn < 63; ++psn) t.send(packet(psn, false, 0x22));
  t.send(packet(64, true, 0x22));
  CHECK(heard(packet(63, false, 0x22)) == Words{{1, 700, false, 0x22, 0x22, 9000}, {1, 0, false, 0x22, 0x23, 9000}});
}

TEST_CASE("SACKs say what rx_share wants of windows: once to save, at once, then a penalty or the end of it",
          "[rx_track][A-78]") {
  Track t;
  t.csr.share_enable = true;
  t.csr.share_pen = 9;
  t.configure(1, 0);
  const auto says = [&](uint32_t psn, unsigned sacks, unsigned pen, bool restore, bool req = false) {
    Rxpkt p = packet_of(1, psn);
    p.ackreq = req;
    t.send(p);
    CAPTURE(psn);
    REQUIRE(t.resps.size() == sacks);
    if (sacks == 0) return;
    CHECK(t.resps[0].kind == CtlKind::Sack);
    CHECK(t.resps[0].pen == pen);
    CHECK(t.resps[0].restore == restore);
  };
  t.share.drained = true;
  says(0, 1, 0, false, true);  // nothing was saved
  t.share = {.arm = true, .gen = 3};
  says(1, 1, 1, false);  // a SACK at once
  says(2, 0, 0, false);  // once
  says(3, 1, 0, false, true);
  t.share.penal = true;
  says(4, 1, 0, false, true);
  t.fat = true;
  says(5, 1, 9, false, true);
  t.fat = false;
  t.share = {.drained = true, .gen = 3};
  says(6, 1, 0, true, true);
  says(7, 1, 0, true, true);
  // The next incast; the SACK of a trimmed packet, after nothing new, saves as well.
  t.share = {.arm = true, .gen = 4};
  Rxpkt trimmed = packet_of(1, 9);
  trimmed.buf_valid = false;
  trimmed.trim = Trim::Trimmed;
  t.send(trimmed);
  REQUIRE(t.resps.size() == 2);
  CHECK(t.resps[1].pen == 1);
  CHECK(t.resps[1].pr);
  // The answer to a probe says it too, and another connection was told nothing.
  t.share = {.drained = true, .gen = 4};
  CHECK(t.req(1).restore);
  t.configure(1, 0);
  CHECK_FALSE(t.req(1).restore);
}

TEST_CASE("while immediates have no room, those that are not next in order are refused", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  t.imm_ok = false;
  Rxpkt p = packet_of(1, 2);
  t.send(p);
  CHECK(t.verdicts.at(0).place);  // no immediate
  p = packet_of(1, 1);
  p.imm_valid = p.last = p.ackreq = true;
  t.send(p);
  CHECK_FALSE(t.verdicts.at(0).place);
  CHECK(t.ords.empty());
  CHECK(t.nores == 1);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Nack);
  CHECK(t.resps[0].reason == 0x0A);
  CHECK(t.resps[0].psn == 1);
  p.psn = 2;
  t.send(p);  // a duplicate is one all the same
  CHECK(t.dup == 1);
  p.psn = 0;
  t.send(p);
  CHECK(t.verdicts.at(0).place);
  REQUIRE(t.ords.size() == 1);
  CHECK(t.ords[0].imm_valid);
  p.psn = 1;
  t.imm_ok = true;
  p.psn = 4;
  t.send(p);
  CHECK(t.verdicts.at(0).place);
  CHECK(t.nores == 1);
}

TEST_CASE("a table write waits for the packets in the stages, and for cack and SACKs they have left to do",
          "[rx_track]") {
  const unsigned wait = GENERATE(range(0u, 16u));
  CAPTURE(wait);
  Track t("fpga100");
  t.configure(1, 0);
  for (uint32_t psn = 1; psn < 66; ++psn) t.send(packet_of(1, psn));
  t.clear();
  Rxpkt p = packet_of(1, 0);
  p.ackreq = true;
  t.rxpkt.load(p);
  t.run(wait);
  t.configure(1, 1000);
  t.run(24);
  // The packet is of the old connection, or of the new one as soon as its turn comes after the table write.
  REQUIRE(t.verdicts.size() == 1);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.verdicts[0].place == (wait > 2));
  CHECK(t.resps[0].kind == CtlKind::Sack);
  CHECK(t.resps[0].cack == (wait > 2 ? 65 : 999));
  t.send(packet_of(1, 1000));
  CHECK(t.ords.at(0).cack == 1000);
}

TEST_CASE("a packet that fills two rows is answered once", "[rx_track]") {
  Track t("fpga100");
  t.csr.sack_trigger = 0xfffff;
  t.configure(1, 0);
  for (uint32_t psn = 1; psn < 128; ++psn) t.send(packet_of(1, psn));
  t.csr.sack_trigger = 1;
  Rxpkt p = packet_of(1, 0);
  p.rtx = true;
  p.last = p.imm_valid = true;
  t.send(p);  // two rows, one SACK, one order, one ACK
  CHECK(t.verdicts.size() == 1);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].cack == 127);
  REQUIRE(t.ords.size() == 1);
  CHECK(t.ords[0].cack == 127);
  CHECK(t.ords[0].imm_valid);
  REQUIRE(t.acks.size() == 1);
  CHECK(t.acks[0].psn == 0);
  CHECK(t.acks[0].msn == 0x21);
}

TEST_CASE("an AckReq is not forgotten while more packets come before the hole closes", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  Rxpkt ar = packet_of(1, 1);
  ar.ackreq = true;
  t.stream({ar, packet_of(1, 2), packet_of(1, 3)});
  CHECK(t.resps.size() == 1);
  t.send(packet_of(1, 0));
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].cack == 3);
}

TEST_CASE("a SACK whose base is its packet leaves the round of the others alone", "[rx_track]") {
  Track t("fpga100");
  t.csr.sack_trigger = 0xfffff;
  t.configure(1, 10, 2);
  std::vector<Rxpkt> list;
  for (uint32_t psn = 11; psn < 100; ++psn) list.push_back(packet_of(1, psn));
  t.stream(list);
  CHECK(t.req(1).base == 10);
  t.csr.sack_base_self = true;
  Rxpkt p = packet_of(1, 12);  // again
  p.ackreq = true;
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].base == 12);
  CHECK(t.req(1).base == 74);
}

TEST_CASE("a SACK shows the rows as they were when it read them", "[rx_track]") {
  const unsigned between = GENERATE(range(0u, 5u));
  const bool row_here = GENERATE(false, true);
  CAPTURE(between, row_here);
  Track t;
  t.configure(1, 32);
  t.configure(2, 0);
  if (row_here) t.send(packet_of(1, 70));
  std::vector<Rxpkt> list = {packet_of(1, 33)};
  list[0].ce = true;
  for (uint32_t i = 0; i < between; ++i) list.push_back(packet_of(2, i));
  list.push_back(packet_of(1, 64));
  t.stream(list);
  REQUIRE(t.resps.size() == 1);
  const Resp& r = t.resps[0];
  // The packet that asks is in Track in cycle 0. The map of the second row is read in cycle 3, its bits in cycle 4, the
  // registers in cycle 5. PSN 64 is in Track in cycle 1 + between, and shows from the cycle after it.
  const bool seen = between + 2 <= (row_here ? 4 : 3);
  CHECK(r.base == 32);
  CHECK(r.bitmap == (0b10u | uint64_t{seen} << 32 | uint64_t{row_here} << 38));
  CHECK(r.ooo == 1u + row_here + (between + 2 <= 5));
}

TEST_CASE("an output that nobody takes holds the tracker back, whatever the packets are for it", "[rx_track]") {
  Track t;
  t.csr.sack_trigger = 0xfffff;
  t.configure(1, 0);
  const int held = GENERATE(0, 1, 2);
  CAPTURE(held);
  (held == 0 ? t.take_verdict : held == 1 ? t.take_ackev : t.take_ord) = false;
  uint32_t psn = 0;
  const auto load = [&] {
    for (unsigned i = 0; i < 100; ++i) {
      if (t.rxpkt.free() && psn < 20) {
        Rxpkt p = packet_of(1, psn++);
        p.last = true;
        t.rxpkt.load(p);
      }
      t.cycle();
    }
  };
  load();
  // What the consumer's FIFO and the output register hold; three packets in the stages, three before them.
  const unsigned gone = held == 0 ? t.preset.lane_fifo + 1 : 3;
  CHECK(psn == gone + 6);
  CHECK(t.verdicts.size() == (held == 0 ? 0 : gone));
  CHECK(t.acks.size() == (held == 1 ? 0 : gone));
  CHECK(t.ords.size() == (held == 2 ? 0 : gone));
  t.take_verdict = t.take_ackev = t.take_ord = true;
  load();
  CHECK(t.verdicts.size() == 20);
  REQUIRE(t.acks.size() == 20);
  REQUIRE(t.ords.size() == 20);
  for (uint32_t i = 0; i < 20; ++i) {
    CHECK(t.acks[i].psn == i);
    CHECK(t.ords[i].cack == i);
  }
}

TEST_CASE("an immediate too many: the next packet, and each after it, hears NAK invalid request", "[rx_track][A-62]") {
  Track t;
  t.configure(1, 10);
  t.configure(2, 10);
  t.csr.nak_invalid = 0x65;
  Rxpkt last = Track::packet(10);
  last.last = true;
  t.send(last);  // a message is complete: MSN 0x21 is next
  t.over[1] = 1;
  Rxpkt p = Track::packet(13);
  p.err = GENERATE(true, false);  // the QP is in Error already, or not yet
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Ack);
  CHECK(t.resps[0].qp == 1);
  CHECK(t.resps[0].plane == 1);
  CHECK(t.resps[0].reason == 0x65);
  CHECK(t.resps[0].psn == 11);  // the oldest message that is not complete begins there
  CHECK(t.resps[0].msn == 0x21);
  CHECK(t.qperrs.empty());  // rx_reorder has said so
  REQUIRE(t.verdicts.size() == 1);
  CHECK_FALSE(t.verdicts[0].place);
  CHECK(t.ords.empty());
  const Resp nak = t.resps[0];
  t.over[1] = 0;  // the NAK goes on until the QP is connected anew
  p.psn = 11;
  p.err = true;
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0] == nak);
  Rxpkt probe{.plane = 1, .probe = true, .qp = 1};
  t.send(probe);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0] == nak);
  Rxpkt other = Track::packet(10);  // others go on
  other.qp = 2;
  t.send(other);
  REQUIRE(t.verdicts.size() == 1);
  CHECK(t.verdicts[0].place);
  t.configure(1, 10);
  t.send(Track::packet(10));
  REQUIRE(t.verdicts.size() == 1);
  CHECK(t.verdicts[0].place);
}

TEST_CASE("an immediate too many: what failed a check in front says nothing", "[rx_track][A-62]") {
  Track t;
  t.configure(1, 10);
  t.over[1] = 1;
  Rxpkt p = Track::packet(10);
  p.drop = true;
  t.send(p);
  CHECK(t.resps.empty());
  CHECK(t.verdicts.size() == 1);
}

TEST_CASE("the NAK for an immediate too many always says that it is a NAK", "[rx_track][A-62][A-70]") {
  Track t;
  t.configure(1, 10);
  t.csr.nak_invalid = 0xe1;
  t.over[1] = 1;
  t.send(Track::packet(10));
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].reason == 0x61);
}

}  // namespace mrc::test::rx_track_rate_test
