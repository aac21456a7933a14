// SPDX-License-Identifier: Apache-2.0
#include "wire/capture.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "tests/wire/samples.hpp"
#include "wire/decode.hpp"
#include "wire/link_layer.hpp"
#include "wire/pcapng.hpp"

namespace mrc::test::capture_test {

using namespace mrc::wire;
using mrc::test::hex;

namespace {

std::string text_of(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

struct Read {
  std::vector<CapturedFrame> frames;
  std::optional<Error> error;
};

Read read(const std::string& file) {
  std::istringstream in(file);
  const std::unique_ptr<PacketSource> reader = read_capture(in, "x");
  Read out;
  for (CapturedFrame frame; reader->next(frame);) out.frames.push_back(frame);
  out.error = reader->error();
  if (out.error) CHECK_FALSE(out.error->remedy.empty());
  return out;
}

std::string gzip(const std::string& text) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(text.size() + 1000, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

/// A pcap of one packet at 1.000002 s: magic as it stands in the file, little or big numbers.
std::string pcap(const std::string& magic, bool big, const std::string& fraction) {
  const auto number = [&](const std::string& be) {
    std::string le;
    for (std::size_t i = be.size(); i > 0; i -= 2) le += be.substr(i - 2, 2);
    return big ? be : le;
  };
  return text_of(hex(magic + number("0002") + number("0004") + "0000000000000000" + number("00040000") +
                     number("00000001") + number("00000001") + number(fraction) + number("00000003") +
                     number("00000063") + "aabbcc"));
}

Packet write_of(Encapsulation encapsulation) {
  Packet p = make_packet(Opcode::WriteOnly, encapsulation);
  p.bth->psn = 7;
  p.payload.assign(64, 9);
  complete(p);
  return p;
}

CapturedFrame captured(uint16_t link, std::vector<uint8_t> bytes) {
  CapturedFrame frame;
  frame.link = link;
  frame.original_length = static_cast<uint32_t>(bytes.size());
  frame.bytes = std::move(bytes);
  return frame;
}

std::vector<uint8_t> operator+(std::vector<uint8_t> a, const std::vector<uint8_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
std::vector<uint8_t> from(const std::vector<uint8_t>& bytes, std::size_t at) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end()};
}
std::vector<uint8_t> until(const std::vector<uint8_t>& bytes, std::size_t at) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at)};
}

}  // namespace

