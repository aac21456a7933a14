// SPDX-License-Identifier: Apache-2.0
// The read side of skin B and two shells: one gives streams in order, one fills a RAM in any order. Both are slow and
// fail. A byte of memory is a hash of its address: a line that is not the one asked for shows.
#include <algorithm>
#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "Vmrc_fpga_dma_rd.h"
#include "Vmrc_fpga_dma_rd_bench.h"
#include "tests/fpga/unit.hpp"
#include "util/rng.hpp"

namespace mrc::test::dma_rd_test {
namespace {

constexpr unsigned kWord = 64, kPlanes = 2, kPage = 4096;

uint8_t byte_at(uint64_t address) { return static_cast<uint8_t>(Rng::hash(address) >> 32); }

struct Request {
  uint64_t address = 0;
  unsigned size = 0, plane = 0, qp = 0;
  bool fails = false;  ///< one of its descriptors has an error
};

struct Desc {
  uint64_t address = 0;
  unsigned size = 0, tag = 0;
  std::shared_ptr<Request> request;
};

/// The core's side; the shell is derived.
template <class Top>
class Reads : public Unit<Top> {
 public:
  explicit Reads(uint64_t seed) : Unit<Top>("reads"), rng(seed, "dma reads") { this->reset(); }
  virtual ~Reads() = default;
  using Unit<Top>::top;

  void cycle() {
    drive();
    drive_shell();
    settle();
    sample();
    sample_shell();
    edge();
  }
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle();
  }
  void issue(uint64_t address, unsigned size, unsigned plane) {
    wanted.push_back({address, size, plane, static_cast<unsigned>(rng.below(65536)), false});
  }
  /// A request anywhere, often near a boundary of 4 KiB.
  void issue_any() {
    const auto size = static_cast<unsigned>(rng.chance(0.6) ? kWord : rng.between(1, kWord));
    uint64_t address = rng.next();
    if (rng.chance(0.4)) address = (address & ~uint64_t{kPage - 1}) + kPage - rng.below(80);
    if (rng.chance(0.2)) address &= ~uint64_t{63};
    issue(address >> 1, size, static_cast<unsigned>(rng.below(kPlanes)));
  }
  std::size_t open() const { return requested_[0].size() + requested_[1].size(); }

  Rng rng;
  double offers = 1.0, takes = 1.0, gives = 1.0, fails = 0.0;
  bool stray = false;
  std::deque<Request> wanted;  ///< not taken yet
  uint64_t lines = 0, errors = 0, reported = 0, strays = 0, descs = 0, splits = 0;

 protected:
  virtual void drive_shell() = 0;
  virtual void sample_shell() = 0;
  virtual void began(const Desc& desc) = 0;
  virtual std::array<uint64_t, 4> desc() const = 0;  ///< address, length, tag, place in the RAM

  /// The status of a descriptor.
  bool fail(const Desc& desc) {
    const bool bad = rng.chance(fails);
    desc.request->fails = desc.request->fails || bad;
    errors += bad;
    return bad;
  }

 private:
  using Unit<Top>::settle, Unit<Top>::edge;
  void drive() {
    auto& t = *top;
    if (!offered_) offered_ = !wanted.empty() && rng.chance(offers);
    t.host_rd_valid_i = offered_;
    if (offered_) {
      t.host_rd_addr_i = wanted.front().address;
      t.host_rd_len_i = static_cast<uint8_t>(wanted.front().size);
      t.host_rd_plane_i = static_cast<uint8_t>(wanted.front().plane);
      t.host_rd_qp_i = static_cast<uint16_t>(wanted.front().qp);
    }
    t.desc_ready_i = rng.chance(takes);
  }
  void sample() {
    auto& t = *top;
    strays += t.stray_o;
    if (t.host_rsp_valid_o) {
      const unsigned plane = t.host_rsp_plane_o;
      REQUIRE(plane < kPlanes);
      REQUIRE(!requested_[plane].empty());
      const Request request = *requested_[plane].front();
      REQUIRE(t.host_rsp_qp_o == request.qp);
      requested_[plane].pop_front();
      std::array<uint8_t, kWord> data{};
      std::memcpy(data.data(), &t.host_rsp_data_o[0], kWord);
      if (!request.fails) {
        for (unsigned i = 0; i < request.size; ++i) REQUIRE(data[i] == byte_at(request.address + i));
      }
      REQUIRE(t.host_rsp_err_o == request.fails);
      reported += t.host_rsp_err_o;
      ++lines;
    }
    const auto now = desc();
    if (held_) REQUIRE((t.desc_valid_o && now == *held_));
    held_.reset();
    if (t.desc_valid_o && !t.desc_ready_i) held_ = now;
    if (t.desc_valid_o && t.desc_ready_i) {
      // Parts of requests, in their order, each within a page.
      REQUIRE(!parts_.empty());
      Desc part = parts_.front();
      parts_.pop_front();
      REQUIRE(now[0] == part.address);
      REQUIRE(now[1] == part.size);
      part.tag = static_cast<unsigned>(now[2]);
      REQUIRE(now[3] == part.tag * kWord);
      ++descs;
      began(part);
    }
    if (t.host_rd_valid_i && t.host_rd_ready_o) {
      auto request = std::make_shared<Request>(wanted.front());
      wanted.pop_front();
      offered_ = false;
      requested_[request->plane].push_back(request);
      const auto room = static_cast<unsigned>(kPage - request->address % kPage);
      const unsigned first = std::min(request->size, room);
      parts_.push_back({request->address, first, 0, request});
      if (first < request->size) {
        parts_.push_back({request->address + first, request->size - first, 0, request});
        ++splits;
      }
    }
  }

