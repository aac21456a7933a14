// SPDX-License-Identifier: Apache-2.0
// Two boards, cable to cable, whose memories fail, and whose cores are reset while memory owes answers. What a byte of
// the sender's memory is follows from its address and the life of the NIC: an answer of before shows.
#include "tests/fpga/board.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gen/csr.hpp"
#include "gen/streams.hpp"
#include "tb/device/pins_device.hpp"
#include "tests/fpga/hooks.hpp"
#include "util/rng.hpp"

using namespace mrc;
using log::Status;

namespace {

constexpr uint64_t kSource = 0x100000000, kTarget = 0x200000000;
constexpr uint32_t kRkey = 0x1234;
constexpr uint16_t kCoreState = 0x1014, kCore = 0x2000, kHost = 0x5000;
constexpr uint16_t kQpFailed = kHost + 0x10, kWrTaken = kHost + 0x14, kWrDone = kHost + 0x18, kWrFailed = kHost + 0x1c,
                   kRdTaken = kHost + 0x20, kRdDone = kHost + 0x24, kRdFailed = kHost + 0x28, kStrays = kHost + 0x2c;
constexpr log::Time kTurn = 200'000, kCable = 300'000;

/// The board stays when the bench opens its device anew.
class Lent final : public tb::Dut {
 public:
  explicit Lent(Board& board) : board_(board) {}
  void outputs(mrc_pins_out& o) override { board_.outputs(o); }
  void step(const mrc_pins_in& i) override { board_.step(i); }
  bool observe(const uint32_t*&, const uint32_t*&) override { return false; }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return board_.name(); }
  std::string version() const override { return {}; }
  unsigned assertions() const override { return board_.assertions(); }
  const tb::FailedAssertion* failed_assertion() const override { return board_.failed_assertion(); }

 private:
  Board& board_;
};

/// A board, and what its host has seen since it was opened.
struct Side {
  Side(uint64_t seed, uint8_t number) : board(seed), address{0xfd} {
    address[15] = number;
    mac = 0x020000000000 + number;
    tb::PinsOptions options;
    options.preset = &Board::kPreset;
    options.name = "board";
    options.whose_writes = false;
    options.open = [this](uint64_t, std::string&) { return std::make_unique<Lent>(board); };
    nic = tb::make_pins_device(options);
  }
  Board board;
  log::Ip address;
  uint64_t mac;
  std::unique_ptr<tb::NicDevice> nic;
  tb::DeviceInfo info;
  std::map<uint64_t, uint8_t> memory;
  std::vector<log::Cqe> cqes;
};

class Pair {
 public:
  explicit Pair(uint64_t seed) : rng(seed, "pair"), sides{{{seed, 1}, {seed + 1000, 2}}} { failed_assertions(); }

  /// As new, both of them, with so many queue pairs.
  void open(unsigned qps) {
    ++life;
    now = 0;
    in_flight_.clear();
    free_ = {};
    for (unsigned i = 0; i < 2; ++i) {
      Side& s = sides[i];
      tb::OpenRequest request;
      request.seed = rng.next() & 0xffffffff;
      s.info = s.nic->open(request);
      s.nic->address(s.mac, s.address);
      s.nic->mr({.rkey = kRkey, .va = kTarget, .bytes = 1 << 20, .addr = kTarget});
      s.memory.clear();
      s.cqes.clear();
    }
    for (unsigned q = 0; q < qps; ++q) connect(q);
  }
  void connect(unsigned q) {
    for (unsigned i = 0; i < 2; ++i) {
      Side& s = sides[i];
      tb::QpConfig c = s.nic->qp_now(s.info.qp_first + q);
      c.state = log::QpState::Rts;
      c.peer_qp = sides[1 - i].info.qp_first + q;
      c.peer_ip = sides[1 - i].address;
      c.peer_mac = sides[1 - i].mac;
      c.mtu = 1024;
      s.nic->qp(c);
    }
  }
  /// As software does it at both ends, but for QP_FAILED.
  void reconnect(unsigned q) {
    for (Side& s : sides) {
      tb::QpConfig c = s.nic->qp_now(s.info.qp_first + q);
      c.state = log::QpState::Reset;
      s.nic->qp(c);
    }
    run(60);
    for (unsigned i = 0; i < 2; ++i) CHECK(read(i, kWrTaken) == read(i, kWrDone));
    connect(q);
    run(10);
  }