TEST_CASE("pcap in both byte orders, with micro- and nanoseconds, is read alike", "[wire.capture.pcap]") {
  for (const auto& [magic, big, fraction] : {std::tuple{"d4c3b2a1", false, "00000002"},
                                             {"a1b2c3d4", true, "00000002"},
                                             {"4d3cb2a1", false, "000007d0"},
                                             {"a1b23c4d", true, "000007d0"}}) {
    INFO(magic);
    const Read r = read(pcap(magic, big, fraction));
    CHECK_FALSE(r.error);
    REQUIRE(r.frames.size() == 1);
    CHECK(r.frames[0].time_ns == 1'000'002'000);
    CHECK(r.frames[0].bytes == hex("aabbcc"));
    CHECK(r.frames[0].original_length == 0x63);
    CHECK(r.frames[0].number == 1);
    CHECK(r.frames[0].link == kLinkEthernet);
  }
}

TEST_CASE("damaged pcap gets an error with its byte", "[wire.capture.error]") {
  const std::string file = pcap("d4c3b2a1", false, "00000002");
  const auto expect = [](const std::string& bytes, const std::string& sentence) {
    const Read r = read(bytes);
    REQUIRE(r.error);
    CHECK(r.error->sentence() == sentence);
  };
  expect("", "x: byte 0: nothing stands in it");
  expect("no capture", "x: byte 0: no capture: neither pcapng nor pcap");
  expect(file.substr(0, 20), "x: byte 0: too short for a pcap file");
  expect(file.substr(0, 30), "x: byte 24: the file ends inside a packet header");
  expect(file.substr(0, 42), "x: byte 32: packet of 3 bytes is beyond the end of the file, 2 bytes are left");
  expect("\xd4\xc3\xb2\xa2" + file.substr(4), "x: byte 0: not a pcap file, its magic number is missing");
  std::string wrong = file;
  wrong[4] = 3;
  expect(wrong, "x: byte 4: pcap version 3.4, this reader knows version 2");
  wrong = file;
  wrong[35] = 1;
  expect(wrong, "x: byte 32: packet of 16777219 bytes, at most 262144 are read");
}

TEST_CASE("what gzip or zstd has packed is read as it was, parts one behind the other too", "[wire.capture.packed]") {
  std::string file = pcap("d4c3b2a1", false, "00000002");
  const std::string packet = file.substr(24);
  for (unsigned i = 0; i < 100'000; ++i) file += packet;
  const std::string head = file.substr(0, 1'000'000), tail = file.substr(1'000'000);
  for (const std::string& packed : {gzip(file), zstd(file), gzip(head) + gzip(tail), zstd(head) + zstd(tail),
                                    gzip(file) + std::string(700, '\0')}) {
    const Read r = read(packed);
    if (r.error) FAIL(r.error->sentence());
    CHECK(r.frames.size() == 100'001);
  }
  for (const std::string& packed : {gzip(file), zstd(file)}) {
    const Read r = read(packed.substr(0, packed.size() / 2));
    REQUIRE(r.error);
    CHECK(r.error->what == "cannot be unpacked: it ends too early");
    CHECK_FALSE(r.frames.empty());
  }
  std::string wrong = zstd(file);
  wrong[9] = static_cast<char>(~wrong[9]);
  REQUIRE(read(wrong).error);
  CHECK(read(gzip(gzip(file))).error->what == "no capture: neither pcapng nor pcap");
}

TEST_CASE("packets have the numbers that Wireshark gives them", "[wire.pcapng.read]") {
  const std::string head =
      "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000 01000000 14000000 0100 0000 00000000 14000000";
  const std::string packet = "06000000 20000000 00000000 00000000 01000000 00000000 00000000 20000000";
  const std::string old = "02000000 20000000 0000 0500 00000000 01000000 00000000 00000000 20000000";
  const std::string statistics = "05000000 18000000 00000000 00000000 00000000 18000000",
                    journal = "09000000 0c000000 0c000000";
  const Read r = read(text_of(hex(head + packet + statistics + journal + old + packet)));
  CHECK_FALSE(r.error);
  REQUIRE(r.frames.size() == 3);
  CHECK(r.frames[0].number == 1);
  CHECK(r.frames[1].number == 3);
  CHECK(r.frames[1].dropped == 5);
  CHECK(r.frames[2].number == 4);
}

TEST_CASE("what stands in front of the IP header goes, and is told", "[wire.capture.link]") {
  for (const Encapsulation encapsulation :
       {Encapsulation::Ipv4, Encapsulation::Ipv6, Encapsulation::Srv6, Encapsulation::Srv6Srh}) {
    Packet p = write_of(encapsulation);
    p.eth->src = {2, 0, 0, 0, 0, 1};
    const std::vector<uint8_t> frame = encode(p), ip = from(frame, 14);
    const std::string type = encapsulation == Encapsulation::Ipv4 ? "0800" : "86dd";
    std::vector<uint8_t> bare = frame;
    std::fill_n(bare.begin(), 12, uint8_t{0});

    CapturedFrame f = captured(kLinkEthernet, frame);
    REQUIRE(to_ethernet(f));
    CHECK(f.bytes == frame);
    CHECK(f.taken == TakenOff{});
    f = captured(kLinkEthernet, until(frame, 12) + hex("88a8 6064 8100 000a") + from(frame, 12));
    REQUIRE(to_ethernet(f));
    CHECK(f.bytes == frame);
    CHECK(f.original_length == frame.size());
    CHECK(f.taken.tags == std::vector<VlanTag>{{0x88a8, 0x6064}, {0x8100, 10}});
    f = captured(kLinkRaw, ip);
    REQUIRE(to_ethernet(f));
    CHECK(f.bytes == bare);
    CHECK(f.original_length == frame.size());
    std::vector<uint8_t> cooked = bare;
    std::copy_n(frame.begin() + 6, 6, cooked.begin() + 6);
    f = captured(kLinkSll, hex("0004 0001 0006 020000000001 0000" + type) + ip);
    REQUIRE(to_ethernet(f));
    CHECK(f.bytes == cooked);
    CHECK(f.direction == CapturedFrame::Direction::Out);
    f = captured(kLinkSll2, hex(type + "0000 00000007 0001 00 06 020000000001 0000") + ip);
    REQUIRE(to_ethernet(f));
    CHECK(f.bytes == cooked);
    CHECK(f.direction == CapturedFrame::Direction::In);
    CHECK(f.port == 7);
    f = captured(105, frame);
    CHECK_FALSE(to_ethernet(f));
    CHECK(f.bytes == frame);
  }
}

TEST_CASE("IPv6 extension headers go, outer and inner, and lengths fit", "[wire.capture.link]") {
  const std::vector<uint8_t> hop_by_hop = hex("3c00 010400000000"),
                             destination = hex("2c01 010c000000000000000000000000"), whole = hex("11 00 0000 12345678");
  for (const Encapsulation encapsulation : {Encapsulation::Ipv6, Encapsulation::Srv6, Encapsulation::Srv6Srh}) {
    const std::vector<uint8_t> frame = encode(write_of(encapsulation));
    const std::size_t inner = encapsulation == Encapsulation::Ipv6   ? 14
                              : encapsulation == Encapsulation::Srv6 ? 54
                                                                     : 78;
    const std::vector<uint8_t> chain = hop_by_hop + destination + whole;
    std::vector<uint8_t> longer = until(frame, inner + 40) + chain + from(frame, inner + 40);
    longer[inner + 6] = 0;
    for (const std::size_t ip : {std::size_t{14}, inner}) {
      if (ip == 14 && inner == 14) continue;
      const unsigned length = (longer[ip + 4] << 8 | longer[ip + 5]) + static_cast<unsigned>(chain.size());
      longer[ip + 4] = static_cast<uint8_t>(length >> 8);
      longer[ip + 5] = static_cast<uint8_t>(length);
    }
    if (inner == 14) longer[19] = static_cast<uint8_t>(longer[19] + chain.size());
    CapturedFrame f = captured(kLinkEthernet, longer);
    REQUIRE(to_ethernet(f));
    CHECK(f.bytes == frame);
    CHECK(f.taken.extensions == chain.size());
    CHECK_FALSE(decode(f.bytes).error);
  }
  // A fragment stays one.
  const std::vector<uint8_t> frame = encode(write_of(Encapsulation::Ipv6));
  std::vector<uint8_t> part = until(frame, 54) + hex("11 00 0001 12345678") + from(frame, 54);
  part[20] = 44;
  CapturedFrame f = captured(kLinkEthernet, part);
  REQUIRE(to_ethernet(f));
  CHECK(f.bytes == part);
}

TEST_CASE("UDP is found behind whatever tags, IP and extension headers, and nothing is read behind the end",
          "[wire.capture.link]") {
  const std::vector<uint8_t> macs(12), six = macs + hex("86dd"), four = macs + hex("0800"),
                                       udp = hex("0001 136b 0008 0000");
  const std::vector<uint8_t> tags = macs + hex("88a8 0007 8100 0005 86dd");
  const auto ipv6 = [](uint8_t next) {
    return hex("60000000 0000") + std::vector<uint8_t>{next} + std::vector<uint8_t>(33);
  };
  const auto ipv4 = [](uint8_t next, uint8_t words) {
    std::vector<uint8_t> header(std::size_t{4} * words);
    header[0] = static_cast<uint8_t>(0x40 | words);
    header[9] = next;
    return header;
  };
  const std::vector<uint8_t> routing = hex("29 02 04 00") + std::vector<uint8_t>(20);
  const std::vector<uint8_t> hop = hex("3c00 010400000000"), destination = hex("2c01 010c") + std::vector<uint8_t>(12);
  for (const std::vector<uint8_t>& before :
       {six + ipv6(17), four + ipv4(17, 5), four + ipv4(17, 15), tags + ipv6(17), six + ipv6(41) + ipv6(17),
        six + ipv6(43) + routing + ipv6(17), six + ipv6(4) + ipv4(17, 5),
        six + ipv6(0) + hop + destination + hex("11 00 0000 12345678")}) {
    const UpperLayer upper = upper_layer(before + udp);
    CHECK(upper.is_ip);
    CHECK(upper.protocol == 17);
    CHECK(upper.udp_dst_port == 0x136b);
    for (std::size_t size = 0; size < before.size() + 4; ++size)
      CHECK_FALSE(upper_layer(until(before + udp, size)).udp_dst_port);
  }
  CHECK_FALSE(upper_layer(macs + hex("0806") + std::vector<uint8_t>(46)).is_ip);
  CHECK(upper_layer(six + ipv6(6) + udp).protocol == 6);
  CHECK_FALSE(upper_layer(six + ipv6(6) + udp).udp_dst_port);
  CHECK(upper_layer(six + ipv6(0) + hex("3a00 010400000000") + udp).protocol == 58);
  // A later part of a packet; an IPv4 header of no length, that would never end.
  CHECK(upper_layer(six + ipv6(44) + hex("11 00 0008 12345678") + udp).protocol == 44);
  CHECK_FALSE(upper_layer(four + hex("40") + std::vector<uint8_t>(8) + hex("04") + std::vector<uint8_t>(40)).is_ip);
}

TEST_CASE("a packet of any length and link is changed or left, never worse", "[wire.capture.link]") {
  const std::vector<uint8_t> frame = encode(write_of(Encapsulation::Srv6Srh));
  for (const uint16_t link : {kLinkEthernet, kLinkRaw, kLinkSll, kLinkSll2, kLinkIpv4, kLinkIpv6}) {
    for (std::size_t size = 0; size < frame.size(); ++size) {
      CapturedFrame f = captured(link, until(frame, size));
      if (to_ethernet(f)) CHECK(f.original_length == f.bytes.size());
    }
  }
}

}  // namespace mrc::test::capture_test
