// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/line_rate.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace mrc::test::line_rate_test {

using namespace mrc::tb;
using Catch::Approx;

namespace {
const Preset& kAsic = *find_preset("asic800");
const Preset& kTiny = *find_preset("tiny");
}  // namespace

TEST_CASE("4096 bytes behind SRv6 without time stamps: 769.6 of 800 Gb/s", "[tb][bench][limits]") {
  // 14 + 40 + 40 + 8 + 12 + 4 + 16 + 4096 + 4 = 4234, with preamble 8, FCS 4 and gap 12: 4258
  REQUIRE(data_frame_bytes(4096, Encap::Srv6, false) == 4234);
  REQUIRE(capacity_gbps(kAsic) == 800);
  // 800 * 4096 / 4258 = 769.563...
  REQUIRE(goodput_limit(kAsic, {4096, Encap::Srv6, false}, 0) == Approx(769.5632).epsilon(1e-6));
}

TEST_CASE("each header costs what it weighs", "[tb][bench][limits]") {
  REQUIRE(data_frame_bytes(4096, Encap::Ipv6, false) == 4194);                              // 40 less
  REQUIRE(data_frame_bytes(4096, Encap::Srv6, true) == 4238);                               // TSETH 4
  REQUIRE(data_frame_bytes(4096, Encap::Srv6Srh, false) == 4258);                           // SRH 24
  REQUIRE(data_frame_bytes(65, Encap::Ipv6, false) == 14 + 40 + 8 + 12 + 4 + 16 + 68 + 4);  // padded to 68
  REQUIRE(data_frame_bytes(64, Encap::Srv6, false) == 202);
  // SACK 36, NACK 20, ACK 4 behind Ethernet 14, IPv6 40, UDP 8, BTH 12, ICRC 4
  REQUIRE(control_frame_bytes(36, Encap::Ipv6) == 114);
  REQUIRE(control_frame_bytes(20, Encap::Ipv6) == 98);
  REQUIRE(control_frame_bytes(4, Encap::Srv6) == 122);
}

TEST_CASE("small packets: the limit is that of the headers", "[tb][bench][limits]") {
  // 64 bytes behind SRv6: 202 + 24 = 226 on the wire: 800 * 64 / 226 = 226.549
  REQUIRE(goodput_limit(kAsic, {64, Encap::Srv6, false}, 0) == Approx(226.5487).epsilon(1e-6));
  // without an outer header 162 + 24 = 186: 800 * 64 / 186 = 275.269
  REQUIRE(goodput_limit(kAsic, {64, Encap::Ipv6, false}, 0) == Approx(275.2688).epsilon(1e-6));
  // tiny: 2 planes of 100 Gb/s: 200 * 512 / (512 + 138 + 24) = 151.929
  REQUIRE(goodput_limit(kTiny, {512, Encap::Srv6, false}, 0) == Approx(151.9288).epsilon(1e-6));
}

TEST_CASE("control frames leave less for data", "[tb][bench][limits]") {
  // 8 Gb/s of SACKs of 800: 792 * 4096 / 4258 = 761.8676
  REQUIRE(goodput_limit(kAsic, {4096, Encap::Srv6, false}, 8) == Approx(761.8676).epsilon(1e-6));
  REQUIRE(goodput_limit(kAsic, {4096, Encap::Srv6, false}, 800) == 0);
}

TEST_CASE("no frame takes less than 84 bytes of the wire", "[tb][bench][limits]") {
  REQUIRE(wire_bytes(60) == 84);
  REQUIRE(wire_bytes(20) == 84);
  REQUIRE(wire_bytes(61) == 85);
  REQUIRE(wire_bytes(data_frame_bytes(4096, Encap::Srv6, false)) == 4258);
}

TEST_CASE("the last packet of a message carries its immediate", "[tb][bench][limits]") {
  // A frame of 202 bytes takes 202 + 24 of the wire, IMMDT is 4.
  REQUIRE(data_wire_bytes({64, Encap::Srv6, false}) == 226);
  REQUIRE(data_wire_bytes({64, Encap::Srv6, false, 1}) == 230);
  REQUIRE(data_wire_bytes({4096, Encap::Srv6Srh, true, 64}) == Approx(4258 + 4 + 24 + 4.0 / 64));
  REQUIRE(goodput_limit(kAsic, {64, Encap::Srv6, false, 1}, 0) == Approx(800.0 * 64 / 230));
}

TEST_CASE("required ratios", "[tb][bench][limits]") {
  REQUIRE(required_ratio(4096) == 0.995);
  REQUIRE(required_ratio(4095) == 0.99);
  REQUIRE(required_ratio(512) == 0.99);
  REQUIRE(required_ratio(511) == 0.98);
  REQUIRE(required_ratio(64) == 0.98);
}

}  // namespace mrc::test::line_rate_test
