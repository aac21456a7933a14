// SPDX-License-Identifier: Apache-2.0
#include "picture/story.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "little.hpp"
#include "picture/pictures.hpp"
#include "picture/trace.hpp"

namespace mrc::picture {
namespace {

Story story_of(const std::vector<log::Record>& records) {
  Story story;
  for (const log::Record& r : records) story.add(r);
  story.finish();
  return story;
}

std::vector<const Packet*> sent_data(const Story& story) {
  std::vector<const Packet*> list;
  for (const Packet& p : story.packets) {
    if (p.kind == Kind::Data && p.sent) list.push_back(&p);
  }
  return list;
}

}  // namespace

TEST_CASE("a story numbers PSNs across their wrap, from the flow's first one on", "[picture][story]") {
  const Story s = story_of(Little().records());
  std::vector<int64_t> psns;
  for (const Packet* p : sent_data(s)) psns.push_back(p->psn);
  CHECK(psns == std::vector<int64_t>{0, 1, 2, 3, 2, 1, 4});
  const Flow& flow = s.flows.at(s.packets.front().flow);
  CHECK(Story::raw_psn(flow, 2) == 0);
  CHECK(s.name_of(flow) == "left QP 0x10 to right QP 0x22");
}

TEST_CASE("a story knows what arrived, what was lost, and which copy of a packet it was", "[picture][story]") {
  const Story s = story_of(Little().records());
  const auto data = sent_data(s);
  REQUIRE(data.size() == 7);
  for (const Packet* p : data) CHECK((p->fate == Fate::Lost) == (p->psn == 1 && !p->again));
  for (const Packet* p : data) {
    if (p->fate != Fate::Arrived) continue;
    const Packet& there = s.packets[p->other];
    CHECK(there.psn == p->psn);
    CHECK(there.again == p->again);
    CHECK(there.time == p->time + Little::kUs);
    CHECK(there.trimmed == (p->psn == 2 && !p->again));
    CHECK(there.marked == (p->psn == 3));
    CHECK(there.device == 1);
  }
  CHECK(s.flows[data[0]->flow].trouble == 4);  // one lost, one trimmed, both sent again
}

TEST_CASE("nothing is lost of which the log does not hold the other side, or ends too early", "[picture][story]") {
  std::vector<log::Record> one;
  const Little little;
  for (const log::Record& r : little.records()) {
    if (r.device == 0) one.push_back(r);
  }
  for (const Packet& p : story_of(one).packets) CHECK(p.fate == Fate::Unknown);
  std::vector<log::Record> cut = Little().records();
  for (log::Record& r : cut) {
    if (std::holds_alternative<log::End>(r.body)) r.time = 12 * Little::kUs;
  }
  const Story s = story_of(cut);
  for (const Packet* p : sent_data(s)) CHECK(p->fate != Fate::Lost);
}

TEST_CASE("a story ties packets to their work request, and it to its completion", "[picture][story]") {
  const Story s = story_of(Little().records());
  REQUIRE(s.messages.size() == 1);
  const Message& m = s.messages[0];
  CHECK(m.known);
  CHECK(m.first == 0);
  CHECK(m.last == 4);
  CHECK(m.msn == 9);
  CHECK(m.done == 30 * Little::kUs);
  for (const Packet& p : s.packets) CHECK((p.message == 0) == (p.kind == Kind::Data));
}

TEST_CASE("SACKs bring each PSN once, and what is in flight ends at nothing", "[picture][story]") {
  const Story s = story_of(Little().records());
  const Flow& flow = s.flows.at(s.packets.front().flow);
  const auto acks = acknowledged(s, flow);
  REQUIRE(acks.size() == 4);
  CHECK(acks[0].fresh == std::vector<int64_t>{0});
  CHECK(acks[1].fresh == std::vector<int64_t>{2, 3});
  CHECK(acks[1].cack == 0);
  CHECK(acks[2].fresh == std::vector<int64_t>{1});
  CHECK(acks[2].cack == 3);
  CHECK(acks[3].fresh == std::vector<int64_t>{4});
  const auto points = flight(s, flow, acks);
  CHECK(std::ranges::max(points, {}, &Flight::packets).packets == 4);
  CHECK(points.back().packets == 0);
  CHECK(points.back().bytes == 0);
}

TEST_CASE("notes of losses become losses of their flow, other notes stay notes", "[picture][story]") {
  const LossReported reported{.qp = 0x10,
                              .psn = 0xffffff,
                              .sent = 11 * Little::kUs,
                              .known = 14 * Little::kUs,
                              .again = 15 * Little::kUs,
                              .back = 0,
                              .again_plane = 5,
                              .cause = "same EV",
                              .way = "plane 3 by T1-3-5"};
  std::vector<log::Record> records = Little().records();
  const std::string text = reported.text();
  CHECK(text ==
        "loss QP 0x10 PSN 16777215 sent 11000000 known 14000000 again 15000000 back 0 plane 5 | same EV | plane 3 by "
        "T1-3-5");
  const std::size_t before = story_of(records).notes.size();
  for (const std::string& note : {text, std::string("loss QP 0x10 PSN 1"), std::string("loss of sleep"),
                                  text.substr(0, text.rfind(" | ")), "loss QP 0x10 PSN 7 sent x" + text.substr(30)}) {
    records.push_back({0, 31 * Little::kUs, log::Note{note}});
  }
  const Story s = story_of(records);
  REQUIRE(s.losses.size() == 1);
  CHECK(s.notes.size() == before + 4);
  CHECK(s.losses[0].text() == text);
  CHECK(s.losses[0].device == 0);
  const auto flow = s.packets.front().flow;
  CHECK(losses_reported(s, s.flows.at(flow)) == 1);
  const auto drawn = loss_picture(s, flow, {});
  REQUIRE(drawn);
  CHECK(drawn->name == "losses-left-qp10");
  CHECK(drawn->svg.find("sent at 11 us on plane 3 by T1-3-5: known to be lost at 14 us (same EV), again at 15 us on "
                        "plane 5, never reported") != std::string::npos);
  Choice later;
  later.from = 12 * Little::kUs;
  CHECK(!loss_picture(s, flow, later));
  CHECK(!loss_picture(story_of(Little().records()), flow, {}));
}

TEST_CASE("records may come in any order between sources", "[picture][story]") {
  std::vector<log::Record> by_device = Little().records();
  std::ranges::stable_sort(by_device, {}, &log::Record::device);
  std::ostringstream one, other;
  write_trace(story_of(Little().records()), one);
  write_trace(story_of(by_device), other);
  CHECK(one.str() == other.str());
}

}  // namespace mrc::picture
