// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <sstream>

#include "tests/wire/samples.hpp"
#include "wire/pcapng.hpp"

using namespace mrc::wire;
using mrc::test::hex;

namespace {

std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

std::vector<uint8_t> sample(unsigned planes, const std::vector<CapturedFrame>& frames) {
  std::ostringstream out;
  PcapngWriter writer(out, planes, 100);
  for (const CapturedFrame& frame : frames) REQUIRE(writer.write(frame));
  return bytes_of(out.str());
}

Error error_of(const std::vector<uint8_t>& file) {
  const auto capture = read_pcapng(file, "x.pcapng");
  REQUIRE_FALSE(capture);
  return capture.error();
}

const std::string kBigSection = "0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c ";
const std::string kLittleSection = "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000 ";

}  // namespace

TEST_CASE("what is written is read again", "[wire.pcapng.roundtrip]") {
  std::mt19937 rng(31);
  std::vector<CapturedFrame> frames;
  for (uint32_t i = 0; i < 50; ++i) {
    CapturedFrame f;
    f.interface = i % 8;
    f.time_ns = uint64_t{rng()} << 28 | rng();
    f.bytes.resize(rng() % 200);
    for (auto& b : f.bytes) b = static_cast<uint8_t>(rng());
    f.original_length = static_cast<uint32_t>(f.bytes.size()) + (i % 3 ? 0 : 1000);
    if (f.original_length == 0) f.original_length = 1;
    if (i % 2) f.comments = {"lost on plane " + std::to_string(i), ""};
    frames.push_back(f);
  }
  const auto capture = read_pcapng(sample(8, frames), "x");
  REQUIRE(capture);
  REQUIRE(capture->interfaces.size() == 8);
  CHECK(capture->interfaces[7] == "plane7");
  CHECK(capture->frames == frames);
}

TEST_CASE("the blocks written are the ones worked out by hand", "[wire.pcapng.bytes]") {
  std::ostringstream out;
  PcapngWriter writer(out, 1);
  writer.write(0, 0x0000000100000002, hex("aabbccddee"), std::vector<std::string>{"hi"});
  CHECK(bytes_of(out.str()) ==
        hex("0a0d0d0a 2c000000 4d3c2b1a 0100 0000 ffffffffffffffff 0400 0600 6d72636e6963 0000 00000000 2c000000"
            "01000000 2c000000 0100 0000 00000000 0200 0600 706c616e6530 0000 0900 0100 09 000000 00000000 2c000000"
            "06000000 34000000 00000000 01000000 02000000 05000000 05000000 aabbccddee 000000 0100 0200 6869 0000 "
            "00000000 34000000"));
  CHECK_FALSE(writer.write(1, 0, {}));
}