  /// A WRITE with an immediate; false: no room now.
  bool post(unsigned from, unsigned qp, uint64_t at, uint32_t bytes) {
    return sides[from].nic->post({.qp = sides[from].info.qp_first + qp,
                                  .wr_id = at,
                                  .addr = kSource + at,
                                  .remote = kTarget + at,
                                  .bytes = bytes,
                                  .rkey = kRkey,
                                  .immediate = true,
                                  .imm = static_cast<uint32_t>(at)});
  }
  uint8_t byte_at(uint64_t at) const { return static_cast<uint8_t>(Rng::hash(at ^ uint64_t{life} << 40) >> 32); }

  /// True: each byte is in the memory of side `i` as the sender has it.
  bool written(unsigned i, uint64_t at, uint32_t bytes) const {
    for (uint64_t b = at; b < at + bytes; ++b) {
      const auto found = sides[i].memory.find(kTarget + b);
      if (found == sides[i].memory.end() || found->second != byte_at(kSource + b)) return false;
    }
    return true;
  }
  /// Bytes that are in memory and not the sender's.
  std::size_t wrong(unsigned i) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        sides[i].memory, [&](const auto& entry) { return entry.second != byte_at(entry.first - kTarget + kSource); }));
  }

  void turn() {
    now += kTurn;
    for (unsigned i = 0; i < 2; ++i) {
      Side& s = sides[i];
      for (log::Time reached = 0; reached < now;) {
        tb::Advanced ran = s.nic->advance(now, kTurn);
        for (tb::Output& out : ran.out) take(i, out);
        reached = ran.reached;
      }
    }
    for (auto& [to, frame] : in_flight_) {
      // One behind the other, and not before the time reached.
      const auto bytes = static_cast<log::Time>(frame.bytes.size());
      const log::Time byte = 8000 / Board::kPreset.port_gbps;
      log::Time& free = free_[to][frame.plane];
      const log::Time last = std::max(frame.last + kCable, std::max(now, free) + (bytes + 30) * byte);
      free = last + 60 * byte;
      sides[to].nic->rx(frame.plane, last, frame.bytes, false);
    }
    in_flight_.clear();
  }
  void run(unsigned turns) {
    for (unsigned i = 0; i < turns; ++i) turn();
  }
  /// Until no access of registers is under way.
  void settle() {
    for (unsigned turns = 0; std::ranges::any_of(sides, [](const Side& s) { return !s.board.bus_is_idle(); });
         ++turns) {
      REQUIRE(turns < 1000);
      turn();
    }
  }
  /// A register of the map of side `i`.
  uint32_t read(unsigned i, uint16_t at) {
    uint32_t value = 0;
    sides[i].board.read(at, [&](uint32_t data, unsigned resp) {
      CHECK(resp == 0);
      value = data;
    });
    settle();
    return value;
  }
  /// State of a QP, and why the NIC put it into ERROR.
  std::pair<log::QpState, CqStatus> qp_info(unsigned i, unsigned qp) {
    // Both at once: the bench's device looks at QPs, too.
    uint32_t info = 0;
    sides[i].board.write(kCore + csr::kQpSel, qp);
    sides[i].board.read(kCore + csr::kQpInfo, [&](uint32_t data, unsigned) { info = data; });
    settle();
    return {static_cast<log::QpState>(csr::kQpInfoState.get(info)), CqStatus(csr::kQpInfoStatus.get(info))};
  }
  void write(unsigned i, uint16_t at, uint32_t value) {
    sides[i].board.write(at, value, [](uint32_t, unsigned resp) { CHECK(resp == 0); });
    settle();
  }

  Rng rng;
  unsigned life = 0;
  log::Time now = 0;
  std::array<Side, 2> sides;

 private:
  void take(unsigned i, tb::Output& out) {
    Side& s = sides[i];
    if (auto* frame = std::get_if<tb::SentFrame>(&out.body)) {
      in_flight_.emplace_back(1 - i, std::move(*frame));
    } else if (auto* read = std::get_if<tb::HostRead>(&out.body)) {
      std::vector<uint8_t> data(read->bytes);
      for (uint32_t b = 0; b < read->bytes; ++b) data[b] = byte_at(read->addr + b);
      s.nic->host_done(read->tag, now, data, 0);
    } else if (auto* write = std::get_if<tb::HostWrite>(&out.body)) {
      for (std::size_t b = 0; b < write->data.size(); ++b) s.memory[write->addr + b] = write->data[b];
    } else if (auto* cqe = std::get_if<log::Cqe>(&out.body)) {
      s.cqes.push_back(*cqe);
    }
  }
  std::vector<std::pair<unsigned, tb::SentFrame>> in_flight_;
  std::array<std::array<log::Time, Board::kPlanes>, 2> free_{};
};

