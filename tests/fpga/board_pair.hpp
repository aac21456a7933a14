// SPDX-License-Identifier: Apache-2.0
/// Two boards of one kind, cable to cable, each with a memory of its host. What a byte of the sender's memory is
/// follows from its address and the life of the NIC, unless somebody has written it: an answer of before shows.
#pragma once

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gen/csr.hpp"
#include "gen/streams.hpp"
#include "tb/device/pins_device.hpp"
#include "tests/fpga/board.hpp"
#include "tests/fpga/hooks.hpp"
#include "util/rng.hpp"

namespace mrc {

inline constexpr uint64_t kSource = 0x100000000, kTarget = 0x200000000;
inline constexpr uint32_t kRkey = 0x1234;
inline constexpr uint16_t kCoreState = 0x1014, kCore = 0x2000, kHost = 0x5000;
inline constexpr uint16_t kQpFailed = kHost + 0x10, kWrTaken = kHost + 0x14, kWrDone = kHost + 0x18,
                          kWrFailed = kHost + 0x1c, kRdTaken = kHost + 0x20, kRdDone = kHost + 0x24,
                          kRdFailed = kHost + 0x28, kStrays = kHost + 0x2c;
inline constexpr log::Time kTurn = 200'000, kCable = 300'000;

/// The board stays when the bench opens its device anew.
template <class B>
class Lent final : public tb::Dut {
 public:
  explicit Lent(B& board) : board_(board) {}
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
  B& board_;
};

/// A board, and what its host has seen since it was opened.
template <class B>
struct Side {
  Side(uint64_t seed, uint8_t number) : board(seed), address{0xfd} {
    address[15] = number;
    mac = 0x020000000000 + number;
    tb::PinsOptions options;
    options.preset = &B::kPreset;
    options.name = "board";
    options.whose_writes = false;
    options.open = [this](uint64_t, std::string&) { return std::make_unique<Lent<B>>(board); };
    nic = tb::make_pins_device(options);
  }
  B board;
  log::Ip address;
  uint64_t mac;
  std::unique_ptr<tb::NicDevice> nic;
  tb::DeviceInfo info;
  std::map<uint64_t, uint8_t> memory;
  std::vector<log::Cqe> cqes;
};

template <class B>
class PairOf {
 public:
  explicit PairOf(uint64_t seed) : rng(seed, "pair"), sides{{{seed, 1}, {seed + 1000, 2}}} { failed_assertions(); }

  /// As new, both of them, with so many queue pairs.
  void open(unsigned qps) {
    ++life;
    now = 0;
    in_flight_.clear();
    free_ = {};
    for (unsigned i = 0; i < 2; ++i) {
      Side<B>& s = sides[i];
      tb::OpenRequest request;
      request.seed = rng.next() & 0xffffffff;
      s.info = s.nic->open(request);
      s.nic->address(s.mac, s.address);
      s.nic->mr({.rkey = kRkey, .va = kTarget, .bytes = 1 << 20, .addr = kTarget});
      s.memory.clear();
      s.cqes.clear();
    }
    if (prepare) prepare();
    for (unsigned q = 0; q < qps; ++q) connect(q);
  }
  /// What is to be set up besides, at each opening, before the queue pairs.
  std::function<void()> prepare;

