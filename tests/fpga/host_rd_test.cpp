// SPDX-License-Identifier: Apache-2.0
// fpga/rtl/mrc_fpga_axi_rd.sv and a memory that is slow, takes planes in any order, mixes their beats, and fails. A
// byte of memory is a hash of its address: a line that is not the one asked for shows.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "Vmrc_fpga_axi_rd.h"
#include "tests/fpga/unit.hpp"
#include "util/rng.hpp"

namespace mrc::test::host_rd_test {
namespace {

constexpr unsigned kWord = 64, kPlanes = 2, kPending = 4;

uint8_t byte_at(uint64_t address) { return static_cast<uint8_t>(Rng::hash(address) >> 32); }

struct Request {
  uint64_t address = 0;
  unsigned size = 0, plane = 0, qp = 0;
  bool fails = false;  ///< one of its beats has an error
};

/// A beat that the memory owes: of the request number `of` of its plane.
struct Beat {
  uint64_t address = 0;
  bool last = false;
};

class Bench : public Unit<Vmrc_fpga_axi_rd> {
 public:
  explicit Bench(uint64_t seed) : Unit("reads"), rng(seed, "reads") {
    reset([this] { cycle(); });
  }

  void cycle() {
    drive();
    settle();
    if (top->rst_ni) sample();
    edge();
  }
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle();
  }
  void issue(uint64_t address, unsigned size, unsigned plane) {
    wanted.push_back({address, size, plane, static_cast<unsigned>(rng.below(65536)), false});
  }

  Rng rng;
  double offers = 1.0, takes = 1.0, gives = 1.0, fails = 0.0;
  std::deque<Request> wanted;  ///< not taken yet
  uint64_t lines = 0, errors = 0, reported = 0, strays = 0, bursts = 0, splits = 0, mixed = 0;
  bool stray = false;
  std::array<std::deque<Request>, kPlanes> requested;  ///< taken, without answer

 private:
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
    t.m_axi_arready_i = rng.chance(takes);
    if (!beat_) {
      auto plane = static_cast<unsigned>(rng.below(kPlanes));
      if (owed_[plane].empty()) plane = 1 - plane;
      if (!owed_[plane].empty() && rng.chance(gives)) {
        beat_ = plane;
        resp_ = static_cast<uint8_t>(rng.chance(fails) ? 2 + rng.below(2) : rng.below(2));
      }
    }
    t.m_axi_rvalid_i = beat_.has_value() || stray;
    t.m_axi_rresp_i = static_cast<uint8_t>(rng.below(4));
    t.m_axi_rid_i = static_cast<uint8_t>(beat_.value_or(rng.below(kPlanes)));
    if (!beat_) return;
    const Beat& beat = owed_[*beat_].front();
    std::array<uint8_t, kWord> data{};
    for (unsigned i = 0; i < kWord; ++i) data[i] = byte_at(beat.address + i);
    std::memcpy(&t.m_axi_rdata_i[0], data.data(), kWord);
    t.m_axi_rresp_i = resp_;
    t.m_axi_rlast_i = beat.last;
  }

  void sample() {
    auto& t = *top;
    strays += t.stray_o;
    if (t.host_rsp_valid_o) {
      const unsigned plane = t.host_rsp_plane_o;
      REQUIRE(plane < kPlanes);
      REQUIRE(!requested[plane].empty());
      const Request request = requested[plane].front();
      requested[plane].pop_front();
      std::array<uint8_t, kWord> data{};
      std::memcpy(data.data(), &t.host_rsp_data_o[0], kWord);
      for (unsigned i = 0; i < request.size; ++i) REQUIRE(data[i] == byte_at(request.address + i));
      REQUIRE(t.host_rsp_err_o == request.fails);
      REQUIRE(t.host_rsp_qp_o == request.qp);
      reported += t.host_rsp_err_o;
      ++lines;
    }
    if (beat_) {
      // Which request the beat is of: the oldest whose beats have not all come.
      auto& open = came_[*beat_];
      Request& request = requested[*beat_].at(open / 2);
      const bool two = request.address % kWord + request.size > kWord;
      if (resp_ >= 2) {
        request.fails = true;
        ++errors;
      }
      REQUIRE(owed_[*beat_].front().address == (request.address + (open % 2 == 0 ? 0 : kWord)) / kWord * kWord);
      if (last_plane_ && *last_plane_ != *beat_ && !whole_) ++mixed;
      whole_ = !two || open % 2 == 1;
      last_plane_ = *beat_;
      // What is whole leaves `requested` one cycle later.
      open = whole_ ? 0 : 1;
      owed_[*beat_].pop_front();
      beat_.reset();
    }
    const std::array<uint64_t, 3> ar{t.m_axi_araddr_o, t.m_axi_arlen_o, t.m_axi_arid_o};
    if (held_) REQUIRE((t.m_axi_arvalid_o && ar == *held_));
    held_.reset();
    if (t.m_axi_arvalid_o) {
      if (!t.m_axi_arready_i) {
        held_ = ar;
      } else {
        REQUIRE(ar[0] % kWord == 0);
        REQUIRE(ar[1] <= 1);
        REQUIRE(ar[0] / 4096 == (ar[0] + (ar[1] + 1) * kWord - 1) / 4096);
        REQUIRE((t.m_axi_arsize_o == 6 && t.m_axi_arburst_o == 1));
        for (uint64_t i = 0; i <= ar[1]; ++i) owed_[ar[2]].push_back({ar[0] + i * kWord, i == ar[1]});
        ++bursts;
      }
    }
    if (t.host_rd_valid_i && t.host_rd_ready_o) {
      const Request& request = wanted.front();
      splits += request.address / 4096 != (request.address + request.size - 1) / 4096;
      requested[request.plane].push_back(request);
      wanted.pop_front();
      offered_ = false;
    }
  }

