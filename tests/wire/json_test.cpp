// SPDX-License-Identifier: Apache-2.0
#include "wire/json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/wire/samples.hpp"
#include "wire/decode.hpp"

namespace mrc::test::json_test {

using namespace mrc::wire;
using nlohmann::json;

namespace {

std::vector<uint8_t> encode_one(const std::string& text) {
  const auto frames = from_json(text, "x.json");
  if (!frames) FAIL(frames.error().sentence());
  REQUIRE(frames->size() == 1);
  return (*frames)[0].bytes;
}

void expect_error(const std::string& text, const std::string& sentence) {
  const auto frames = from_json(text, "x.json");
  REQUIRE_FALSE(frames);
  CHECK(frames.error().sentence() == "x.json:" + sentence);
  CHECK(frames.error().offset <= text.size());
  CHECK_FALSE(frames.error().remedy.empty());
}

json decoded(const std::vector<uint8_t>& frame) { return json::parse(to_json(decode(frame), frame)); }

}  // namespace

TEST_CASE("every kind of packet becomes JSON and the same bytes again", "[wire.json.roundtrip]") {
  std::mt19937 rng(41);
  for (const auto& frame : mrc::test::all_kinds(rng)) {
    CHECK(encode_one(to_json(decode(frame), frame)) == frame);
    auto bad = frame;
    bad.back() ^= 0xFF;
    CHECK(decoded(bad)["error"]["name"] == "bad_icrc");
    CHECK(encode_one(to_json(decode(bad), bad)) == bad);
  }
}

TEST_CASE("damaged, trimmed and cut packets become JSON and the same bytes again", "[wire.json.roundtrip]") {
  std::mt19937 rng(42);
  const auto kinds = mrc::test::all_kinds(rng);
  for (int round = 0; round < 3000; ++round) {
    auto frame = kinds[rng() % kinds.size()];
    if (rng() % 2) frame[15] = static_cast<uint8_t>((frame[15] & 0x3F));
    if (rng() % 2) frame[14] = static_cast<uint8_t>((frame[14] & 0xF0) | 3);  // IPv6: DSCP 12, trimmed
    for (auto i = rng() % 3; i > 0; --i) frame[rng() % frame.size()] = static_cast<uint8_t>(rng());
    if (rng() % 2) frame.resize(1 + rng() % frame.size());
    CHECK(encode_one(to_json(decode(frame), frame)) == frame);
  }
}

TEST_CASE("fields have the names of the specification, integers, signed where signed", "[wire.json.names]") {
  Packet p = make_packet(Opcode::Sack, Encapsulation::Srv6);
  p.seth->ack_psn_offset = -3;
  p.seth->sack_offset = -4;
  p.seth->sack_bitmap = ~uint64_t{0};
  p.cc_state->rcvd_bytes = 0xABCDEF;
  p.set_entropy(0xC0001234);
  const json j = decoded(encode(p));
  CHECK(j["kind"] == "Reliability SACK");
  CHECK(j["dscp_class"] == "CONTROL");
  CHECK(j["entropy"] == 0xC0001234u);
  CHECK(j["outer_ipv6"]["next_header"] == 41);
  CHECK(j["ipv6"]["next_header"] == 17);
  CHECK(j["udp"]["dst_port"] == 4971);
  CHECK(j["bth"]["opcode"] == 0xDC);
  CHECK(j["seth"]["ack_psn_offset"] == -3);
  CHECK(j["seth"]["sack_offset"] == -4);
  CHECK(j["seth"]["sack_bitmap"] == ~uint64_t{0});
  CHECK(j["cc_state"]["rcvd_bytes"] == 0xABCDEF);
  CHECK(j["icrc"]["ok"] == true);
  CHECK_FALSE(j.contains("error"));
  CHECK_FALSE(j["bth"].contains("reserved4"));

  p.seth->pr = 1;
  CHECK(decoded(encode(p))["seth"]["probe_id"] == 0xFFFD);

  Packet w = make_packet(Opcode::WriteOnlyImm, Encapsulation::Ipv4, true);
  w.payload = {1, 2, 3};
  w.reth->dma_length = 3;
  w.reth->va = 0x8000000000000000;
  complete(w);
  const json k = decoded(encode(w));
  CHECK(k["reth"]["dma_length"] == 3);
  CHECK(k["reth"]["va"] == 0x8000000000000000u);
  CHECK(k["tseth"]["ftype"] == 1);
  CHECK(k["immdt"]["value"] == 0);
  CHECK(k["payload"] == "010203");
  CHECK(k["padding"] == "00");
  for (const char* key : {"eth", "ipv4", "udp", "bth", "meth", "tseth", "reth", "immdt", "icrc"})
    CHECK(k.contains(key));
}

TEST_CASE("each extension header has its key", "[wire.json.names]") {
  const std::pair<Opcode, const char*> keys[] = {{Opcode::Ack, "aeth"},
                                                 {Opcode::Nack, "neth"},
                                                 {Opcode::ProbeRequest, "peth"},
                                                 {Opcode::EndpointRequest, "erth"},
                                                 {Opcode::EndpointResponse, "eeth"}};
  for (const auto& [opcode, key] : keys) {
    CHECK(decoded(encode(make_packet(opcode, Encapsulation::Ipv6))).contains(key));
  }
  Packet n = make_packet(Opcode::Nack, Encapsulation::Ipv6);
  n.neth->reason = 0x0B;
  CHECK(decoded(encode(n))["neth"]["reason"] == 11);
}

TEST_CASE("lengths, constants and ICRC are filled in", "[wire.json.encode]") {
  const auto frame = encode_one(
      R"({"eth": {}, "ipv6": {"src": "fd00::1", "dst": "fd00::2"}, "udp": {}, "bth": {"opcode": 202, "rtx": 1, "psn": 9},
          "meth": {"msn": 4}, "reth": {"va": 4096, "dma_length": 5}, "payload": "0102030405", "entropy": 3735928559})");
  const Packet p = decode(frame);
  CHECK_FALSE(p.error);
  CHECK(p.dscp_class == DscpClass::TrimmableRetx);
  CHECK(p.ipv6->hop_limit == 64);
  CHECK(p.bth->pad_count == 3);
  CHECK(p.entropy() == 0xDEADBEEF);
  CHECK(p.payload.size() == 5);
}

