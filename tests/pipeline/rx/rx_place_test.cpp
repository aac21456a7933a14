// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx/rx_place.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <vector>

#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/wave.hpp"

namespace mrc::test::rx_place_test {
namespace {

/// A packet that is done: of which plane, and in which cycle done_valid_q was 1.
struct Done {
  unsigned plane, cycle;
  bool operator==(const Done&) const = default;
};

/// rx_place alone: one feed per plane. The address of a line says of which plane and packet it is, and its number.
struct Bench : BlockBench<Bench> {
  Preset preset;
  std::vector<Stream<Line>> lanes;
  RxPlace block;
  std::vector<Feed<Line>> feeds;
  Pin<Line> host;
  std::vector<Done> done;
  unsigned packets[kMaxPlanes] = {};

  explicit Bench(const char* name = "tiny")
      : preset(*find_preset(name)),
        lanes(preset.num_planes, Stream<Line>()),
        block(preset, lanes),
        feeds(preset.num_planes) {}

  static uint64_t address(unsigned plane, unsigned packet, unsigned line) {
    return uint64_t{plane} << 32 | uint64_t{packet} << 8 | line;
  }
  static uint16_t qp_of(unsigned plane, unsigned packet) { return static_cast<uint16_t>(16 * packet + plane); }
  /// A packet of so many lines; of none: its buffer is freed (one word of length 0).
  void packet(unsigned plane, unsigned lines) {
    const unsigned number = packets[plane]++;
    for (unsigned i = 0; i < lines; ++i) {
      feeds[plane].words.push_back(
          {.addr = address(plane, number, i), .len = 64, .last = i + 1 == lines, .qp = qp_of(plane, number)});
    }
    if (lines == 0) feeds[plane].words.push_back({.addr = address(plane, number, 0xff), .len = 0, .last = true});
  }
  void cycle() {
    if (block.done_valid()) done.push_back({block.done_plane(), cycles});
    host.look(block.line_valid(), block.line(), cycles);
    for (std::size_t p = 0; p < lanes.size(); ++p) feeds[p].into(lanes[p]);
    block.step(host.ready);
    block.clock();
    for (auto& lane : lanes) lane.clock();
    ++cycles;
  }
  std::vector<uint64_t> addresses() const {
    std::vector<uint64_t> list;
    for (const Line& line : host.taken.words) list.push_back(line.addr);
    return list;
  }
};

using Dones = std::vector<Done>;

}  // namespace

TEST_CASE("rx_place: a packet is done in the cycle after the host took its last line", "[rx_place]") {
  Bench b;
  b.packet(1, 3);
  b.run(12);
  REQUIRE(b.host.taken.words.size() == 3);
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(b.host.taken.words[i].addr == Bench::address(1, 0, i));
    CHECK(b.host.taken.at[i] == 3 + i);  // lane's register in 1, head in 2, output in 3: a line per cycle
  }
  CHECK(b.done == Dones{{1, 6}});
}

TEST_CASE("rx_place: a line that waits for the host is not done, however long", "[rx_place]") {
  Bench b;
  b.host.taken.pace = Pace::never();
  b.packet(0, 1);
  b.run(50);
  CHECK(b.block.line_valid());
  CHECK(b.done.empty());
  b.host.taken.pace = Pace::always();
  b.run(4);
  CHECK(b.host.taken.at == std::vector<unsigned>{50});
  CHECK(b.done == Dones{{0, 51}});
}

TEST_CASE("rx_place: a packet without data is done without a line", "[rx_place]") {
  Bench b;
  b.packet(1, 0);
  b.run(8);
  CHECK(b.host.taken.words.empty());
  CHECK(b.done == Dones{{1, 3}});  // head in 2
}

TEST_CASE("rx_place: a packet without data needs no host while no line waits for it", "[rx_place]") {
  Bench b;
  b.host.taken.pace = Pace::never();
  b.packet(0, 0);
  b.packet(1, 0);
  b.run(8);
  CHECK(b.done == Dones{{0, 3}, {1, 4}});
}

TEST_CASE("rx_place: while the host takes nothing, a packet without data is not done either", "[rx_place]") {
  Bench b;
  b.host.taken.pace = Pace::never();
  b.packet(0, 2);
  b.run(6);  // a line is at the output
  b.packet(1, 0);
  b.run(30);
  CHECK(b.done.empty());
  CHECK(b.lanes[1].count() == 1);
  b.host.taken.pace = Pace::always();
  b.run(10);
  REQUIRE(b.done.size() == 2);
  CHECK(b.host.taken.words.size() == 2);
}

TEST_CASE("rx_place: two packets are never done in one cycle: the one without data waits", "[rx_place]") {
  Bench b;
  b.host.taken.pace = Pace::never();
  b.packet(0, 1);
  b.run(6);
  b.packet(1, 0);
  b.run(6);
  b.host.taken.pace = Pace::always();
  b.run(6);  // the line is taken in 12, and in that cycle the other packet may not go
  CHECK(b.done == Dones{{0, 13}, {1, 14}});
}

