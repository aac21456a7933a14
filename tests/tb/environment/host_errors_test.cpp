// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/host_errors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <optional>
#include <set>
#include <string>

#include "tb/environment/host_reads.hpp"
#include "tests/protocol/rx_frames.hpp"
#include "tests/tb/environment/two_models.hpp"
#include "wire/bytes.hpp"

namespace mrc::test::host_errors_test {

using namespace mrc::tb;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

constexpr const Preset& kTiny = *find_preset("tiny");

/// QPNs of the peers: QPs 0 to 3 talk to 2, 0, 3, 1.
const std::vector<uint32_t> kPeers = {18, 16, 19, 17};

/// A WRITE of so many bytes to a QP, on plane 1, with the right ICRC.
Frame write(unsigned qp, size_t bytes) {
  test::Packet p;
  p.dqp = kQpnBase + qp;
  p.ext = test::write_ext(1, 2, 3, 4, 5);
  p.payload = test::counting(bytes);
  Frame frame;
  frame.bytes = p.frame();
  frame.plane = 1;
  return frame;
}

std::string sent(HostReads& reads, Frame& frame) { return reads.sent(frame, look_at(frame.bytes)); }

void complement(Frame& frame) {
  for (size_t i = frame.bytes.size() - 4; i < frame.bytes.size(); ++i) frame.bytes[i] ^= 0xff;
}

constexpr uint32_t info(QpState state, CqStatus status) {
  return csr::kQpInfoStatus.set(csr::kQpInfoState.set(0, static_cast<uint32_t>(state)), static_cast<uint32_t>(status));
}

std::string problem(const std::function<void(mrc_pins_out&, uint64_t)>& shows,
                    const std::function<void(mrc_pins_in&)>& reported = {}) {
  Scenario s = *find_scenario("host-errors");
  s.read_errors = 0.01;
  constexpr uint64_t kSeed = 3;  // one in which the host gives up a QP that goes on for a while
  TwoModels two(kTiny, s, 600, kSeed);
  two.shows = shows;
  two.reported = reported;
  two.run();
  CHECK(two.peer.problem().empty());
  return two.dut.problem();
}

}  // namespace

TEST_CASE("a frame with a line that could not be read has the complement of its ICRC, and no other",
          "[tb][host_errors]") {
  for (unsigned bad = 0; bad < 8; ++bad) {  // 70 bytes: lines of 32, 32, 6
    for (const bool wrong : {false, true}) {
      INFO("lines " << bad << ", complement " << wrong);
      HostReads reads(kTiny, kPeers, true, false);
      for (unsigned line = 0; line < 3; ++line) reads.given(1, 3, (bad >> line & 1) != 0);
      Frame frame = write(1, 70);
      if (wrong) complement(frame);
      const std::string said = sent(reads, frame);
      CHECK((frame.fate == kFateSpoiled) == (bad != 0));
      CHECK(reads.spoiled() == (bad != 0));
      if (wrong == (bad != 0)) {
        CHECK(said.empty());
      } else {
        CHECK_THAT(said, StartsWith("the ICRC of a frame to QP "));
      }
    }
  }
  // A bit of it is not enough; a frame behind it is as ever.
  HostReads reads(kTiny, kPeers, true, false);
  reads.given(1, 3, true);
  reads.given(1, 3, false);
  reads.given(0, 3, true);  // another plane's
  Frame first = write(1, 4), second = write(1, 4);
  first.bytes.back() ^= 1;
  CHECK_THAT(sent(reads, first), ContainsSubstring(": a line of it could not be read"));
  CHECK(sent(reads, second).empty());
  CHECK(second.fate == 0);
}

TEST_CASE("lines are asked for in the name of their packet's QP, and as many as it has", "[tb][host_errors]") {
  HostReads reads(kTiny, kPeers, false, false);
  for (unsigned i = 0; i < 3; ++i) reads.given(1, 3, false);
  Frame frame = write(1, 33);
  CHECK(sent(reads, frame).empty());
  Frame next = write(2, 1);
  CHECK_THAT(sent(reads, next), ContainsSubstring(" was asked for in the name of QP 3"));
  CHECK_THAT(sent(reads, next), ContainsSubstring(" has 1 bytes of payload, more than the host gave"));
  reads.given(1, 4, false);
  CHECK_THAT(sent(reads, next), ContainsSubstring(" was asked for in the name of QP 4"));
}