TEST_CASE("values that contradict each other make malformed packets on demand", "[wire.json.encode]") {
  const auto frame = encode_one(R"({"eth": {}, "ipv6": {}, "udp": {"length": 99}, "bth": {"opcode": 209}, "aeth": {},
                                   "icrc": {"value": 1, "ok": false}})");
  const Packet p = decode(frame);
  REQUIRE(p.error);
  CHECK(p.error->code == ErrorCode::BadLength);
  CHECK(frame[frame.size() - 4] == 1);
  CHECK(frame[frame.size() - 3] == 0);
}

TEST_CASE("arrays, single objects and objects per line are accepted", "[wire.json.encode]") {
  const std::string one = R"({"eth": {}, "ipv6": {}, "udp": {}, "bth": {"opcode": 209}, "aeth": {}})";
  CHECK(from_json(one, "x")->size() == 1);
  CHECK(from_json("[" + one + "," + one + "]", "x")->size() == 2);
  CHECK(from_json(one + "\n" + one + "\r\n" + one + "\n", "x")->size() == 3);
}

TEST_CASE("capture data travel with the packet", "[wire.json.capture]") {
  CapturedFrame f;
  f.interface = 3;
  f.time_ns = 123456789012345678;
  f.bytes = encode(make_packet(Opcode::Ack, Encapsulation::Ipv4));
  f.original_length = 999;
  f.comments = {"one", "t\"wo\n"};
  const auto back = from_json(to_json(f, 7), "x");
  REQUIRE(back);
  CHECK((*back)[0] == f);
}

