// SPDX-License-Identifier: Apache-2.0
#include "wire/pcapng.hpp"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <sstream>

#include "tests/wire/samples.hpp"

namespace mrc::test::pcapng_test {

using namespace mrc::wire;
using mrc::test::hex;

namespace {

std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

std::vector<uint8_t> sample(unsigned planes, const std::vector<CapturedFrame>& frames) {
  std::ostringstream out;
  PcapngWriter writer(out, {}, planes, 100);
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
    f.number = i + 1;
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
  CHECK(capture->interfaces[7].name == "plane7");
  CHECK(capture->frames == frames);
}

TEST_CASE("the blocks written are the ones worked out by hand", "[wire.pcapng.bytes]") {
  std::ostringstream out;
  PcapngWriter writer(out, {}, 1, 0, std::vector<std::string>{"note"});
  writer.write(0, 0x0000000100000002, hex("aabbccddee"), std::vector<std::string>{"hi"});
  const std::string read_with =
      "mrc decode --udp-port 4971 --dscp no_trim=0 --dscp trimmable=4 --dscp trimmable_retx=8 --dscp trimmed=12 "
      "--dscp trimmed_lasthop=16 --dscp control=46";
  std::string text;
  for (const char c : read_with) text += fmt::format("{:02x}", c);
  const std::string option = "9400 " + text;
  REQUIRE(read_with.size() == 0x94);
  CHECK(bytes_of(out.str()) ==
        hex("0a0d0d0a cc000000 4d3c2b1a 0100 0000 ffffffffffffffff 0100 " + option +
            "0100 0400 6e6f7465 0400 0600 6d72636e6963 0000 00000000 cc000000"
            "01000000 c4000000 0100 0000 00000000 0200 0600 706c616e6530 0000 0300 " +
            option + "0900 0100 09 000000 00000000 c4000000" +
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

namespace {

/// A section or interface block with one option of a text.
std::string block_with(const std::string& type, const std::string& body, const std::string& code,
                       const std::string& text) {
  std::string option;
  for (const char c : text) option += fmt::format("{:02x}", c);
  option.resize((option.size() + 7) / 8 * 8, '0');
  const size_t size = 12 + hex(body).size() + 4 + option.size() / 2;
  const auto u32 = [](size_t v) { return fmt::format("{:02x}{:02x}0000", v & 0xff, v >> 8); };
  return type + u32(size) + body + code + u32(text.size()).substr(0, 4) + option + u32(size);
}
std::string section_with(const std::string& text) {
  return block_with("0a0d0d0a", "4d3c2b1a01000000ffffffffffffffff", "0100", text);
}
std::string interface_with(const std::string& text) { return block_with("01000000", "0100000000000000", "0300", text); }
std::string frame_of(unsigned interface) {
  return fmt::format("06000000 20000000 {:02x}000000 00000000 01000000 00000000 00000000 20000000", interface);
}

}  // namespace

TEST_CASE("frames are read as their interface says, else as their section says", "[wire.pcapng.choices]") {
  const std::string plain = "01000000 14000000 0100 0000 00000000 14000000";
  const auto capture = read_pcapng(
      hex(section_with("mrc decode --icrc-outer --udp-port 9\nFile created by merging:") + plain +
          interface_with("mrc decode --dscp trimmed=7") + interface_with("a port of a switch") + frame_of(0) +
          frame_of(1) + frame_of(2) + section_with("mrc decoder, foreign") + plain + frame_of(0)),
      "x");
  REQUIRE(capture);
  REQUIRE(capture->frames.size() == 4);
  const WireConfig of_section{.udp_port = 9, .icrc_outer = true};
  CHECK(capture->frames[0].wire == of_section);
  CHECK(capture->frames[1].wire == WireConfig{.dscp = {.trimmed = 7}});
  CHECK(capture->frames[2].wire == of_section);
  CHECK(capture->frames[3].wire == WireConfig{});  // nothing of the section before
  CHECK(capture->comments == std::vector<std::string>{"mrc decoder, foreign"});
}

TEST_CASE("what the writer says the reader takes", "[wire.pcapng.choices]") {
  const WireConfig drawn{.udp_port = 1024,
                         .bth_se_first = true,
                         .ev_swap = true,
                         .eeth_op_high = true,
                         .icrc_outer = true,
                         .dscp = {.no_trim = 5, .trimmable = 63, .trimmable_retx = 1, .trimmed = 0, .returned = 11}};
  std::ostringstream out;
  PcapngWriter writer(out, drawn, 3, 0, std::vector<std::string>{"one", "two"});
  for (unsigned i = 0; i < 3; ++i) writer.write(i, i, hex("aa"));
  const auto capture = read_pcapng(bytes_of(out.str()), "x");
  REQUIRE(capture);
  for (const CapturedFrame& frame : capture->frames) CHECK(frame.wire == drawn);
  CHECK(capture->comments == std::vector<std::string>{"one", "two"});
}

TEST_CASE("words of ours that are not understood are an error", "[wire.pcapng.choices]") {
  Error e = error_of(hex(section_with("mrc decode --icrc-otter")));
  CHECK(e.sentence() ==
        "x.pcapng: byte 24: says how to read its frames, but '--icrc-otter' is no option of the wire format");
  CHECK_FALSE(e.remedy.empty());
  e = error_of(hex(kLittleSection + interface_with("mrc decode --dscp trimmed=64")));
  CHECK(
      e.sentence() ==
      "x.pcapng: byte 44: says how to read its frames, but code point in --dscp trimmed=64 is not a number of 6 bits");
}

TEST_CASE("time stamps have an offset, also before 1970, and an end", "[wire.pcapng.time]") {
  // if_tsoffset, then nanoseconds (code 9) or whole seconds
  const auto file = [](const std::string& offset, const std::string& resolution, const std::string& high,
                       const std::string& low) {
    return hex(kLittleSection + "01000000 2c000000 0100 0000 00000000 0900 0100" + resolution + "000000 0e00 0800" +
               offset + "00000000 2c000000 06000000 20000000 00000000" + high + low + "00000000 00000000 20000000");
  };
  const std::string minus_5 = "fbffffffffffffff";
  auto capture = read_pcapng(file(minus_5, "09", "02000000", "00000000"), "x");
  REQUIRE(capture);
  CHECK(capture->frames[0].time_ns == (uint64_t{2} << 32) - 5'000'000'000);
  capture = read_pcapng(file("0500000000000000", "00", "00000000", "01000000"), "x");
  REQUIRE(capture);
  CHECK(capture->frames[0].time_ns == 6'000'000'000);
  capture = read_pcapng(file("0000000000000000", "09", "ffffffff", "ffffffff"), "x");
  REQUIRE(capture);
  CHECK(capture->frames[0].time_ns == ~uint64_t{0});
  Error e = error_of(file(minus_5, "09", "01000000", "00000000"));
  CHECK(e.sentence() == "x.pcapng: byte 84: time stamp is before 1970");
  CHECK_FALSE(e.remedy.empty());
  for (const char* resolution : {"06", "00"}) {
    CHECK(error_of(file("0000000000000000", resolution, "ffffffff", "ffffffff")).sentence() ==
          "x.pcapng: byte 84: time stamp is beyond 2^64 ns");
  }
  CHECK(error_of(file("ffffffffffffff7f", "00", "ffffffff", "ffffffff")).what == "time stamp is beyond 2^64 ns");
  CHECK(error_of(file("0000000000000080", "00", "00000000", "00000000")).what == "time stamp is before 1970");
  CHECK(error_of(file("0100000000000000", "09", "ffffffff", "ffffffff")).what == "time stamp is beyond 2^64 ns");
}

TEST_CASE("other versions and short section headers are refused", "[wire.pcapng.error]") {
  CHECK(error_of(hex("0a0d0d0a 1c000000 4d3c2b1a 0200 0100 ffffffffffffffff 1c000000")).sentence() ==
        "x.pcapng: byte 12: pcapng version 2.1, this reader knows version 1");
  CHECK(error_of(hex("0a0d0d0a 14000000 4d3c2b1a 0100 0000 14000000")).sentence() ==
        "x.pcapng: byte 8: section header block is too short");
  CHECK(read_pcapng(hex("0a0d0d0a 1c000000 4d3c2b1a 0100 0200 ffffffffffffffff 1c000000"), "x"));
}

TEST_CASE("a comment too long for its length field becomes several, characters stay whole", "[wire.pcapng.limits]") {
  std::string text(65534, 'a');
  text += "\xe2\x82\xac";  // bytes 65534 to 65536
  text += std::string(70000, 'b');
  const auto capture = read_pcapng(sample(1, {{0, 0, hex("01"), 1, {"first", text}}}), "x");
  REQUIRE(capture);
  const auto& comments = capture->frames[0].comments;
  REQUIRE(comments.size() == 4);
  CHECK(comments[1] == std::string(65534, 'a'));
  CHECK(comments[2].starts_with("\xe2\x82\xac"));
  CHECK(comments[1] + comments[2] + comments[3] == text);
}

TEST_CASE("frames and interfaces beyond the limits are neither written nor read", "[wire.pcapng.limits]") {
  const std::vector<uint8_t> most(kMaxFrameBytes, 1);
  std::ostringstream out;
  PcapngWriter writer(out, {}, 1);
  CHECK(writer.write(0, 0, most));
  const auto before = out.str().size();
  CHECK_FALSE(writer.write(0, 0, std::vector<uint8_t>(kMaxFrameBytes + 1)));
  CHECK(out.str().size() == before);
  const auto capture = read_pcapng(bytes_of(out.str()), "x");
  REQUIRE(capture);
  CHECK(capture->frames[0].bytes == most);

  // 262148 bytes, as enhanced and as simple packet block
  const std::string interface = "01000000 14000000 0100 0000 00000000 14000000 ";
  auto file = hex(kLittleSection + interface + "06000000 24000400 00000000 00000000 00000000 04000400 04000400");
  file.resize(file.size() + kMaxFrameBytes + 4);
  for (const uint8_t b : hex("24000400")) file.push_back(b);
  CHECK(error_of(file).sentence() == "x.pcapng: byte 68: packet of 262148 bytes, at most 262144 are read");
  file = hex(kLittleSection + interface + "03000000 14000400 04000400");
  file.resize(file.size() + kMaxFrameBytes + 4);
  for (const uint8_t b : hex("14000400")) file.push_back(b);
  CHECK(error_of(file).sentence() == "x.pcapng: byte 56: packet of 262148 bytes, at most 262144 are read");

  file = hex(kLittleSection);
  const auto one = hex(interface);
  for (uint32_t i = 0; i < kMaxInterfaces; ++i) file.insert(file.end(), one.begin(), one.end());
  CHECK(read_pcapng(file, "x"));
  file.insert(file.end(), one.begin(), one.end());
  CHECK(error_of(file).what == "more than 131072 interfaces");
}

}  // namespace mrc::test::pcapng_test
