// SPDX-License-Identifier: Apache-2.0
#include "cover/watcher.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>

#include "reference/run.hpp"
#include "tests/reference/life.hpp"

using namespace mrc;
using namespace mrc::test;

namespace {

/// Names of the bins that a life shows, without those of rules.
std::set<std::string> shown(const std::vector<Happening>& story, cover::Bins& bins) {
  ref::RunOptions options;
  options.also = [&](uint32_t, const ref::Profile& profile, const ref::Report& report) {
    return cover::make_watcher(profile, report, bins);
  };
  ref::Run run(options);
  for (const Happening& h : story) run.push(h.record);
  run.finish();
  std::set<std::string> names;
  for (std::size_t bin = 0; bin < cover::kNumBins; ++bin) {
    const std::string name = cover::kBins[bin];
    if (bins.has(bin) && !name.starts_with("rule.")) names.insert(name);
  }
  return names;
}

/// What two lives do not have in common: gained with +, lost with -.
std::set<std::string> changed(const std::vector<Change>& changes) {
  cover::Bins before, after;
  const std::set<std::string> was = shown(life(), before), is = shown(life(changes), after);
  std::set<std::string> names;
  for (const std::string& name : is) {
    if (!was.contains(name)) names.insert("+" + name);
  }
  for (const std::string& name : was) {
    if (!is.contains(name)) names.insert("-" + name);
  }
  return names;
}

std::set<std::string> shown() {
  cover::Bins bins;
  return shown(life(), bins);
}

}  // namespace

TEST_CASE("a bin's place is the cross of its axes, in the order of their names", "[cover]") {
  for (std::size_t group = 0; group < cover::kGroups.size(); ++group) {
    const cover::GroupInfo& info = cover::kGroups[group];
    const std::size_t size = std::size_t{info.sizes[0]} * info.sizes[1] * info.sizes[2];
    const std::size_t next = group + 1 < cover::kGroups.size() ? cover::kGroups[group + 1].first : cover::kNumBins;
    CHECK(info.first + size == next);
    CHECK(std::string(cover::kBins[info.first]).starts_with(std::string(info.name) + "."));
  }
  cover::Bins bins;
  bins.hit(cover::Group::Window, cover::WindowAt::Edge, cover::WindowWrap::Wraps, cover::WindowForm::Trimmed);
  bins.hit(cover::Group::Status, cover::StatusStatus::Flushed);
  std::set<std::string> names;
  for (std::size_t bin = 0; bin < cover::kNumBins; ++bin) {
    if (bins.has(bin)) names.insert(cover::kBins[bin]);
  }
  CHECK(names == std::set<std::string>{"window.edge.wraps.trimmed", "status.flushed"});
}

TEST_CASE("bins as text are the table and a digit per four of them", "[cover]") {
  cover::Bins bins;
  const std::string none = bins.to_text();
  CHECK(none.starts_with(std::string(cover::kTable) + ":"));
  CHECK(none.size() == 9 + (cover::kNumBins + 3) / 4);
  CHECK(none.find_first_not_of('0', 9) == std::string::npos);
  bins.hit(cover::Group::Sack, cover::SackWay::Sent, cover::SackShape::None, cover::SackBase::Above);  // bin 1
  bins.hit(cover::Group::Sack, cover::SackWay::Sent, cover::SackShape::One, cover::SackBase::Above);   // bin 4
  CHECK(bins.to_text().substr(9, 2) == "21");
}

TEST_CASE("a life shows what happens in it, and nothing else", "[cover]") {
  // Held against the life by hand: it goes over PSN 0 as requestor, fills its window, repeats what a NACK names.
  const std::set<std::string> right = {"control.got.ack",
                                       "control.got.nack",
                                       "control.got.port-update",
                                       "control.got.probe",
                                       "control.got.sack",
                                       "control.sent.ack",
                                       "control.sent.nack",
                                       "control.sent.port-update",
                                       "control.sent.probe",
                                       "control.sent.probe-sack",
                                       "control.sent.response",
                                       "control.sent.sack",
                                       "data.got.first.new",
                                       "data.got.last-imm.new",
                                       "data.got.only.again",
                                       "data.got.only.new",
                                       "data.sent.first.new",
                                       "data.sent.last.new",
                                       "data.sent.middle.new",
                                       "data.sent.only-imm.again",
                                       "data.sent.only-imm.new",
                                       "data.sent.only.again",
                                       "data.sent.only.new",
                                       "delivery.at-once",
                                       "encap.got.ipv6",
                                       "encap.sent.ipv6",
                                       "flight.edge.wraps.new",
                                       "flight.far.wraps.new",
                                       "flight.first.plain.again",
                                       "flight.first.plain.new",
                                       "flight.first.wraps.again",
                                       "flight.first.wraps.new",
                                       "flight.near.plain.again",
                                       "flight.near.plain.new",
                                       "flight.near.wraps.new",
                                       "message.few.plain.oldest",
                                       "message.one.immediate.oldest",
                                       "message.one.plain.oldest",
                                       "nack.got.trimmed",
                                       "nack.sent.trimmed",
                                       "planes.heard.all",
                                       "planes.own.all",
                                       "planes.said.all",
                                       "retry.trimmed.second",
                                       "sack.got.none.at",
                                       "sack.sent.none.at",
                                       "status.ok",
                                       "window.next.plain.trimmed",
                                       "window.next.plain.whole"};
  CHECK(shown() == right);
}