TEST_CASE("packets of drawn choices go through JSON and keep them", "[wire.json.capture]") {
  const WireConfig drawn{.udp_port = 4791, .ev_swap = true, .icrc_outer = true, .dscp = {.control = 9}};
  CapturedFrame f;
  f.bytes = encode(make_packet(Opcode::Ack, Encapsulation::Srv6, false, drawn), drawn);
  f.wire = drawn;
  const json decoded = json::parse(to_json(f, 1));
  CHECK(decoded["capture"]["options"] == "--udp-port 4791 --ev-swap --icrc-outer --dscp control=9");
  CHECK_FALSE(decoded.contains("error"));
  auto back = from_json(decoded.dump(), "x");
  REQUIRE(back);
  CHECK((*back)[0].bytes == f.bytes);
  CHECK((*back)[0].wire == drawn);
  // What is given wins over what the packet says, that over the defaults of the call.
  back = from_json(decoded.dump(), "x", {.bth_se_first = true}, [](WireConfig& said) { said.icrc_outer = false; });
  REQUIRE(back);
  CHECK((*back)[0].wire == WireConfig{.udp_port = 4791, .bth_se_first = true, .ev_swap = true, .dscp = {.control = 9}});
  CHECK((*back)[0].bytes != f.bytes);
  f.wire = {};
  CHECK_FALSE(json::parse(to_json(f, 1))["capture"].contains("options"));
  expect_error(R"({"capture": {"options": "--icrc-inner"}, "raw": "00"})",
               "1:25: packet 1: capture.options: '--icrc-inner' is no option of the wire format");
  expect_error(R"({"capture": {"options": true}, "raw": "00"})", "1:25: packet 1: capture.options is not a string");
}

TEST_CASE("whatever a capture can hold goes through JSON, and no more", "[wire.json.limits]") {
  CapturedFrame f;
  f.interface = kMaxInterfaces - 1;
  f.bytes = encode(make_packet(Opcode::Ack, Encapsulation::Ipv6));
  f.bytes.resize(kMaxFrameBytes, 0x5a);  // a trailer
  f.original_length = kMaxFrameBytes;
  f.comments = {std::string(200000, 'c')};
  auto back = from_json(to_json(f, 1), "x");
  REQUIRE(back);
  CHECK((*back)[0].interface == f.interface);
  CHECK((*back)[0].bytes == f.bytes);
  CHECK((*back)[0].comments == f.comments);
  for (auto& b : f.bytes) b = 1;  // no packet at all: raw
  back = from_json(to_json(f, 1), "x");
  REQUIRE(back);
  CHECK((*back)[0].bytes == f.bytes);

  expect_error(R"({"capture": {"interface": 131072}, "raw": "00"})",
               "1:27: packet 1: capture.interface = 131072 is out of range");
  const auto digits = [](size_t bytes) { return '"' + std::string(2 * bytes, '0') + '"'; };
  expect_error("{\"raw\": " + digits(kMaxFrameBytes + 1) + "}", "1:9: packet 1: raw has 262145 bytes");
  const std::string write = R"({"eth": {}, "ipv6": {}, "udp": {}, "bth": {"opcode": 202}, "meth": {}, "reth": {})";
  // 65535 bytes behind the IPv6 header: 8 + 12 + 4 + 16 in headers, 4 of ICRC, payload in words of 4
  REQUIRE(from_json(write + ", \"payload\": " + digits(65488) + "}", "x"));
  expect_error(write + ", \"payload\": " + digits(65492) + "}",
               "1:1: packet 1: 65590 bytes are no frame that IP lengths can describe");
  expect_error(write + ", \"payload\": \"00\", \"trailer\": " + digits(kMaxFrameBytes) + "}",
               "1:1: packet 1: 262246 bytes are no frame that IP lengths can describe");
}

