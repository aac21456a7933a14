// SPDX-License-Identifier: Apache-2.0
#include "log/import.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "log/digest.hpp"
#include "log/packet.hpp"
#include "log/redact.hpp"
#include "wire/decode.hpp"
#include "wire/pcapng.hpp"

namespace mrc::test::import_test {

using namespace mrc::log;

namespace {

/// A file that goes away with its test.
class File {
 public:
  explicit File(const std::string& bytes) {
    static unsigned count = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("mrc-import-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".pcapng"))
                .string();
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Ip ip(uint8_t last) {
  Ip a{0xfd};
  a[15] = last;
  return a;
}

std::vector<uint8_t> packet(uint8_t from, uint8_t to, uint32_t psn, unsigned payload = 64, bool trimmed = false) {
  wire::Packet p = wire::make_packet(wire::Opcode::WriteOnly, wire::Encapsulation::Ipv6);
  p.ipv6->src = ip(from);
  p.ipv6->dst = ip(to);
  p.bth->psn = psn;
  p.bth->dqp = 0x10;
  p.payload.assign(payload, static_cast<uint8_t>(psn));
  if (trimmed) p.ipv6->dscp = wire::DscpMap{}.trimmed;
  wire::complete(p);
  return wire::encode(p);
}

struct Sent {
  uint32_t interface;
  uint64_t time_ns;
  std::vector<uint8_t> bytes;
  uint32_t original = 0;
};

std::string capture(unsigned planes, const std::vector<Sent>& frames) {
  std::ostringstream out;
  wire::PcapngWriter writer(out, {}, planes);
  for (const Sent& f : frames) {
    wire::CapturedFrame frame;
    frame.interface = f.interface;
    frame.time_ns = f.time_ns;
    frame.bytes = f.bytes;
    frame.original_length = f.original;
    writer.write(frame);
  }
  return out.str();
}

struct Result {
  std::vector<Record> records;
  Imported imported;
  std::string error;
  template <class Body>
  std::vector<Record> of(uint32_t device) const {
    std::vector<Record> list;
    for (const Record& r : records) {
      if (r.device == device && std::holds_alternative<Body>(r.body)) list.push_back(r);
    }
    return list;
  }
  std::vector<Frame> frames(uint32_t device) const {
    std::vector<Frame> list;
    for (const Record& r : of<Frame>(device)) list.push_back(std::get<Frame>(r.body));
    return list;
  }
};

Result import(const ImportOptions& options) {
  Result r;
  const auto imported = import_captures(options, [&](const Record& record) { r.records.push_back(record); });
  if (imported) {
    r.imported = *imported;
  } else {
    r.error = imported.error().what;
    CHECK_FALSE(imported.error().remedy.empty());
  }
  return r;
}

}  // namespace

TEST_CASE("what is seen under way was sent for certain and received perhaps", "[log][import]") {
  const File file(capture(2, {{0, 1000, packet(1, 2, 7)}, {1, 2000, packet(2, 1, 8)}}));
  const Result r = import({.files = {{file.path()}}});
  REQUIRE(r.imported.devices.size() == 2);
  CHECK(r.imported.counts.packets == 2);
  CHECK(r.imported.records == 4);
  const std::vector<Frame> one = r.frames(0), two = r.frames(1);
  REQUIRE(one.size() == 2);
  REQUIRE(two.size() == 2);
  CHECK(one[0].sent);
  CHECK(one[0].flags == 0);
  CHECK(one[0].plane == 0);
  CHECK(one[0].number == 1);
  CHECK(one[0].bytes == packet(1, 2, 7));
  CHECK_FALSE(one[1].sent);
  CHECK(one[1].flags == kMaybe);
  CHECK(one[1].plane == 1);
  CHECK_FALSE(two[0].sent);
  CHECK(two[0].flags == kMaybe);
  CHECK(two[1].sent);
  CHECK(r.of<Frame>(0)[1].time == 2'000'000);
  for (const uint32_t d : {0u, 1u}) {
    CHECK(std::holds_alternative<Device>(std::ranges::find(r.records, d, &Record::device)->body));
    REQUIRE(r.of<End>(d).size() == 1);
    CHECK(std::get<End>(r.of<End>(d)[0].body).cut);
  }
}

TEST_CASE("at a device's ports nothing is perhaps, and its own capture alone counts for it", "[log][import]") {
  const File near(capture(1, {{0, 1000, packet(1, 2, 7)}, {0, 3000, packet(2, 1, 8)}}));
  const File far(capture(1, {{0, 1500, packet(1, 2, 7)}, {0, 2500, packet(2, 1, 8)}}));
  ImportOptions options{.files = {{near.path(), 0}, {far.path()}},
                        .devices = {{{ip(1)}, "mine", "{}"}, {{ip(2)}, {}, {}}}};
  options.clock_error[0] = 5000;
  const Result r = import(options);
  const std::vector<Record> mine = r.of<Frame>(0), other = r.of<Frame>(1);
  REQUIRE(mine.size() == 2);
  CHECK(mine[0].time == 1'000'000);
  CHECK(mine[1].time == 3'000'000);
  const auto& came = std::get<Frame>(mine[1].body);
  CHECK_FALSE(came.sent);
  CHECK(came.flags == 0);
  CHECK(came.error == 5000);
  CHECK(other.size() == 2);  // of either capture: neither is at its ports, and both show the same
  CHECK(std::get<Device>(r.of<Device>(0)[0].body) == Device{"mine", "{}"});
}

TEST_CASE("a packet trimmed or cut before it was captured says so", "[log][import]") {
  std::vector<uint8_t> snapped = packet(1, 2, 7, 1024);
  const auto length = static_cast<uint32_t>(snapped.size());
  snapped.resize(128);
  const File file(capture(1, {{0, 1000, snapped, length}, {0, 2000, packet(1, 2, 8, 64, true)}}));
  const Result r = import({.files = {{file.path()}}});
  CHECK(r.imported.cut == 1);
  CHECK(r.imported.trimmed_under_way == 1);
  const std::vector<Frame> sent = r.frames(0);
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].flags == kCut);
  CHECK(sent[0].length == length);
  CHECK(sent[0].bytes.size() == 128);
  CHECK(sent[1].flags == (kCut | kMaybe));
  const wire::Packet whole = packet_of(sent[0]);
  CHECK_FALSE(whole.error);
  CHECK_FALSE(whole.icrc);
  REQUIRE(whole.bth);
  CHECK(whole.bth->psn == 7);
  CHECK(whole.payload.size() < 128);
  CHECK_FALSE(whole.payload.empty());
}

TEST_CASE("at its own ports trimmed data from a device have come back to it", "[log][import][A-80]") {
  const File file(capture(1, {{0, 1000, packet(1, 2, 7)}, {0, 2000, packet(1, 2, 7, 20, true)}}));
  const Result r = import({.files = {{file.path(), 0}}, .devices = {{{ip(1)}, "mine", "{}"}}});
  const std::vector<Frame> mine = r.frames(0);
  REQUIRE(mine.size() == 2);
  CHECK(mine[0].sent);
  CHECK_FALSE(mine[1].sent);
  CHECK(mine[1].flags == 0);
}

TEST_CASE("packets up to 200 us out of order are put right, others are counted", "[log][import]") {
  std::vector<Sent> frames;
  for (uint32_t i = 0; i < 300; ++i) frames.push_back({0, 10'000 + 1000 * i, packet(1, 2, i)});
  std::swap(frames[10], frames[200]);
  frames.push_back({0, 5, packet(1, 2, 999)});
  const File file(capture(1, frames));
  const Result r = import({.files = {{file.path()}}});
  CHECK(r.imported.backwards == 1);
  const std::vector<Record> sent = r.of<Frame>(0);
  REQUIRE(sent.size() == 301);
  CHECK(std::is_sorted(sent.begin(), sent.end() - 201, [](const auto& a, const auto& b) { return a.time < b.time; }));
}

TEST_CASE("a device that is silent hears how far the captures are, until nothing of it waits", "[log][import]") {
  constexpr uint64_t kUs = 1000;
  std::vector<Sent> frames = {{0, 0, packet(3, 4, 1)}};
  for (uint32_t psn = 1; psn < 64 * 60; ++psn) frames.push_back({0, psn * kUs, packet(1, 2, psn)});
  const File file(capture(1, frames));
  ImportOptions options;
  options.each = 64;
  options.files.push_back({file.path(), {}});
  const Result r = import(options);
  REQUIRE(r.error.empty());
  for (uint32_t d = 0; d < 2; ++d) {
    const auto untils = r.of<Until>(d);  // of 3 and 4
    REQUIRE_FALSE(untils.empty());
    CHECK(untils.back().time > r.of<Frame>(d).back().time);
    CHECK(untils.back().time < 1'200'000'000);  // a ms behind its frame, no more comes
  }
  const auto untils = r.of<Until>(2);
  REQUIRE(untils.size() > 40);
  CHECK(untils.back().time + 1'100'000'000 > r.of<Frame>(2).back().time);
}

TEST_CASE("captures of a real clock begin a second before their first packet", "[log][import]") {
  const uint64_t now = 1'763'000'000'123'456'789;
  const File a(capture(1, {{0, now, packet(1, 2, 7)}}));
  const File b(capture(1, {{0, now - 5000, packet(2, 1, 8)}}));
  const Result r = import({.files = {{a.path()}, {b.path()}}});
  CHECK(r.imported.base_ns == 1'762'999'999'000'000'000);
  CHECK(r.of<Frame>(0)[0].time == (now - 5000 - r.imported.base_ns) * 1000);
  const std::vector<Frame> frames = r.frames(0);
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].capture == 1);
  CHECK(frames[1].capture == 0);
}

TEST_CASE("what the capturing host dropped is a gap", "[log][import]") {
  std::string file = capture(1, {{0, 1000, packet(1, 2, 7)}, {0, 2000, packet(1, 2, 8)}});
  // Interface statistics: 12 packets dropped by the interface, 5 by the host.
  const auto u32 = [&](uint32_t v) {
    for (unsigned i = 0; i < 4; ++i) file += static_cast<char>(v >> (8 * i));
  };
  u32(5);
  u32(12 + 12 + 24 + 4);
  u32(0);
  u32(0);
  u32(3000);
  for (const auto& [code, value] : {std::pair{5u, 12u}, {7u, 5u}}) {
    u32(code | 8u << 16);
    u32(value);
    u32(0);
  }
  u32(0);
  u32(12 + 12 + 24 + 4);
  const File captured(file);
  const Result r = import({.files = {{captured.path()}}});
  CHECK(r.error.empty());
  CHECK(r.imported.lost == 17);
  const std::vector<Record> gaps = r.of<Gap>(0);
  REQUIRE(gaps.size() == 1);
  CHECK(std::get<Gap>(gaps[0].body).lost == 17);
  CHECK(std::get<Gap>(gaps[0].body).source == 0);
}

TEST_CASE("a damaged capture gives what stands before the damage, then its error", "[log][import]") {
  const std::string whole = capture(1, {{0, 1000, packet(1, 2, 7)}, {0, 2000, packet(1, 2, 8)}});
  const File file(whole.substr(0, whole.size() - 5));
  const Result r = import({.files = {{file.path()}}});
  CHECK(r.error.starts_with("block length"));
  CHECK(r.frames(0).size() == 1);
  CHECK(import({.files = {{"/nowhere/x"}}}).error == "cannot read the capture: it does not exist");
}

TEST_CASE("redaction takes payload and keeps what is equal equal", "[log][redact]") {
  Record a{0, 0, Frame{}}, b{0, 0, Frame{}};
  std::get<Frame>(a.body).bytes = packet(1, 2, 7, 100);
  std::get<Frame>(b.body).bytes = packet(1, 2, 263, 100);  // the same payload
  Record data{0, 0, Host{.op = HostOp::Write, .bytes = 100, .data = std::vector<uint8_t>(100, 7)}};
  Redactor redactor({});
  for (Record* r : {&a, &b, &data}) redactor.redact(*r, {});
  const auto& fa = std::get<Frame>(a.body);
  const auto& fb = std::get<Frame>(b.body);
  CHECK(fa.redacted.bytes == 100);
  CHECK(fa.redacted.hash == digest(std::vector<uint8_t>(100, 7)));
  CHECK(fa.redacted == fb.redacted);
  CHECK(std::get<Host>(data.body).hash == fa.redacted.hash);
  CHECK(std::get<Host>(data.body).data.empty());
  const wire::Packet p = packet_of(fa);
  CHECK_FALSE(p.error);
  CHECK_FALSE(p.icrc);
  CHECK(p.bth->psn == 7);
  CHECK(std::ranges::all_of(p.payload, [](uint8_t byte) { return byte == 0; }));
  // What is no packet keeps nothing behind its headers.
  Record rogue{0, 0, Frame{}};
  std::vector<uint8_t>& bytes = std::get<Frame>(rogue.body).bytes;
  bytes = packet(1, 2, 9, 200);
  bytes[12] ^= 1;  // another protocol
  redactor.redact(rogue, {});
  CHECK(std::ranges::all_of(bytes.begin() + 14, bytes.end(), [](uint8_t byte) { return byte == 0; }));
}

TEST_CASE("redacted addresses are others, the same ones the same", "[log][redact]") {
  Redactor redactor({.payload = false, .addresses = true});
  Record a{0, 0, Frame{}}, b{0, 0, Frame{}}, qp{0, 0, Qp{}};
  std::get<Frame>(a.body).bytes = packet(1, 2, 7);
  std::get<Frame>(b.body).bytes = packet(2, 1, 8);
  std::get<Qp>(qp.body).own_ip = ip(1);
  std::get<Qp>(qp.body).peer_ip = ip(2);
  for (Record* r : {&a, &b, &qp}) redactor.redact(*r, {});
  const wire::Packet pa = packet_of(std::get<Frame>(a.body)), pb = packet_of(std::get<Frame>(b.body));
  CHECK_FALSE(pa.error);
  CHECK(pa.ipv6->src != ip(1));
  CHECK(pa.ipv6->src == pb.ipv6->dst);
  CHECK(pa.ipv6->dst == pb.ipv6->src);
  CHECK(pa.ipv6->src != pa.ipv6->dst);
  CHECK(std::get<Qp>(qp.body).own_ip == pa.ipv6->src);
  CHECK(std::get<Qp>(qp.body).peer_ip == pa.ipv6->dst);
  CHECK((std::get<Frame>(a.body).flags & kChanged) != 0);
}

TEST_CASE("redacted keys and addresses of memory are others, and fit each other as before", "[log][redact]") {
  Redactor redactor({.payload = false, .addresses = true});
  Record region{1, 0, Mr{.rkey = 0x1234, .va = 0x7f00'1234'5000, .bytes = 0x10000, .addr = 0xffff'8880'0000'3000}};
  Record post{0, 0,
              Post{.qp = 1, .addr = 0xffff'8881'0000'0123, .remote = 0x7f00'1234'5678, .bytes = 64, .rkey = 0x1234}};
  Record write{1, 0, Host{.op = HostOp::Write, .addr = 0xffff'8880'0000'3678, .bytes = 64, .data = {}}};
  Record frame{0, 0, Frame{}};
  wire::Packet p = wire::make_packet(wire::Opcode::WriteOnly, wire::Encapsulation::Srv6, true);
  p.reth->va = 0x7f00'1234'5678;
  p.reth->r_key = 0x1234;
  p.payload.assign(64, 1);
  wire::complete(p);
  std::get<Frame>(frame.body).bytes = wire::encode(p);
  for (Record* r : {&region, &post, &write, &frame}) redactor.redact(*r, {});
  const auto& mr = std::get<Mr>(region.body);
  const auto& wqe = std::get<Post>(post.body);
  CHECK(mr.rkey != 0x1234);
  CHECK(wqe.rkey == mr.rkey);
  CHECK(mr.va != 0x7f00'1234'5000);
  CHECK(wqe.remote - mr.va == 0x678);
  CHECK(std::get<Host>(write.body).addr - mr.addr == 0x678);
  CHECK(mr.addr >> 32 != 0xffff'8880);
  CHECK(wqe.addr >> 32 != 0xffff'8881);
  const wire::Packet seen = packet_of(std::get<Frame>(frame.body));
  CHECK(seen.reth->r_key == mr.rkey);
  CHECK(seen.reth->va == wqe.remote);
  // A RETH that a switch has cut in the middle keeps none of its bytes.
  Record cut{0, 0, Frame{}};
  std::vector<uint8_t>& bytes = std::get<Frame>(cut.body).bytes;
  p.outer_ipv6->dscp = wire::DscpMap{}.trimmed;
  bytes = wire::encode(p);
  bytes.resize(14 + 40 + 40 + 8 + 12 + 4 + 8 + 6);
  const std::vector<uint8_t> before = bytes;
  redactor.redact(cut, {});
  CHECK(std::ranges::all_of(bytes.end() - 6, bytes.end(), [](uint8_t b) { return b == 0; }));
  CHECK(packet_of(std::get<Frame>(cut.body)).bth);
  CHECK(bytes.size() == before.size());
}

TEST_CASE("the same frame in two files, or at another interface, is one", "[log][import]") {
  std::vector<uint8_t> hop = packet(1, 2, 9);
  hop[21] = static_cast<uint8_t>(hop[21] - 1);  // hop limit: behind a router
  const std::vector<Sent> frames = {{0, 1000, packet(1, 2, 7)},   {1, 1500, packet(1, 2, 7)},
                                    {0, 2000, packet(1, 2, 8)},   {0, 2500, packet(1, 2, 8)},
                                    {0, 3000, packet(1, 2, 9)},   {0, 3500, hop},
                                    {0, 200'000, packet(1, 2, 7)}};
  const File a(capture(2, frames)), b(capture(2, frames));
  for (const bool twice : {false, true}) {
    ImportOptions options{.files = {{a.path()}}};
    if (twice) options.files.push_back({b.path()});
    const Result r = import(options);
    const std::vector<Frame> sent = r.frames(0);
    REQUIRE(sent.size() == 5);  // PSN 8 was sent twice, PSN 7 again much later
    for (std::size_t i = 0; i < 5; ++i) CHECK(sent[i].number == std::array<uint64_t, 5>{1, 3, 4, 5, 7}[i]);
    CHECK(r.imported.counts.packets == (twice ? 14 : 7));
    CHECK(r.imported.counts.judged == 5);
    CHECK(r.imported.counts.duplicates == (twice ? 9 : 2));
  }
}

TEST_CASE("where a mirror port shows every frame twice, two are one", "[log][import]") {
  std::vector<Sent> frames;
  for (uint32_t psn = 0; psn < 100; ++psn) {
    const auto data = packet(1, 2, psn), back = packet(2, 1, psn);
    const uint64_t now = 4000 * uint64_t{psn} + 1000;
    for (const uint64_t late : {0, 1, 2, 3}) {
      if (late < 2 || psn == 50) frames.push_back({0, now + late, data});  // PSN 50 was sent twice
      if (late < 2) frames.push_back({0, now + 2000 + late, back});
    }
  }
  for (const bool peer_too : {true, false}) {
    if (!peer_too) {
      std::erase_if(frames, [](const Sent& f) { return (f.time_ns - 1000) % 4000 == 2001; });
    }
    const File file(capture(1, frames));
    const Result r = import({.files = {{file.path()}}});
    CHECK(r.imported.counts.twice == (peer_too ? 1 : 0));
    CHECK(r.imported.counts.judged == (peer_too ? 201 : 302));
    CHECK(r.imported.counts.duplicates == (peer_too ? 201 : 0));
  }
}

TEST_CASE("what is left out is counted by its reason", "[log][import]") {
  const auto with = [](std::size_t at, std::vector<uint8_t> bytes) {
    std::vector<uint8_t> frame = packet(1, 2, 7);
    std::ranges::copy(bytes, frame.begin() + static_cast<std::ptrdiff_t>(at));
    return frame;
  };
  const auto first = [](std::size_t bytes) {
    std::vector<uint8_t> frame = packet(1, 2, 7);
    frame.resize(bytes);
    return frame;
  };
  const auto length = static_cast<uint32_t>(packet(1, 2, 7).size());
  const std::size_t damaged_byte = 90;
  const File file(capture(1, {{0, 1000, with(12, {0x08, 0x06})},      // ARP
                              {0, 1100, with(12, {0x88, 0x47})},      // MPLS
                              {0, 1200, with(12, {0x88, 0xcc})},      // LLDP
                              {0, 1300, with(20, {6})},               // TCP
                              {0, 1400, with(20, {44})},              // a fragment
                              {0, 1500, with(56, {0x30, 0x39})},      // UDP port 12345
                              {0, 1600, first(60), length},           // snap length 60
                              {0, 1700, first(80), length},           // 80: the BTH is there, the RETH is not
                              {0, 1800, first(120), length},          // judged
                              {0, 1900, with(damaged_byte, {0xee})},  // the ICRC is wrong
                              {0, 2000, with(14, {0x40})},            // IP version 4 behind IPv6's type
                              {0, 2100, packet(1, 2, 8)}}));
  const Result r = import({.files = {{file.path()}}});
  const CaptureCounts& counts = r.imported.counts;
  for (const LeftOut reason :
       {LeftOut::Arp, LeftOut::Mpls, LeftOut::OtherType, LeftOut::OtherProtocol, LeftOut::Fragment, LeftOut::OtherPort,
        LeftOut::CutBeforeBth, LeftOut::CutInHeaders, LeftOut::Malformed}) {
    INFO(info(reason).name);
    CHECK(counts.of(reason) == 1);
  }
  CHECK(counts.other_port == 12345);
  CHECK(counts.damaged == 1);
  CHECK(counts.judged == 2);
  CHECK(counts.may_be() == 4);
  CHECK(counts.judged + counts.damaged + counts.others() == counts.packets);
  CHECK(words(counts).size() == 10);
  // At the ports of its sender it is what that sent; at those of its receiver, what came.
  for (const uint8_t own : std::array<uint8_t, 2>{1, 2}) {
    const Result at = import({.files = {{file.path(), 0}}, .devices = {{{ip(own)}, "mine", "{}"}}});
    CHECK(at.imported.counts.damaged == 0);
    CHECK(std::ranges::count_if(at.frames(0), [&](const Frame& f) { return f.sent == (own == 1); }) == 3);
  }
}

TEST_CASE("interfaces of a cooked capture are planes in the order in which they show MRC", "[log][import]") {
  std::ostringstream out;
  wire::PcapngWriter writer(out, {}, 0);
  writer.add_interface({"any", wire::kLinkSll2, {}});
  const auto cooked = [&](uint8_t port, uint64_t ns, std::vector<uint8_t> frame) {
    std::vector<uint8_t> bytes = {0x86, 0xdd, 0, 0, 0, 0, 0, port, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0};
    bytes.insert(bytes.end(), frame.begin() + 14, frame.end());
    writer.write(0, ns, bytes);
  };
  cooked(9, 1000, packet(1, 2, 7));
  cooked(4, 2000, packet(1, 2, 8));
  cooked(9, 3000, packet(1, 2, 9));
  const File file(out.str());
  const Result r = import({.files = {{file.path()}}});
  const std::vector<Frame> sent = r.frames(0);
  REQUIRE(sent.size() == 3);
  CHECK(sent[0].plane == 0);
  CHECK(sent[1].plane == 1);
  CHECK(sent[2].plane == 0);
}

TEST_CASE("an ACK that is repeated on another plane was sent twice, unless a mirror is known", "[log][import]") {
  wire::Packet p = wire::make_packet(wire::Opcode::Ack, wire::Encapsulation::Ipv6);
  p.ipv6->src = ip(2);
  p.ipv6->dst = ip(1);
  wire::complete(p);
  const std::vector<uint8_t> ack = wire::encode(p);
  const File planes(capture(2, {{0, 1000, ack}, {1, 2000, ack}}));
  CHECK(import({.files = {{planes.path()}}}).imported.counts.judged == 2);
  const File mirror(capture(2, {{0, 500, packet(1, 2, 7)}, {1, 600, packet(1, 2, 7)}, {0, 1000, ack}, {1, 2000, ack}}));
  CHECK(import({.files = {{mirror.path()}}}).imported.counts.judged == 2);
}

}  // namespace mrc::test::import_test