TEST_CASE("what is changed in a life changes its bins", "[cover]") {
  using Names = std::set<std::string>;
  // Without NACKs the packets go again by themselves: a timer's work.
  CHECK(changed({{.name = "lost.nack", .drop = true}, {.name = "b.nack", .drop = true}}) ==
        Names{"+retry.timer.second", "-retry.trimmed.second", "-nack.got.trimmed", "-control.got.nack"});
  // The last packet of a message comes before the first one.
  const Names late = changed({{.name = "in.first", .drop = true}, {.name = "marked.sack", .drop = true}});
  CHECK(late.contains("+window.near.plain.whole"));
  CHECK(late.contains("+delivery.waited"));
  CHECK(late.contains("-delivery.at-once"));
  // A work request of another QP is still open when this one completes.
  const Names overtaken = changed({{.name = "a.post", .before = {log::Post{.qp = 77, .wr_id = 1, .bytes = 4}}}});
  CHECK(overtaken.contains("+message.few.plain.overtakes"));
  CHECK(overtaken.contains("-message.few.plain.oldest"));
  // Entropy values, ports, streams, controllers.
  const auto path = [](unsigned n, log::EvState from, log::EvState to) {
    return log::Event{
        log::EventKind::Path, kQp, {ev(n), static_cast<uint64_t>(from), static_cast<uint64_t>(to), 4, 0, 0}};
  };
  CHECK(changed({{.name = "in.trim", .before = {path(4, log::EvState::Good, log::EvState::Skip)}}}) ==
        Names{"+ev.good-skip-trim"});  // the life's NACKs name it
  CHECK(changed({{.name = "in.trim", .before = {path(9, log::EvState::Good, log::EvState::Skip)}}}) ==
        Names{"+ev.good-skip-mark"});
  CHECK(changed({{.name = "in.trim", .before = {path(4, log::EvState::Good, log::EvState::Bad)}}}) ==
        Names{"+ev.good-bad"});
  CHECK(changed({{.name = "in.trim", .before = {path(9, log::EvState::Skip, log::EvState::SkipTwice)}}}) ==
        Names{"+ev.skip-skip2-mark"});
  // A grant names no window: between two answers it changes none.
  const auto told = [](log::CcKind kind, uint64_t window) {
    return log::Event{log::EventKind::Cc, 0, {7, log::CcTold{.kind = kind}.pack(), 4096, 0, 0, window}};
  };
  using enum log::CcKind;
  CHECK(changed({{.name = "in.trim",
                  .before = {told(Begins, 9000), told(Granted, 0), told(Ack, 9000), told(Returned, 0), told(Nack, 8000),
                             told(Granted, 0), told(Ack, 8100)}}}) == Names{"+told.begins.stays", "+told.granted.stays",
                                                                            "+told.ack.stays", "+told.returned.stays",
                                                                            "+told.nack.shrinks", "+told.ack.grows"});
  CHECK(changed({{.name = "in.trim", .before = {log::Port{1, false}, log::Port{1, true}}}}) ==
        Names{"+planes.own.one"});
  const auto count = [](const char* name, uint64_t value) { return log::Body{log::Counter{name, value}}; };
  CHECK(changed({{.name = "in.trim",
                  .before = {count("stream rx_lane[1].desc>rx_check moved", 3),
                             count("stream rx_lane[1].desc>rx_check blocked", 2),
                             count("stream rx_lane[1].desc>rx_check cycles", 5), count("rto", 4), count("dup", 0)}}}) ==
        Names{"+stream.rx_lane.desc.moved", "+stream.rx_lane.desc.waited", "+counter.rto"});
}