  std::array<std::deque<std::shared_ptr<Request>>, kPlanes> requested_;
  std::deque<Desc> parts_;  ///< of requests that were taken, without descriptor
  std::optional<std::array<uint64_t, 4>> held_;
  bool offered_ = false;
};

/// Gives streams: the answers of all descriptors in their order, a beat each.
class Streams : public Reads<Vmrc_fpga_dma_rd> {
 public:
  static constexpr unsigned kOpen = 4;
  using Reads::Reads;

 private:
  std::array<uint64_t, 4> desc() const override { return {top->desc_addr_o, top->desc_len_o, 0, 0}; }
  void began(const Desc& desc) override { owed_.push_back(desc); }
  void drive_shell() override {
    auto& t = *top;
    gives_ = !owed_.empty() && rng.chance(gives);
    t.rsp_valid_i = gives_ || stray;
    t.rsp_err_i = rng.chance(0.5);
    std::array<uint8_t, kWord> data{};
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(rng.next());
    if (gives_) {
      t.rsp_err_i = fail(owed_.front());
      for (unsigned i = 0; i < owed_.front().size; ++i) data[i] = byte_at(owed_.front().address + i);
    }
    std::memcpy(&t.rsp_data_i[0], data.data(), kWord);
  }
  void sample_shell() override {
    if (gives_) owed_.pop_front();
  }
  std::deque<Desc> owed_;
  bool gives_ = false;
};

/// Fills a RAM of two segments: descriptors in any order, each by up to three writes with byte enables.
class Ram : public Reads<Vmrc_fpga_dma_rd_bench> {
 public:
  static constexpr unsigned kOpen = 8;
  using Reads::Reads;
  uint64_t overtakes = 0, parts = 0, repeats = 0;
  double twice = 0.0;   ///< a tag whose line waits for an older one is answered again
  bool prompt = false;  ///< the oldest is written and answered, by one write, in one cycle

 private:
  static constexpr unsigned kSegs = 2;
  struct Work {
    Desc desc;
    std::vector<std::pair<unsigned, unsigned>> writes;  ///< first byte and end of each that is to come
  };
  std::array<uint64_t, 4> desc() const override {
    return {top->desc_addr_o, top->desc_len_o, top->desc_tag_o, top->desc_ram_addr_o};
  }
  void began(const Desc& desc) override {
    Work work{desc, {}};
    unsigned from = 0;
    while (from < desc.size) {
      const auto end =
          prompt || work.writes.size() == 2 || rng.chance(0.5) ? desc.size : from + 1 + rng.below(desc.size - from);
      work.writes.emplace_back(from, end);
      from = static_cast<unsigned>(end);
    }
    parts += work.writes.size() > 1;
    open_.push_back(work);
  }
  void drive_shell() override {
    auto& t = *top;
    t.write_valid_i = t.write_row_i = 0;
    for (unsigned s = 0; s < kSegs; ++s) write(s);
    t.status_valid_i = stray;
    if (stray) t.status_tag_i = static_cast<uint8_t>(stray_tag);
    if (again_) {
      t.status_valid_i = t.status_err_i = 1;
      t.status_tag_i = static_cast<uint8_t>(*again_);
      again_.reset();
      ++repeats;
      return;
    }
    if (stray || open_.empty() || !rng.chance(gives)) return;
    const std::size_t i = pick();
    if (!open_[i].writes.empty()) return;
    overtakes += i != 0;
    t.status_valid_i = 1;
    t.status_tag_i = static_cast<uint8_t>(open_[i].desc.tag);
    t.status_err_i = fail(open_[i].desc);
    if (i != 0 && rng.chance(twice)) again_ = open_[i].desc.tag;
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::size_t pick() { return prompt ? 0 : rng.below(open_.size()); }
  /// Part of some line into its segment; the bytes without enable are not those of memory.
  void write(unsigned segment) {
    if (open_.empty() || !rng.chance(gives)) return;
    Work& work = open_[pick()];
    if (work.writes.empty() || work.desc.tag % kSegs != segment) return;
    const auto [from, end] = work.writes.back();
    work.writes.pop_back();
    std::array<uint8_t, kWord> data{};
    uint64_t enables = 0;
    for (unsigned i = 0; i < kWord; ++i) {
      const bool mine = i >= from && i < end;
      enables |= uint64_t{mine} << i;
      data[i] = mine ? byte_at(work.desc.address + i) : static_cast<uint8_t>(rng.next());
    }
    auto& t = *top;
    t.write_valid_i |= static_cast<uint8_t>(1u << segment);
    t.write_row_i |= static_cast<uint8_t>(work.desc.tag / kSegs << 2 * segment);
    std::memcpy(&t.write_be_i[2 * segment], &enables, 8);
    std::memcpy(&t.write_data_i[16 * segment], data.data(), kWord);
  }
  void sample_shell() override {}

  std::vector<Work> open_;
  std::optional<unsigned> again_;

 public:
  unsigned stray_tag = 0;
};

}  // namespace

TEMPLATE_TEST_CASE("lines are read by descriptors as they are in memory, in the order of each plane", "[fpga][dma]",
                   Streams, Ram) {
  uint64_t lines = 0, splits = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    TestType bench(seed);
    bench.offers = seed % 2 == 0 ? 1.0 : 0.5;
    bench.takes = seed % 3 == 0 ? 1.0 : 0.5;
    bench.gives = seed % 4 == 0 ? 1.0 : 0.3;
    uint64_t requested = 0;
    for (unsigned i = 0; i < 4000; ++i) {
      if (bench.wanted.size() < 2) {
        bench.issue_any();
        ++requested;
      }
      bench.cycle();
    }
    bench.offers = bench.takes = bench.gives = 1.0;
    bench.run(200);
    CHECK(bench.lines == requested);
    CHECK(bench.strays == 0);
    CHECK(bench.errors == 0);
    CHECK(failed_assertions() == std::vector<std::string>{});
    lines += bench.lines;
    splits += bench.splits;
    if constexpr (std::is_same_v<TestType, Ram>) {
      CHECK(bench.overtakes > 50);
      CHECK(bench.parts > 50);
    }
  }
  CHECK(lines > 4000);
  CHECK(splits > 400);
}