TEST_CASE("a QP that the host gave up is in ERROR soon, with what it said first", "[tb][host_errors]") {
  Scenario s;
  s.write_errors = 1;
  std::set<unsigned> qps, statuses;
  std::optional<HostErrors> made;
  CqStatus first{};
  uint64_t was = 0;
  for (uint64_t seed = 1; first != CqStatus::HostWrite; ++seed) {  // four of five do
    REQUIRE(seed < 20);
    HostErrors& host = made.emplace(kTiny, s, Rng(seed, "test"));
    bool said = false;
    for (unsigned i = 0; i < 200; ++i) host.wrote(2, 10 * i);
    CHECK_FALSE(host.quiet());
    CHECK(host.says(0) == nullptr);
    CHECK_FALSE(host.reads(1, 0));  // this one can read
    for (uint64_t cycle = 0; !host.quiet(); ++cycle) {
      const Qperr* says = host.says(cycle);
      if (says == nullptr) continue;
      CHECK(host.says(cycle + 1) == says);
      qps.insert(says->qp);
      statuses.insert(static_cast<unsigned>(says->status));
      if (says->qp == 2 && !said) {
        said = true;
        first = says->status;
        was = cycle;
      }
      host.taken(cycle);
    }
  }
  HostErrors& host = *made;
  CHECK(qps.contains(2));
  CHECK(qps.size() > 10);
  for (const unsigned qp : qps) CHECK((qp == 2 || qp >= kTiny.num_qps));
  CHECK(statuses.contains(static_cast<unsigned>(CqStatus::HostWrite)));
  CHECK(statuses.size() > 10);
  CHECK(host.given_up() >= 200);
  CHECK(host.info(2, info(QpState::Rts, {}), was + 100).empty());
  CHECK_THAT(host.info(2, info(QpState::Rts, {}), was + 1000), StartsWith("the host gave QP 2 up in cycle "));
  CHECK(host.info(2, info(QpState::Error, CqStatus::HostWrite), was + 1000).empty());
  CHECK(host.info(2, info(QpState::Error, CqStatus::RetryExceeded), was + 1000).empty());
  CHECK(host.info(2, info(QpState::Error, CqStatus::HostRead), was + 1000) ==
        "QP 2 has status 0x87 (HostRead), the host said 0x88 (HostWrite) first");
  CHECK(host.info(1, info(QpState::Error, CqStatus::HostRead), was + 1000) ==
        "QP 1 has status 0x87 (HostRead), the host did not give it up");
  host.forget(2);
  CHECK(host.info(2, info(QpState::Rts, {}), was + 1000).empty());
}

TEST_CASE("a NIC that takes no notice of its host's errors is found without a model", "[tb][host_errors]") {
  CHECK(problem({}) == "");
  // A line that could not be read: its packet has a right ICRC, or another one a wrong one.
  CHECK_THAT(problem({}, [](mrc_pins_in& in) { in.host_rsp_err = 0; }), StartsWith("the ICRC of a frame to QP "));
  CHECK_THAT(problem({}, [](mrc_pins_in& in) { in.host_rsp_err = 1; }), StartsWith("the ICRC of a frame to QP "));
  // The host gives a QP up: nothing happens, or something else.
  CHECK_THAT(problem([](mrc_pins_out& out, uint64_t) { out.host_fail_ready = 1; },
                     [](mrc_pins_in& in) { in.host_fail_valid = 0; }),
             StartsWith("the host gave QP "));
  CHECK_THAT(problem({},
                     [](mrc_pins_in& in) {
                       Qperr e = Qperr::unpack(in.host_fail);
                       e.status = e.status == CqStatus::HostRead ? CqStatus::HostWrite : CqStatus::HostRead;
                       if (in.host_fail_valid) e.pack(in.host_fail);
                     }),
             ContainsSubstring(" has status "));
  // Reads are for another QP.
  CHECK_THAT(problem([](mrc_pins_out& out, uint64_t) {
               if (!out.host_rd_valid) return;
               Rdreq rd = Rdreq::unpack(out.host_rd);
               rd.qp ^= 1;
               rd.pack(out.host_rd);
             }),
             ContainsSubstring(" was asked for in the name of QP "));
}

}  // namespace mrc::test::host_errors_test