/// Receive completions of a side.
std::vector<log::Cqe> received(const Side& side) {
  std::vector<log::Cqe> all;
  std::ranges::copy_if(side.cqes, std::back_inserter(all), [](const log::Cqe& cqe) { return cqe.receive; });
  return all;
}

/// Six messages have completed at each side.
bool done(const Pair& pair) {
  return std::ranges::all_of(pair.sides, [](const Side& s) { return s.cqes.size() == 12; });
}

}  // namespace

TEST_CASE("a QP of which memory has failed a write ends, and completes nothing as Ok until software clears it",
          "[fpga][top]") {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    Pair pair(seed);
    pair.open(2);
    Side &a = pair.sides[0], &b = pair.sides[1];
    REQUIRE(pair.read(1, 0x5000) == 0x4d524348);
    // A write in the middle of the second message.
    b.board.memory.write_fails = [](uint64_t at) { return at >= kTarget + 0x3000 && at < kTarget + 0x3400; };
    REQUIRE(pair.post(0, 0, 0x1003, 3000));
    pair.run(40);
    REQUIRE(pair.post(0, 0, 0x2801, 4000));
    REQUIRE(pair.post(0, 1, 0x4000, 3000));
    pair.run(60);
    CHECK(std::ranges::all_of(received(b), [](const log::Cqe& cqe) {
      return cqe.imm == 0x2801 ? cqe.status == Status::RemoteOperation : cqe.status == Status::Ok;
    }));
    CHECK(std::ranges::count(received(b), 0x1003u, &log::Cqe::imm) == 1);
    CHECK(std::ranges::count(received(b), 0x4000u, &log::Cqe::imm) == 1);
    CHECK(pair.written(1, 0x1003, 3000));
    CHECK_FALSE(pair.written(1, 0x2801, 4000));
    CHECK(pair.written(1, 0x4000, 3000));
    CHECK(pair.wrong(1) == 0);
    CHECK(pair.qp_info(1, 0) == std::pair{log::QpState::Error, CqStatus::HostWrite});
    CHECK(pair.qp_info(1, 1).first == log::QpState::Rts);
    CHECK(pair.read(1, kQpFailed) == 1);
    CHECK(pair.read(1, kWrFailed) == b.board.memory.failed_writes());
    CHECK(b.board.memory.failed_writes() > 0);
    CHECK(pair.read(1, kWrTaken) == pair.read(1, kWrDone));
    // The peer hears of it with what it sends next, if not before.
    pair.post(0, 0, 0x6000, 500);
    REQUIRE(pair.post(0, 1, 0x7000, 500));
    pair.run(60);
    CHECK(pair.qp_info(0, 0).first == log::QpState::Error);
    CHECK(std::ranges::count(received(b), 0x6000u, &log::Cqe::imm) == 0);
    CHECK(std::ranges::count(received(b), 0x7000u, &log::Cqe::imm) == 1);
    // Set up anew by software that forgets to clear it: never Ok; then by one that does.
    for (const bool clears : {false, true}) {
      CAPTURE(clears);
      if (clears) {
        CHECK(pair.read(1, kQpFailed) == 1);
        pair.write(1, kQpFailed, 1);
        CHECK(pair.read(1, kQpFailed) == 0);
      }
      pair.reconnect(0);
      const uint32_t at = clears ? 0x9000 : 0x8000;
      REQUIRE(pair.post(0, 0, at, 500));
      pair.run(40);
      const auto cqes = received(b);
      REQUIRE(cqes.back().imm == at);
      CHECK(cqes.back().status == (clears ? Status::Ok : Status::RemoteOperation));
      CHECK(pair.written(1, at, 500));
    }
    CHECK(pair.read(1, kStrays) == 0);
    CHECK(a.board.failed_assertion() == nullptr);
    CHECK(b.board.failed_assertion() == nullptr);
  }
}