TEMPLATE_TEST_CASE("a shell that answers no read holds those behind, of both planes, and loses none", "[fpga][dma]",
                   Streams, Ram) {
  TestType bench(20);
  bench.gives = 0.0;
  for (unsigned i = 0; i < 30; ++i) bench.issue(64 * i, 64, 0);
  bench.issue(0, 64, 1);
  bench.run(200);
  CHECK(bench.lines == 0);
  CHECK(bench.descs == TestType::kOpen);
  CHECK(bench.wanted.size() < 31 - TestType::kOpen);
  bench.takes = 0.0;
  bench.gives = 1.0;
  bench.run(200);
  CHECK(bench.lines == TestType::kOpen);
  bench.takes = 1.0;
  bench.run(400);
  CHECK(bench.lines == 31);
}

TEMPLATE_TEST_CASE("lines are read at a line per cycle", "[fpga][dma]", Streams, Ram) {
  TestType bench(21);
  if constexpr (std::is_same_v<TestType, Ram>) bench.prompt = true;
  for (unsigned i = 0; i < 500; ++i) bench.issue(0x1003 + 64 * (i % 60), 64, i % 2);
  bench.run(510);
  CHECK(bench.lines == 500);
}

TEMPLATE_TEST_CASE("a read whose answer is an error is told with its line", "[fpga][dma]", Streams, Ram) {
  uint64_t reported = 0, errors = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    TestType bench(seed);
    bench.fails = 0.05;
    bench.gives = 0.7;
    for (unsigned i = 0; i < 3000; ++i) {
      if (bench.wanted.size() < 2) bench.issue_any();
      bench.cycle();
    }
    bench.gives = 1.0;
    bench.run(200);
    CHECK(bench.open() == 0);
    reported += bench.reported;
    errors += bench.errors;
  }
  CHECK(errors > 100);
  CHECK(reported > 100);
  CHECK(reported <= errors);
}

TEMPLATE_TEST_CASE("an answer to no read is told, and does nothing", "[fpga][dma]", Streams, Ram) {
  TestType bench(7);
  bench.stray = true;
  bench.run(1);
  bench.stray = false;
  bench.issue(5, 64, 1);
  bench.run(60);
  CHECK(bench.strays == 1);
  CHECK(bench.lines == 1);
  CHECK(bench.reported == 0);
  if constexpr (std::is_same_v<TestType, Ram>) {
    // A tag that is not open, while others are.
    bench.gives = 0.0;
    bench.issue(5, 64, 1);
    bench.run(20);
    bench.stray = true;
    bench.stray_tag = 5;
    bench.run(1);
    bench.stray = false;
    bench.gives = 1.0;
    bench.run(60);
    CHECK(bench.strays == 2);
    CHECK(bench.lines == 2);
    // A tag that has its answer.
    bench.twice = 0.3;
    for (unsigned i = 0; i < 2000; ++i) {
      if (bench.wanted.size() < 2) bench.issue_any();
      bench.cycle();
    }
    bench.run(200);
    CHECK(bench.repeats > 50);
    CHECK(bench.strays == 2 + bench.repeats);
    CHECK(bench.reported == 0);
    CHECK(bench.open() == 0);
  }
}

}  // namespace mrc::test::dma_rd_test
