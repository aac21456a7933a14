// SPDX-License-Identifier: Apache-2.0
#include "cover/watcher.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "reference/run.hpp"
#include "tests/reference/life.hpp"

namespace mrc::test::watcher_test {
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
  const std::set<std::string> right = {"back.address.dropped.new",
                                       "class.nic.again.same",
                                       "class.nic.data.same",
                                       "class.nic.probe.same",
                                       "control.got.ack",
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
                                       "data.got.only-imm.new",
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
                                       "empty.got.immediate.alone",
                                       "empty.got.immediate.behind-plain",
                                       "empty.sent.immediate.alone",
                                       "empty.sent.immediate.before-plain",
                                       "empty.sent.immediate.behind-immediate",
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
                                       "wimm.free.immediate",
                                       "wimm.free.nothing",
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
  const Names late = changed({{.name = "in.first", .drop = true},
                              {.name = "marked.sack", .drop = true},
                              {.name = "nothing.cqe", .drop = true}});
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
  const auto reported = [](log::CcKind kind, uint64_t window) {
    return log::Event{log::EventKind::Cc, 0, {7, log::CcNotified{.kind = kind}.pack(), 4096, 0, 0, window}};
  };
  using enum log::CcKind;
  CHECK(changed({{.name = "in.trim",
                  .before = {reported(Begins, 9000), reported(Granted, 0), reported(Ack, 9000), reported(Returned, 0),
                             reported(Nack, 8000), reported(Granted, 0), reported(Ack, 8100)}}}) ==
        Names{"+told.begins.stays", "+told.granted.stays", "+told.ack.stays", "+told.returned.stays",
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

TEST_CASE("what collectives and their switches do has its bins", "[cover][A-19][A-62][A-79][A-80][A-20]") {
  using Names = std::set<std::string>;
  // A message of no bytes: lost and sent again, cut, twice, ahead of others.
  const auto data = [](auto edit) { return Change{.name = "in.nothing", .packet = edit}; };
  CHECK(changed({data([](wire::Packet& p) { p.ipv6->dscp = 12; })}).contains("+nought.got.trimmed"));
  CHECK(changed({data([](wire::Packet& p) { p.bth->rtx = 1; })}).contains("+nought.got.again"));
  CHECK(changed({data([](wire::Packet& p) { p.bth->psn += 4; })}).contains("+nought.got.ahead"));
  CHECK(changed({data([](wire::Packet& p) { p.bth->psn += 124; })}).contains("+nought.got.edge"));
  CHECK(changed({{.name = "in.nothing", .twice = true}}).contains("+nought.got.twice"));
  CHECK(changed({{.name = "z", .packet = [](wire::Packet& p) { p.bth->rtx = 1; }}}).contains("+nought.sent.again"));
  // Immediates with as many before them as may be.
  const auto most = [](uint32_t number) {
    return Change{.name = "qp.*", .record = [=](log::Record& r) { std::get<log::Qp>(r.body).max_wimm = number; }};
  };
  CHECK(changed({most(1)}) == Names{"+wimm.last.immediate", "+wimm.last.nothing", "+wimm.waited.nothing",
                                    "-wimm.free.immediate", "-wimm.free.nothing"});
  // What came back is told by its code point, or is an older transmission; who learns of it sends it again for that.
  CHECK(changed({{.name = "back", .packet = [](wire::Packet& p) { p.bth->rtx = 1; }}}) ==
        Names{"+back.address.dropped.again", "-back.address.dropped.new"});
  const auto profile = [](auto edit) {
    return Change{.name = "device", .record = [=](log::Record& r) {
                    ref::Profile p = life_profile();
                    edit(p.settings);
                    std::get<log::Device>(r.body).profile = ref::to_json(p);
                  }};
  };
  const auto of = [&](auto edit, std::vector<Change> changes = {}) {
    changes.push_back(profile(edit));
    return changed(changes);
  };
  CHECK(of([](ref::Settings& s) { s.returned = ref::kLearnReturned; }).contains("+back.address.learned.new"));
  CHECK(of([](ref::Settings& s) { s.returned = ref::kNotDistinct; }).contains("+back.address.peers.new"));
  const Names marked = of(
      [](ref::Settings& s) {
        s.returned_valid = true;
        s.dscp_returned = 11;
      },
      {{.name = "back", .packet = [](wire::Packet& p) { p.ipv6->dscp = 11; }}});
  CHECK(marked.contains("-back.address.dropped.new"));
  CHECK(marked.contains("+back.code.dropped.new"));
  const auto returns = [](wire::Packet& p) {
    p = wire::make_packet(wire::Opcode::WriteOnly, wire::Encapsulation::Ipv6, true);
    p.ipv6->src = kOwn;
    p.ipv6->dst = kPeer;
    p.ipv6->dscp = 12;
    p.bth->dqp = kPeerQp;
    p.bth->psn = (kSqPsn + 3) & 0xFFFFFF;
    wire::complete(p);
  };
  CHECK(of([](ref::Settings& s) { s.returned = ref::kLearnReturned; }, {{.name = "b.nack", .packet = returns}})
            .contains("+retry.returned.second"));
  // Code points that are not the NIC's.
  CHECK(changed({{.name = "a.first", .packet = [](wire::Packet& p) { p.ipv6->dscp = 1; }}})
            .contains("+class.own.data.same"));
  // EVs that are skipped for a time: data left while none was GOOD.
  const auto time = [](ref::Settings& s) { s.skip_mode = ref::kSkipModeTime; };
  const auto skip = [](unsigned n, log::EvState from, log::EvState to) {
    return log::Body{log::Event{
        log::EventKind::Path, kQp, {ev(n), static_cast<uint64_t>(from), static_cast<uint64_t>(to), n, 0, 0}}};
  };
  std::vector<log::Body> all;
  for (unsigned n = 0; n < 8; ++n) all.push_back(skip(n, log::EvState::Good, log::EvState::Skip));
  CHECK(of(time, {{.name = "next", .before = all}}).contains("+skip.time.used"));
  all.back() = skip(0, log::EvState::Skip, log::EvState::Good);
  const Names one = of(time, {{.name = "next", .before = all}});
  CHECK(one.contains("+skip.time.good"));
  CHECK_FALSE(one.contains("+skip.time.used"));
}

}  // namespace mrc::test::watcher_test