TEST_CASE("a QP of which memory has failed a read ends, and nothing wrong reaches the peer", "[fpga][top]") {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    Pair pair(seed);
    pair.open(2);
    Side &a = pair.sides[0], &b = pair.sides[1];
    const uint64_t bad = kSource + 0x3000 + 0x40 * seed;
    a.board.memory.read_fails = [bad](uint64_t at) { return at == bad; };
    REQUIRE(pair.post(0, 0, 0x1000, 3000));
    pair.run(40);
    REQUIRE(pair.post(0, 0, 0x3000, 4000));
    REQUIRE(pair.post(0, 1, 0x5000, 8000));
    pair.run(60);
    CHECK(pair.qp_info(0, 0) == std::pair{log::QpState::Error, CqStatus::HostRead});
    CHECK(pair.qp_info(0, 1).first == log::QpState::Rts);
    CHECK(pair.read(0, kCoreState) == 1);
    CHECK(pair.read(0, kRdFailed) >= 1);
    CHECK(pair.read(0, kRdFailed) == a.board.memory.failed_reads());
    CHECK(pair.read(0, kRdTaken) == pair.read(0, kRdDone));
    CHECK(pair.read(0, kQpFailed) == 0);
    // The message ends with an error at the sender, the others are whole.
    REQUIRE(a.cqes.size() == 3);
    for (const log::Cqe& cqe : a.cqes) CHECK((cqe.status == Status::Ok) == (cqe.wr_id != 0x3000));
    CHECK(pair.written(1, 0x1000, 3000));
    CHECK_FALSE(pair.written(1, 0x3000, 4000));
    CHECK(pair.written(1, 0x5000, 8000));
    CHECK(pair.wrong(1) == 0);
    CHECK(received(b).size() == 2);
    // Set up anew it works, when memory does.
    a.board.memory.read_fails = nullptr;
    pair.reconnect(0);
    REQUIRE(pair.post(0, 0, 0x3000, 4000));
    pair.run(60);
    CHECK(pair.written(1, 0x3000, 4000));
    CHECK(pair.wrong(1) == 0);
    CHECK(received(b).size() == 3);
    CHECK(pair.read(0, kStrays) == 0);
    CHECK(a.board.failed_assertion() == nullptr);
    CHECK(b.board.failed_assertion() == nullptr);
  }
}

TEST_CASE("what memory answers to a core that is gone reaches no other", "[fpga][top]") {
  std::size_t reads = 0, writes = 0, messages = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    Pair pair(seed);
    for (Side& s : pair.sides) {
      s.board.memory.read_delay = 300;
      s.board.memory.write_delay = 3000;
    }
    for (unsigned life = 0; life < 4; ++life) {
      CAPTURE(life);
      pair.open(2);
      for (Side& s : pair.sides) s.board.resets_core_alone = true;
      uint64_t at = 0x1000;
      std::vector<std::pair<uint64_t, uint32_t>> sent;
      for (unsigned i = 0; i < 6; ++i) {
        const auto size = static_cast<uint32_t>(pair.rng.between(1, 4000));
        REQUIRE(pair.post(0, i % 2, at, size));
        REQUIRE(pair.post(1, i % 2, at, size));
        sent.emplace_back(at, size);
        at += 0x1000 + 37;
      }
      if (life % 2 == 0) {
        // In the middle: memory still owes.
        pair.run(static_cast<unsigned>(pair.rng.between(4, 30)));
        pair.settle();
        for (const Side& s : pair.sides) {
          reads += s.board.memory.reads();
          writes += s.board.memory.writes();
        }
      } else {
        for (unsigned turns = 0; turns < 1000 && !done(pair); ++turns) pair.turn();
        for (unsigned i = 0; i < 2; ++i) {
          for (const auto& [from, size] : sent) CHECK(pair.written(i, from, size));
          CHECK(received(pair.sides[i]).size() == 6);
        }
        messages += 2 * sent.size();
        pair.settle();
      }
      for (unsigned i = 0; i < 2; ++i) CHECK(pair.wrong(i) == 0);
    }
    for (unsigned i = 0; i < 2; ++i) {
      CHECK(pair.read(i, kStrays) == 0);
      CHECK(pair.read(i, kRdTaken) == pair.read(i, kRdDone));
      CHECK(pair.sides[i].board.failed_assertion() == nullptr);
    }
  }
  CHECK(reads > 50);
  CHECK(writes > 20);
  CHECK(messages == 96);
}