TEST_CASE("JSON that cannot be meant is refused with place and remedy", "[wire.json.error]") {
  expect_error("", " byte 0: there is no packet in it");
  expect_error("[]", " byte 0: there is no packet in it");
  expect_error("  {\"eth\": }", "1:11: not valid JSON: \"}\" instead of a value");
  expect_error("hello", "1:1: not valid JSON: h instead of a value");
  expect_error("{}\n{\"a\": 1,}", "1:1: packet 1: header eth is missing");
  expect_error(R"({"eth": {"ethertype": 943E9145}})", "1:23: 943E9145 is beyond every range");
  expect_error(R"({"eth": {}, "eth": {}})", "1:13: eth is there twice, first in line 1");
  expect_error(std::string(1'000'000, '['), "1:65: more than 64 arrays and objects inside each other");
  expect_error("[1]", "1:2: packet 1: a packet must be an object");
  expect_error(R"({"eht": {}})", "1:2: packet 1: unknown key eht; did you mean eth?");
  const std::string rest = R"("eth": {}, "ipv6": {}, "udp": {})";
  expect_error("{" + rest + "}", "1:1: packet 1: header bth is missing");
  expect_error("{" + rest + R"(, "bth": "x"})", "1:43: packet 1: bth is not an object");
  expect_error("{" + rest + R"(, "bth": {}})", "1:43: packet 1: bth.opcode is missing");
  expect_error("{" + rest + R"(, "bth": {"opcode": 256}})", "1:54: packet 1: bth.opcode = 256 is out of range");
  expect_error("{" + rest + R"(, "bth": {"opcode": "x"}})", "1:54: packet 1: bth.opcode is not a number");
  expect_error("{" + rest + R"(, "bth": {"opcode": 209}})",
               "1:1: packet 1: header aeth is missing for opcode 0xd1 (Acknowledge)");
  expect_error("{" + rest + R"(, "bth": {"opcode": 209}, "aeth": {}, "reth": {}})",
               "1:1: packet 1: reth does not follow opcode 0xd1 (Acknowledge)");
  expect_error("{" + rest + ",\n" + R"("bth": {"opcode": 209}, "aeth": {"msn": 16777216}})",
               "2:41: packet 1: aeth.msn = 16777216 is out of range");
  expect_error("{" + rest + R"(, "bth": {"opcode": 209}, "aeth": {"msn": -1}})",
               "1:76: packet 1: aeth.msn = -1 is out of range");
  expect_error("{" + rest + R"(, "bth": {"opcode": 209}, "aeth": {"msn": 1.5}})",
               "1:76: packet 1: aeth.msn = 1.5 is not a whole number");
  expect_error("{" + rest + R"(, "bth": {"opcode": 220}, "cc_state": {}, "seth": {"sack_offset": 32768}})",
               "1:100: packet 1: seth.sack_offset = 32768 is out of range");
  expect_error("{" + rest + R"(, "bth": {"opcode": 209}, "aeth": {"msn": "1"}})",
               "1:76: packet 1: aeth.msn is not a number");
  expect_error("{" + rest + R"(, "bth": {"opcode": 209, "pns": 1}, "aeth": {}})",
               "1:59: packet 1: unknown field bth.pns; did you mean psn?");
  expect_error("{" + rest + R"(, "bth": {"opcode": 209}, "aeth": {}, "payload": "00"})",
               "1:1: packet 1: payload does not follow opcode 0xd1 (Acknowledge)");
  expect_error(R"({"eth": {"dst": "2:0:0:0:0:1"}, "ipv6": {}, "udp": {}, "bth": {"opcode": 209}, "aeth": {}})",
               "1:17: packet 1: eth.dst is not an address");
  expect_error("{" + rest + R"(, "ipv4": {}})", "1:1: packet 1: both ipv4 and ipv6");
  expect_error("{" + rest + R"(, "srh": {}})", "1:1: packet 1: srh without outer_ipv6");
  expect_error("{" + rest + R"(, "bth": {"opcode": 202, "ts": 0}, "meth": {}, "tseth": {}, "reth": {}})",
               "1:1: packet 1: tseth is there but bth.ts is 0");
  expect_error("{" + rest + R"(, "bth": {"opcode": 209}, "aeth": {}, "entropy": 1, "trimmed": true})",
               "1:97: packet 1: trimmed contradicts the dscp of the outermost IP header");
  expect_error(R"({"eth": {}, "ipv4": {}, "udp": {}, "bth": {"opcode": 209}, "aeth": {}, "entropy": 1})",
               "1:83: packet 1: entropy contradicts udp.src_port and flow_label");
  expect_error(R"({"raw": "012"})", "1:9: packet 1: raw is not a string of hexadecimal bytes");
  expect_error(R"({"capture": {"interface": 0, "options": 1}, "raw": "01"})",
               "1:41: packet 1: capture.options is not a string");
}

}  // namespace mrc::test::json_test