  std::array<std::deque<Beat>, kPlanes> owed_;
  std::array<std::size_t, kPlanes> came_{};  ///< a first beat of two has come
  std::optional<unsigned> beat_, last_plane_;
  std::optional<std::array<uint64_t, 3>> held_;
  uint8_t resp_ = 0;
  bool offered_ = false, whole_ = true;
};

/// A request anywhere, often near a boundary of 4 KiB.
void issue_any(Bench& bench) {
  const auto size = static_cast<unsigned>(bench.rng.chance(0.6) ? kWord : bench.rng.between(1, kWord));
  uint64_t address = bench.rng.next();
  if (bench.rng.chance(0.4)) address = (address & ~uint64_t{4095}) + 4096 - bench.rng.below(80);
  if (bench.rng.chance(0.2)) address &= ~uint64_t{63};
  bench.issue(address >> 1, size, static_cast<unsigned>(bench.rng.below(kPlanes)));
}

}  // namespace

TEST_CASE("lines are read as they are in memory, in the order of each plane", "[fpga][host]") {
  uint64_t lines = 0, splits = 0, mixed = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Bench bench(seed);
    bench.offers = seed % 2 == 0 ? 1.0 : 0.5;
    bench.takes = seed % 3 == 0 ? 1.0 : 0.5;
    bench.gives = seed % 4 == 0 ? 1.0 : 0.3;
    std::size_t most = 0;
    uint64_t requested = 0;
    for (unsigned i = 0; i < 6000; ++i) {
      if (bench.wanted.size() < 2) {
        issue_any(bench);
        ++requested;
      }
      bench.cycle();
      most = std::max({most, bench.requested[0].size(), bench.requested[1].size()});
    }
    bench.offers = bench.takes = bench.gives = 1.0;
    bench.run(100);
    CHECK(bench.lines == requested);
    CHECK(most >= kPending);      // requests have waited
    CHECK(most <= kPending + 3);  // and two in front, one that leaves
    CHECK(bench.strays == 0);
    CHECK(bench.errors == 0);
    CHECK(failed_assertions() == std::vector<std::string>{});
    lines += bench.lines;
    splits += bench.splits;
    mixed += bench.mixed;
  }
  CHECK(lines > 10000);
  CHECK(splits > 1000);
  CHECK(mixed > 500);
  // A memory that answers nothing: requests wait, of both planes.
  Bench bench(20);
  bench.gives = 0.0;
  for (unsigned i = 0; i < 20; ++i) bench.issue(64 * i, 64, 0);
  bench.issue(0, 64, 1);
  bench.run(200);
  CHECK(bench.lines == 0);
  CHECK(bench.bursts == kPending);
  CHECK(bench.wanted.size() == 21 - kPending - 2);
  bench.gives = 1.0;
  bench.run(200);
  CHECK(bench.lines == 21);
}

TEST_CASE("a read that fails is told with its line", "[fpga][host]") {
  uint64_t reported = 0, errors = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Bench bench(seed);
    bench.fails = 0.05;
    bench.gives = 0.7;
    for (unsigned i = 0; i < 4000; ++i) {
      if (bench.wanted.size() < 2) issue_any(bench);
      bench.cycle();
    }
    reported += bench.reported;
    errors += bench.errors;
  }
  CHECK(errors > 300);
  CHECK(reported > 300);
  CHECK(reported <= errors);
  Bench bench(7);
  bench.stray = true;
  bench.run(1);
  bench.stray = false;
  bench.issue(5, 64, 1);
  bench.run(20);
  CHECK(bench.strays == 1);
  CHECK(bench.lines == 1);
  CHECK(bench.reported == 0);
}

}  // namespace mrc::test::host_rd_test