TEST_CASE("big-endian captures, other resolutions and foreign blocks are read", "[wire.pcapng.read]") {
  const auto file = hex(kBigSection +
                        "00000001 0000001c 0001 0000 00000040 0009 0001 06000000 0000001c"  // microseconds
                        "00000001 00000014 0001 0000 00000000 00000014"                     // the default, too
                        "00000001 00000024 0001 0000 00000000 0009 0001 8a000000 00000000 00000000 00000024"  // 2^-10 s
                        "0000abcd 00000010 12345678 00000010"
                        "00000006 00000024 00000000 00000001 00000000 00000003 00000063 aabbcc00 00000024"
                        "00000006 00000020 00000002 00000000 00000400 00000000 00000000 00000020"
                        "00000003 00000014 00000002 dddd0000 00000014");
  const auto capture = read_pcapng(file, "x");
  REQUIRE(capture);
  REQUIRE(capture->frames.size() == 3);
  CHECK(capture->frames[0].time_ns == (uint64_t{1} << 32) * 1000);
  CHECK(capture->frames[0].bytes == hex("aabbcc"));
  CHECK(capture->frames[0].original_length == 0x63);
  CHECK(capture->frames[1].interface == 2);
  CHECK(capture->frames[1].time_ns == 1'000'000'000);
  CHECK(capture->frames[2].bytes == hex("dddd"));
}

TEST_CASE("interfaces of a second section get numbers of their own", "[wire.pcapng.read]") {
  const std::string section = kLittleSection +
                              "01000000 14000000 0100 0000 00000000 14000000"
                              "06000000 20000000 00000000 00000000 01000000 00000000 00000000 20000000";
  const auto capture = read_pcapng(hex(section + section), "x");
  REQUIRE(capture);
  CHECK(capture->interfaces.size() == 2);
  CHECK(capture->frames[1].interface == 1);
}

TEST_CASE("damaged captures get an error with its byte", "[wire.pcapng.error]") {
  const auto expect = [](const std::vector<uint8_t>& file, const std::string& sentence) {
    const Error e = error_of(file);
    CHECK(e.sentence() == sentence);
    CHECK_FALSE(e.remedy.empty());
  };
  expect({}, "x.pcapng: byte 0: too short for a pcapng file");
  expect(hex("d4c3b2a1 0200 0400 00000000 00000000"),
         "x.pcapng: byte 0: not a pcapng file, the section header block is missing");
  expect(hex("0a0d0d0a 1c000000 4d3c2b1b 0100 0000 ffffffffffffffff 1c000000"),
         "x.pcapng: byte 8: byte-order magic is 0x1b2b3c4d");
  expect(hex(kLittleSection + "010000"), "x.pcapng: byte 28: the file ends inside a block header");
  expect(hex(kLittleSection + "01000000 0d000000 00000000"),
         "x.pcapng: byte 32: block length 13 is not a multiple of 4 of at least 12");
  expect(hex(kLittleSection + "01000000 00010000 00000000"),
         "x.pcapng: byte 32: block length 256 is beyond the end of the file, 12 bytes are left");
  expect(hex(kLittleSection + "01000000 14000000 0100 0000 00000000 10000000"),
         "x.pcapng: byte 44: block length 16 at the end, 20 at the start");
  expect(hex(kLittleSection + "01000000 10000000 0100 0000 10000000"),
         "x.pcapng: byte 36: interface block is too short");
  expect(hex(kLittleSection + "01000000 14000000 6500 0000 00000000 14000000"),
         "x.pcapng: byte 36: link type 101 is not Ethernet");
  expect(hex(kLittleSection + "01000000 1c000000 0100 0000 00000000 0200 0900 41414141 1c000000"),
         "x.pcapng: byte 44: option 2 of 9 bytes is longer than its block");
  expect(hex(kLittleSection + "01000000 1c000000 0100 0000 00000000 0900 0100 7f000000 1c000000"),
         "x.pcapng: byte 44: if_tsresol 0x7f is too fine");
  expect(hex(kLittleSection + "06000000 20000000 00000000 00000000 00000000 00000000 00000000 20000000"),
         "x.pcapng: byte 36: packet of interface 0, but 0 are described");
  expect(hex(kLittleSection + "01000000 14000000 0100 0000 00000000 14000000"
                              "06000000 20000000 00000000 00000000 00000000 ffffffff 00000000 20000000"),
         "x.pcapng: byte 68: packet of 4294967295 bytes is longer than its block");
  expect(hex(kLittleSection + "03000000 10000000 00000000 10000000"),
         "x.pcapng: byte 36: simple packet block without an interface");
}

TEST_CASE("a capture cut anywhere is read or refused, never worse", "[wire.pcapng.error]") {
  const auto file = sample(2, {{1, 5, hex("0102030405"), 5, {"comment"}}, {0, 6, hex("06"), 1, {}}});
  for (size_t size = 0; size < file.size(); ++size) {
    const auto capture = read_pcapng(std::span(file).first(size), "x");
    if (!capture) CHECK(capture.error().offset <= size);
  }
}