TEST_CASE("rx_place: planes take turns line by line, and each packet is done with its own last line", "[rx_place]") {
  Bench b;
  b.packet(0, 3);
  b.packet(1, 2);
  b.packet(0, 1);
  b.run(14);
  const auto at = Bench::address;
  CHECK(b.addresses() ==
        std::vector<uint64_t>{at(0, 0, 0), at(1, 0, 0), at(0, 0, 1), at(1, 0, 1), at(0, 0, 2), at(0, 1, 0)});
  CHECK(b.done == Dones{{1, 7}, {0, 8}, {0, 9}});
}

TEST_CASE("rx_place: a line names the plane that it came from, and leaves as it came but for that", "[rx_place]") {
  Bench b("asic800");
  for (unsigned p = 0; p < b.preset.num_planes; ++p) b.packet(p, 1 + p % 3);
  std::vector<std::vector<Line>> came;
  for (const auto& feed : b.feeds) came.emplace_back(feed.words.begin(), feed.words.end());
  b.run(40);
  std::vector<unsigned> next(b.preset.num_planes, 0);
  for (const Line& line : b.host.taken.words) {
    REQUIRE(line.plane < b.preset.num_planes);
    REQUIRE(next[line.plane] < came[line.plane].size());
    Line want = came[line.plane][next[line.plane]++];
    CHECK(want.plane == 0);
    want.plane = line.plane;
    CHECK(line == want);
  }
  for (unsigned p = 0; p < b.preset.num_planes; ++p) CHECK(next[p] == came[p].size());
}

TEST_CASE("rx_place: at any pace every packet is done once, in order, and not before its data are taken",
          "[rx_place]") {
  const uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  Bench b(seed % 2 != 0 ? "asic800" : "tiny");
  Rng rng(seed, "rx_place");
  b.host.taken.pace = Pace::random(seed < 4 ? 0.5 : 0.95, seed);
  const unsigned planes = b.preset.num_planes, each = 150;
  std::vector<std::vector<unsigned>> sizes(planes);
  for (unsigned p = 0; p < planes; ++p) {
    b.feeds[p].pace = Pace::random(0.2 + 0.1 * p, seed + 10 * p + 1);
    for (unsigned i = 0; i < each; ++i) {
      sizes[p].push_back(static_cast<unsigned>(rng.below(5)));
      b.packet(p, sizes[p].back());
    }
  }
  b.run_until([&] { return b.done.size() == std::size_t{planes} * each; });

  // What the host had taken of each packet when it was done.
  std::vector<unsigned> next(planes, 0);
  std::size_t line = 0;
  std::vector<std::vector<unsigned>> lines(planes, std::vector<unsigned>(each, 0));
  for (const Done& done : b.done) {
    for (; line < b.host.taken.words.size() && b.host.taken.at[line] < done.cycle; ++line) {
      const uint64_t address = b.host.taken.words[line].addr;
      const auto plane = static_cast<std::size_t>(address >> 32),
                 packet = static_cast<std::size_t>(address >> 8 & 0xffff);
      CHECK((address & 0xff) == lines[plane][packet]);  // lines of a packet in their order
      CHECK(b.host.taken.words[line].plane == plane);
      CHECK(b.host.taken.words[line].qp == Bench::qp_of(unsigned(plane), unsigned(packet)));
      ++lines[plane][packet];
    }
    const unsigned packet = next[done.plane]++;
    REQUIRE(packet < each);
    CHECK(lines[done.plane][packet] == sizes[done.plane][packet]);
  }
  CHECK(line == b.host.taken.words.size());
  b.run(20);
  CHECK(b.done.size() == std::size_t{planes} * each);
}

TEST_CASE("the waves of rx_place.md: packets of two planes, one that is dropped, the host waits", "[rx_place][waves]") {
  Bench b;
  b.packet(0, 2);
  b.packet(0, 0);  // dropped: its buffer is freed
  b.packet(1, 3);
  const auto willing = [&b] { return b.cycles != 5; };
  const auto name = [](const Line& line) {
    const unsigned number = line.addr & 0xff;
    return line.len == 0 ? std::string("drop")
                         : fmt::format("{}.{}{}", line.addr >> 32, number, line.last ? " last" : "");
  };
  Wave wave("rx_place", "rx_place: lines as plane.number; plane 0 has a packet of two lines and one that is dropped");
  for (unsigned p = 0; p < 2; ++p) wave.head(fmt::format("lines[{}] head", p), b.lanes[p], name);
  wave.words(
      "line", [&] { return b.block.line_valid() ? name(b.block.line()) : std::string(); }, [] { return true; });
  wave.bit("host_wr_ready", willing);
  wave.bit("done_valid_q", [&] { return b.block.done_valid(); });
  wave.words(
      "done_plane_q", [&] { return b.block.done_valid() ? fmt::format("{}", b.block.done_plane()) : std::string(); },
      [] { return false; });
  for (unsigned i = 0; i < 13; ++i) {
    wave.sample();
    b.host.taken.pace = willing() ? Pace::always() : Pace::never();
    b.cycle();
  }
  CHECK(b.done.size() == 3);
  CAPTURE(wave.json());
  CHECK(wave.differs() == "");
}

}  // namespace mrc::test::rx_place_test
