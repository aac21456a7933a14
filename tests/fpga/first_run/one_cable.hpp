// SPDX-License-Identifier: Apache-2.0
/// Boards of a first run with their card memory, cable to cable: plane 0 of one is plane 1 of the other, or of itself
/// where there is one alone. They are driven by registers only.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/mrc_dut.h"
#include "gen/streams.hpp"
#include "tests/fpga/board.hpp"
#include "tests/fpga/first_run/bring_up.hpp"
#include "tests/fpga/hooks.hpp"

namespace mrc {

class OneCable {
 public:
  static constexpr unsigned kPlanes = GenBoard::kPlanes, kPort = GenBoard::kPortBytes, kLine = GenBoard::kHostBytes;

  OneCable(unsigned boards, uint64_t seed) {
    for (unsigned b = 0; b < boards; ++b) {
      sites_.push_back(std::make_unique<Site>(*this, seed + b));
      sites_.back()->board.memory.takes = sites_.back()->board.memory.gives = 0.98;
      sites_.back()->board.memory.acknowledges = 1.0;
      sites_.back()->board.memory.read_delay = sites_.back()->board.memory.write_delay = 20;
    }
    failed_assertions();
    in_reset_ = true;
    run(4);
    in_reset_ = false;
  }

  GenBoard& board(unsigned b) { return sites_[b]->board; }
  RegisterBus& bus(unsigned b) { return *sites_[b]; }
  uint8_t memory_at(unsigned b, uint64_t at) const {
    const auto found = sites_[b]->memory.find(at);
    return found == sites_[b]->memory.end() ? 0xEE : found->second;
  }
  /// True: a frame that leaves on this plane of this board arrives.
  std::function<bool(unsigned board, unsigned plane)> carries = [](unsigned, unsigned) { return true; };
  uint8_t link_up = 3;
  unsigned lost = 0, carried = 0;

  void cycle() {
    for (unsigned b = 0; b < sites_.size(); ++b) step(b);
  }
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle();
  }

 private:
  struct Beat {
    std::array<uint8_t, kPort> data{};
    uint32_t keep = 0;
    bool last = false;
  };
  struct Answer {
    unsigned plane = 0;
    std::array<uint8_t, kLine> data{};
  };
  struct Site final : RegisterBus {
    Site(OneCable& all_sites, uint64_t seed) : board(seed), all(all_sites) {}
    uint32_t read(uint16_t at) override {
      uint32_t value = 0;
      bool done = false;
      unsigned resp = 0;
      board.read(at, [&](uint32_t data, unsigned answer) {
        value = data;
        resp = answer;
        done = true;
      });
      settle(done);
      if (resp != 0) throw std::runtime_error("a read of " + std::to_string(at) + " was refused");
      return value;
    }
    void write(uint16_t at, uint32_t value) override {
      bool done = false;
      unsigned resp = 0;
      board.write(at, value, [&](uint32_t, unsigned answer) {
        resp = answer;
        done = true;
      });
      settle(done);
      if (resp != 0) throw std::runtime_error("a write to " + std::to_string(at) + " was refused");
    }
    void settle(const bool& done) {
      for (unsigned cycles = 0; !done; ++cycles) {
        if (cycles == 100'000) throw std::runtime_error("an access hangs");
        all.cycle();
      }
    }
    GenBoard board;
    OneCable& all;
    std::unordered_map<uint64_t, uint8_t> memory;
    std::deque<Answer> answers;
    std::array<std::vector<Beat>, kPlanes> coming;  ///< a frame that has not ended
    std::array<std::deque<Beat>, kPlanes> arriving;
  };

  void step(unsigned b) {
    Site& s = *sites_[b];
    mrc_pins_out o{};
    mrc_pins_in i{};
    s.board.outputs(o);
    i.rst_n = !in_reset_;
    i.link_up = link_up;
    i.cqe_ready = 1;
    for (unsigned p = 0; p < kPlanes; ++p) {
      i.tx_tready = static_cast<decltype(i.tx_tready)>(i.tx_tready | 1u << p);
      if ((o.tx_tvalid >> p & 1) != 0) leave(b, p, o);
      arrive(s, p, i);
    }
    if (o.host_rd_valid) {
      i.host_rd_ready = 1;
      const Rdreq read = Rdreq::unpack(o.host_rd);
      Answer answer;
      answer.plane = read.plane;
      for (unsigned n = 0; n < kLine; ++n) answer.data[n] = memory_at(b, read.addr + n);
      s.answers.push_back(answer);
    }
    if (!s.answers.empty()) {
      i.host_rsp_valid = 1;
      i.host_rsp_plane = static_cast<uint8_t>(s.answers.front().plane);
      std::memcpy(i.host_rsp_data, s.answers.front().data.data(), kLine);
      s.answers.pop_front();
    }
    if (o.host_wr_valid) {
      i.host_wr_ready = 1;
      for (unsigned n = 0; n < o.host_wr_len; ++n) s.memory[o.host_wr_addr + n] = o.host_wr_data[n];
    }
    s.board.step(i);
  }
  void leave(unsigned b, unsigned p, const mrc_pins_out& o) {
    auto& frame = sites_[b]->coming[p];
    Beat beat;
    std::memcpy(beat.data.data(), o.tx_tdata[p], kPort);
    beat.keep = o.tx_tkeep[p];
    beat.last = (o.tx_tlast >> p & 1) != 0;
    frame.push_back(beat);
    if (!beat.last) return;
    if (carries(b, p)) {
      // The other end of the cable.
      auto& to = sites_[(b + 1) % sites_.size()]->arriving[kPlanes - 1 - p];
      to.insert(to.end(), frame.begin(), frame.end());
      ++carried;
    } else {
      ++lost;
    }
    frame.clear();
  }
  static void arrive(Site& s, unsigned p, mrc_pins_in& i) {
    if (s.arriving[p].empty()) return;
    const Beat& beat = s.arriving[p].front();
    i.rx_tvalid = static_cast<decltype(i.rx_tvalid)>(i.rx_tvalid | 1u << p);
    if (beat.last) i.rx_tlast = static_cast<decltype(i.rx_tlast)>(i.rx_tlast | 1u << p);
    std::memcpy(i.rx_tdata[p], beat.data.data(), kPort);
    i.rx_tkeep[p] = beat.keep;
    s.arriving[p].pop_front();
  }

  std::vector<std::unique_ptr<Site>> sites_;
  bool in_reset_ = true;
};

}  // namespace mrc
