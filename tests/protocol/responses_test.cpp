// SPDX-License-Identifier: Apache-2.0
#include "protocol/responses.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <utility>

namespace mrc::test::responses_test {

TEST_CASE("the SACK for a probe carries the probe's id instead of an offset", "[ack_gen]") {
  Sack s{.cack_psn = 0x1200, .psn = 0x1234, .base = 0x1201, .m = 1};
  const auto first = [](const ControlPacket& c) { return wire::load_be<4>(c.ext.data()); };
  CHECK(first(build_sack(s, {})) == 0x00200034);  // m 1, offset 0x0034
  s.pr = true;
  CHECK(first(build_sack(s, {})) == 0x00221234);  // m 1, pr, id 0x1234
  CHECK(build_sack(s, {}).psn == 0x1200);
}

TEST_CASE("a SACK carries the window and the time stamp as given", "[ack_gen]") {
  const ControlPacket c = build_sack({.tx_timestamp = 0xa1b2, .mpr = 7}, {});
  CHECK(c.ext[16] == 0);  // cc_type, cc_flags
  CHECK(c.ext[17] == 7);
  CHECK(c.ext[28] == 0xa1);
  CHECK(c.ext[29] == 0xb2);
}

TEST_CASE("the answer to an endpoint request: op and time stamp, all else zero", "[ack_gen]") {
  const ControlPacket c = build_endpoint_response(0x4321, 1, 0x0708, false);
  CHECK(c.opcode == 0xD9);
  CHECK(c.psn == 0x4321);
  CHECK(c.ext_len == 36);
  for (unsigned i = 0; i < kMaxExtension; ++i) {
    CAPTURE(i);
    CHECK(c.ext[i] == (i == 1 ? 1 << 2 : i == 28 ? 7 : i == 29 ? 8 : 0));
  }
}

TEST_CASE("service time moves a time stamp forward, if the QP may and the packet had one", "[ack_gen]") {
  // 0xfff0 to 0x10005, across the wrap
  CHECK(reflected_time(100, true, 0xfff0, true, 0x5'0005, false) == 100 + 21);
  CHECK(reflected_time(100, true, 0xfff0, false, 0x5'0005, false) == 100);
  CHECK(reflected_time(0xffff, true, 0xfff0, true, 0xfff2, false) == 1);
  CHECK(reflected_time(0xffff, false, 0xfff0, true, 0xfff2, false) == 0xffff);
}

TEST_CASE("a response prefers its plane, then one that both ends can use, then any that is up", "[ack_gen]") {
  CHECK(response_plane(3, 0xff, 0xff) == 3);
  CHECK(response_plane(3, 0xf0, 0xff) == 4);
  CHECK(response_plane(3, 0xff, 0xc0) == 6);
  CHECK(response_plane(3, 0xf8, 0x60) == 5);
  CHECK(response_plane(3, 0x0e, 0xf0) == 1);  // the peer hears nothing that we could send: its word may be old
  CHECK(response_plane(3, 0, 0xff) == 0);
}

TEST_CASE("a question goes on the planes that both ends can use, in turn", "[ack_gen][A-84]") {
  const auto next = [](unsigned turn, unsigned planes, unsigned up, unsigned peer) {
    const StatePlane s = state_plane(turn, planes, up, peer);
    return std::pair{s.plane, s.turn};
  };
  CHECK(next(1, 8, 0xff, 0x81) == std::pair{7u, 0u});
  CHECK(next(0, 8, 0xff, 0x81) == std::pair{0u, 1u});
  CHECK(next(3, 8, 0xff, 0xff) == std::pair{3u, 4u});
  CHECK(next(7, 8, 0x70, 0xcf) == std::pair{6u, 7u});
  CHECK(next(2, 4, 0b1001, 0xff) == std::pair{3u, 0u});
  CHECK(next(5, 8, 0x0f, 0xf0).second == 6);  // no plane: response_plane() has one
  CHECK(next(0, 1, 1, 0xff) == std::pair{0u, 0u});
}

TEST_CASE("the EETH's op in bits 5:4", "[ack_gen]") {
  const ControlPacket c = build_endpoint_response(0, 1, 0, true);
  for (unsigned i = 0; i < kMaxExtension; ++i) CHECK(c.ext[i] == (i == 1 ? 0x10 : 0));
}

TEST_CASE("SACK and NACK without QPNs are the same otherwise", "[ack_gen]") {
  const PdcIds ids = PdcIds::of(21, 0xab3456, false), none = PdcIds::of(21, 0xab3456, true);
  const Sack s{.entropy = 0x01020304};
  const Nack n{.entropy = 0x01020304};
  const ControlPacket pairs[2][2] = {{build_sack(s, ids), build_sack(s, none)},
                                     {build_nack(n, ids), build_nack(n, none)}};
  for (const auto& [with, without] : pairs) {
    CHECK(wire::load_be<4>(&with.ext[8]) == 0x0015'3456);  // spdcid 16 + 5, dpdcid
    CHECK(wire::load_be<4>(&without.ext[4]) == 0x01020304);
    CHECK(wire::load_be<4>(&without.ext[8]) == 0);
    ControlPacket same = without;
    std::copy_n(&with.ext[8], 4, &same.ext[8]);
    CHECK(with == same);
  }
}

}  // namespace mrc::test::responses_test
