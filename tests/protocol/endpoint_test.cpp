// SPDX-License-Identifier: Apache-2.0
#include "protocol/endpoint.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::endpoint_test {

TEST_CASE("ids name the kind of a request, its number, and the destination of an update", "[protocol][endpoint]") {
  CHECK(ep_update_id(1, 3, 8) == 0x0103);
  CHECK(ep_update_id(0x7f, 0x1ff, 8) == 0x3fff);
  CHECK(ep_update_id(1, 0xfff, 12) == 0x1fff);
  CHECK(ep_update_id(6, 0x1001, 12) == 0x2001);
  CHECK(ep_probe_id(EpKind::ControllerProbe, 5) == 0x4005);
  CHECK(ep_probe_id(EpKind::ReverseProbe, 0x4001) == 0x8001);
}

TEST_CASE("an update's id has as many bits for destinations as there are, eight at least", "[protocol][endpoint]") {
  CHECK(ep_update_dest_bits(2) == 8);
  CHECK(ep_update_dest_bits(256) == 8);
  CHECK(ep_update_dest_bits(512) == 9);
  CHECK(ep_update_dest_bits(4096) == 12);
  CHECK(ep_update_seq(64, 8) == 0);
  CHECK(ep_update_seq(63, 8) == 63);
  CHECK(ep_update_seq(5, 12) == 1);
}

TEST_CASE("bit N of the mask is port N, counted from 1, or plane N", "[protocol][endpoint]") {
  CHECK(ep_mask_of_planes(0b1011, false) == 0b10110);
  CHECK(ep_mask_of_planes(0b1011, true) == 0b1011);
  CHECK(ep_planes_of_mask(0b10110, 4, false) == 0b1011);
  CHECK(ep_planes_of_mask(0b10110, 4, true) == 0b0110);
  CHECK(ep_planes_of_mask(0xffffffff, 2, false) == 0b11);  // ports that we have not
  CHECK(ep_planes_of_mask(1, 2, false) == 0);              // bit 0 is unused
}

TEST_CASE("updates take turns over the planes both ends can use, else over our own", "[protocol][endpoint]") {
  CHECK(ep_update_plane(0, 0xff, 0xff, 8) == 0);
  CHECK(ep_update_plane(5, 0xff, 0xff, 8) == 5);
  CHECK(ep_update_plane(5, 0xff, 0x0c, 8) == 2);  // past the end
  CHECK(ep_update_plane(3, 0xff, 0x0c, 8) == 3);
  CHECK(ep_update_plane(3, 0xf0, 0x0f, 8) == 4);  // the peer's word may be old
  CHECK(ep_update_plane(1, 0b01, 0b11, 2) == 0);
}

TEST_CASE("the entropy of reverse path probes: a Galois register that does not stop", "[protocol][endpoint]") {
  CHECK(ep_entropy_next(1) == 0xA3000000);
  CHECK(ep_entropy_next(0xA3000000) == 0x51800000);
  CHECK(ep_entropy_next(0x80000001) == 0xE3000000);
  uint32_t v = 1;
  unsigned n = 0;
  do {
    v = ep_entropy_next(v);
    ++n;
  } while (v > 1 && n < 1'000'000);
  CHECK(n == 1'000'000);  // its period is longer than this
}

TEST_CASE("an ERTH has its fields where the specification puts them", "[protocol][endpoint]") {
  const ControlPacket c = build_endpoint_request(0x4321, wire::ErthOp::EvProbe, 0x0a0b0c0d, 0xff1122, false);
  CHECK(c.opcode == 0xD8);
  CHECK(c.psn == 0x4321);
  CHECK(c.ext_len == 16);
  const uint8_t want[16] = {0, 1, 0, 0, 0x0a, 0x0b, 0x0c, 0x0d, 0, 0, 0, 0, 0x11, 0x22, 0, 1};
  for (unsigned i = 0; i < kMaxExtension; ++i) CHECK(c.ext[i] == (i < 16 ? want[i] : 0));
}

TEST_CASE("an ERTH stamped in microseconds", "[protocol][endpoint]") {
  const ControlPacket c = build_endpoint_request(0x4321, wire::ErthOp::PortStatus, 0, 0xf'1238, true);
  CHECK(wire::load_be<4>(&c.ext[12]) == 0xe247'8001);  // 0xf1238 / 8 = 0x1e247; tsr 1, ftype 1
}

}  // namespace mrc::test::endpoint_test
