// SPDX-License-Identifier: Apache-2.0
#include "reference/waivers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "reference/coverage.hpp"

namespace mrc::test::waivers_test {

using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kGood =
    "[[waiver]]\nrule = \"wire.icrc\"\nreason = \"not in this drop\"\nwho = \"A. Meier\"\nuntil = 2026-11-23\n";

std::string refusal(const std::string& text) {
  try {
    ref::read_waivers(text, "w.toml", "2026-11-23");
  } catch (const InputError& wrong) {
    return wrong.what();
  }
  return "taken";
}

std::string without(const char* key) {
  std::string text = kGood;
  const auto at = text.find(std::string(key) + " =");
  return text.erase(at, text.find('\n', at) + 1 - at);
}

}  // namespace

TEST_CASE("Waivers have a rule, a reason, somebody and a last day, on which they still hold", "[reference][waivers]") {
  const ref::Waivers read = ref::read_waivers(kGood, "w.toml", "2026-11-23");
  REQUIRE(read.size() == 1);
  CHECK(ref::to_text(read.at("wire.icrc")) == "not in this drop (A. Meier, until 2026-11-23)");
  CHECK_THROWS_AS(ref::read_waivers(kGood, "w.toml", "2026-11-24"), InputError);
  CHECK_THROWS_WITH(ref::read_waivers(kGood, "w.toml", "2027-01-01"),
                    "w.toml:5:9: the waiver of wire.icrc by A. Meier ran out: it held until 2026-11-23.");
  for (const char* key : {"rule", "reason", "who", "until"})
    CHECK_THAT(refusal(without(key)), ContainsSubstring(std::string("a waiver without ") + key));
  CHECK_THAT(refusal(std::string(kGood) + kGood), ContainsSubstring("a second waiver of wire.icrc"));
  CHECK_THAT(refusal(std::string(kGood) + "when = 1\n"), ContainsSubstring("unknown key when"));
  CHECK_THAT(refusal("[[waivers]]\n"), ContainsSubstring("unknown key waivers"));
  CHECK_THAT(refusal("waiver = 3\n"), ContainsSubstring("waiver"));
  CHECK_THAT(refusal("[[waiver]]\nrule = \"wire.icr\"\n"), ContainsSubstring("did you mean wire.icrc?"));
  CHECK_THAT(refusal("[[waiver]]\nuntil = \"2026-11-23\"\n"), ContainsSubstring("until is no date"));
  CHECK_THAT(refusal("[[waiver]]\nreason = \"\"\n"), ContainsSubstring("reason is no text, or an empty one"));
  CHECK(ref::today().size() == 10);
}

TEST_CASE("Coverage counts rules where they are applied, and sums", "[reference][coverage]") {
  log::Record down{0, 0, log::Port{1, false}}, up{0, 0, log::Port{1, true}};
  ref::Situation situation;
  ref::Report report(0);
  const auto apply = [&] {
    report.situation(situation.index());
    report.ok(ref::Rule::WireIcrc);
  };
  situation.later(1);
  apply();
  situation.record(down, 2);
  apply();
  situation.later(3);
  ref::Finding finding;
  finding.rule = ref::Rule::WireIcrc;
  report.situation(situation.index());
  report.broken(finding);
  situation.record(up, 4);
  apply();
  ref::Coverage one;
  one.add(report, "model");
  one.add_run();
  using enum ref::Fares;
  CHECK(one.applied(ref::Rule::WireIcrc) == 4);
  CHECK(one.applied(ref::Rule::WireIcrc, ref::At::Later, Well) == 1);
  CHECK(one.applied(ref::Rule::WireIcrc, ref::At::Later, PortDown) == 1);
  CHECK(one.applied(ref::Rule::WireIcrc, ref::At::Port, PortDown) == 1);
  CHECK(one.applied(ref::Rule::WireIcrc, ref::At::Port, Well) == 1);
  CHECK(one.applied(ref::Rule::WireTver) == 0);

  ref::Coverage sum = ref::read_coverage(one.to_json(), "a.json");
  CHECK(sum.to_json() == one.to_json());
  sum.merge(one);
  CHECK(sum.runs() == 2);
  CHECK(sum.applied(ref::Rule::WireIcrc, ref::At::Port, PortDown) == 2);
  CHECK_THAT(sum.to_text(true), ContainsSubstring("wire.icrc") && ContainsSubstring("  port") &&
                                    ContainsSubstring("never applied:\n") && ContainsSubstring("2 runs, 1 of "));

  std::string other = one.to_json();
  other.replace(other.find(ref::rules_version()), 16, "0123456789abcdef");
  CHECK_THROWS_WITH(ref::read_coverage(other, "a.json"), ContainsSubstring("made with other rules"));
  for (const char* wrong : {"", "[]", "{}", "{\"coverage\":1}"})
    CHECK_THROWS_WITH(ref::read_coverage(wrong, "a.json"), ContainsSubstring("a.json: no coverage of rules"));
  std::string strange = one.to_json();
  strange.replace(strange.find("time passed, well"), 17, "time passed, ill!");
  CHECK_THROWS_WITH(ref::read_coverage(strange, "a.json"), ContainsSubstring("no situation"));
}

TEST_CASE("Situations: what goes or comes again is a loss for a while, a QP in ERROR counts more",
          "[reference][coverage]") {
  ref::Situation situation;
  log::Frame frame;
  wire::Packet packet = wire::make_packet(wire::Opcode::WriteOnly, wire::Encapsulation::Ipv6);
  const auto is = [&](ref::At at, ref::Fares fares) {
    return ref::Situation::at(situation.index()) == at && ref::Situation::fares(situation.index()) == fares;
  };
  situation.frame(frame, packet, 0);
  CHECK(is(ref::At::DataCame, ref::Fares::Well));
  frame.sent = true;
  packet.bth->rtx = 1;
  situation.frame(frame, packet, 1000);
  CHECK(is(ref::At::RepeatSent, ref::Fares::Loss));
  situation.later(50'000'000);
  CHECK(is(ref::At::Later, ref::Fares::Loss));
  situation.later(51'000'000);
  CHECK(is(ref::At::Later, ref::Fares::Well));
  log::Qp qp;
  qp.qp = 17;
  qp.state = log::QpState::Error;
  situation.record({52'000'000, 0, qp}, 52'000'000);
  CHECK(is(ref::At::Verb, ref::Fares::Failed));
  situation.frame(frame, wire::make_packet(wire::Opcode::Sack, wire::Encapsulation::Ipv6), 53'000'000);
  CHECK(is(ref::At::SackSent, ref::Fares::Failed));
  qp.state = log::QpState::Reset;
  situation.record({54'000'000, 0, qp}, 54'000'000);
  CHECK(is(ref::At::Verb, ref::Fares::Well));
}

}  // namespace mrc::test::waivers_test