  void connect(unsigned q) {
    for (unsigned i = 0; i < 2; ++i) {
      Side<B>& s = sides[i];
      tb::QpConfig c = s.nic->qp_now(s.info.qp_first + q);
      c.state = log::QpState::Rts;
      c.peer_qp = sides[1 - i].info.qp_first + q;
      c.peer_ip = sides[1 - i].address;
      c.peer_mac = sides[1 - i].mac;
      c.mtu = 1024;
      s.nic->qp(c);
    }
  }
  /// As software does it at both ends (docs/design/boards/top.md, "A QP set up anew"), but for QP_FAILED.
  void reconnect(unsigned q) {
    for (Side<B>& s : sides) {
      tb::QpConfig c = s.nic->qp_now(s.info.qp_first + q);
      c.state = log::QpState::Reset;
      s.nic->qp(c);
    }
    for (unsigned i = 0; i < 2; ++i) fence(i);
    connect(q);
    run(10);
  }
  /// Until nothing of before is in the core of a side, and what its host side had taken is acknowledged.
  void fence(unsigned i) {
    write(i, kCore + csr::kFence, csr::kFenceBusy.set(0, 1));
    for (unsigned turns = 0; csr::kFenceBusy.get(read(i, kCore + csr::kFence)) != 0; ++turns) REQUIRE(turns < 1000);
    for (const auto& [taken, done] : {std::pair{kWrTaken, kWrDone}, {kRdTaken, kRdDone}}) {
      const uint32_t all = read(i, taken);
      for (unsigned turns = 0; read(i, done) - all >= 1u << 31; ++turns) REQUIRE(turns < 1000);
    }
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

  /// What the host of a side has there.
  uint8_t memory_at(unsigned i, uint64_t at) const {
    const auto found = sides[i].memory.find(at);
    return found == sides[i].memory.end() ? byte_at(at) : found->second;
  }

  /// True: each byte is in the memory of side `i` as the sender has it.
  bool written(unsigned i, uint64_t at, uint32_t bytes) const {
    for (uint64_t b = at; b < at + bytes; ++b) {
      const auto found = sides[i].memory.find(kTarget + b);
      if (found == sides[i].memory.end() || found->second != byte_at(kSource + b)) return false;
    }
    return true;
  }
  /// Bytes that are in the target's memory and not the sender's.
  std::size_t wrong(unsigned i) const {
    return static_cast<std::size_t>(std::ranges::count_if(sides[i].memory, [&](const auto& entry) {
      return entry.first >= kTarget && entry.second != byte_at(entry.first - kTarget + kSource);
    }));
  }

  /// A frame of somebody else for a side.
  void inject(unsigned to, std::vector<uint8_t> frame) {
    tb::SentFrame sent{};
    sent.last = now;
    sent.bytes = std::move(frame);
    in_flight_.emplace_back(to, std::move(sent));
  }

  void turn() {
    now += kTurn;
    for (unsigned i = 0; i < 2; ++i) {
      Side<B>& s = sides[i];
      for (log::Time reached = 0; reached < now;) {
        tb::Advanced ran = s.nic->advance(now, kTurn);
        for (tb::Output& out : ran.out) take(i, out);
        reached = ran.reached;
      }
    }
    for (auto& [to, frame] : in_flight_) {
      // One behind the other, and not before the time reached.
      const auto bytes = static_cast<log::Time>(frame.bytes.size());
      const log::Time byte = 8000 / B::kPreset.port_gbps;
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
    for (unsigned turns = 0; std::ranges::any_of(sides, [](const Side<B>& s) { return !s.board.bus_is_idle(); });
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
  std::array<Side<B>, 2> sides;

 private:
  void take(unsigned i, tb::Output& out) {
    Side<B>& s = sides[i];
    if (auto* frame = std::get_if<tb::SentFrame>(&out.body)) {
      in_flight_.emplace_back(1 - i, std::move(*frame));
    } else if (auto* read = std::get_if<tb::HostRead>(&out.body)) {
      std::vector<uint8_t> data(read->bytes);
      for (uint32_t b = 0; b < read->bytes; ++b) data[b] = memory_at(i, read->addr + b);
      s.nic->host_done(read->tag, now, data, 0);
    } else if (auto* write = std::get_if<tb::HostWrite>(&out.body)) {
      for (std::size_t b = 0; b < write->data.size(); ++b) s.memory[write->addr + b] = write->data[b];
    } else if (auto* cqe = std::get_if<log::Cqe>(&out.body)) {
      s.cqes.push_back(*cqe);
    }
  }
  std::vector<std::pair<unsigned, tb::SentFrame>> in_flight_;
  std::array<std::array<log::Time, B::kPlanes>, 2> free_{};
};

}  // namespace mrc
