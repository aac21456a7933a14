// SPDX-License-Identifier: Apache-2.0
/// fpga/bench/mrc_fpga_ports_bench.sv between MACs in clocks of their own, a core and a shell's NIC.
#pragma once

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <deque>
#include <vector>

#include "Vmrc_fpga_ports_bench.h"
#include "tests/fpga/foreign_frames.hpp"
#include "tests/fpga/unit.hpp"
#include "util/rng.hpp"

namespace mrc::test {

inline constexpr unsigned kWord = 64, kBeat = 32, kMaxWords = 6, kPlanes = 3, kPorts = 2, kCounts = 13;
inline constexpr unsigned kWaitCycles = 100;
inline constexpr std::array<unsigned, kPlanes> kPortOf{0, 1, 0};
inline constexpr std::size_t kMost = std::size_t{kMaxWords} * kWord;
enum Count {
  kMrc,
  kOff,
  kStray,
  kSideFrames,
  kSideFull,
  kSideLong,
  kSideCut,
  kSideBad,
  kTxFrames,
  kTxDrop,
  kTxLong,
  kTxCut,
  kTxFlush
};
enum LaneCount {
  kLaneFrames,
  kLaneFull,
  kLaneLong,
  kLaneCut,
  kLaneBad,
  kLaneTx,
  kLaneDrop,
  kLaneTxLong,
  kLaneTxCut,
  kLaneTxFlush
};

/// A frame on its way, or what came of it. Its source address is its number.
struct Frame {
  Bytes bytes;
  bool bad = false;
  bool cut = false;  ///< a reset has ended it behind these bytes
};

inline uint64_t number_of(const Bytes& bytes) {
  REQUIRE(bytes.size() >= 12);
  uint64_t n = 0;
  for (unsigned i = 6; i < 12; ++i) n = n << 8 | bytes[i];
  return n;
}
inline void set_number(Bytes& bytes, uint64_t n) {
  for (unsigned i = 6; i < 12; ++i) bytes[i] = static_cast<uint8_t>(n >> (8 * (11 - i)));
}

inline uint64_t keep_of(std::size_t bytes) { return bytes >= 64 ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1; }
/// Bytes that a keep of ones from below stands for; fails on holes.
inline unsigned bytes_of(uint64_t keep) {
  REQUIRE((keep & (keep + 1)) == 0);
  REQUIRE(keep != 0);
  unsigned n = 0;
  for (; keep != 0; keep >>= 1) ++n;
  return n;
}

struct PortsConfig {
  std::array<Bytes, kPorts> mac{Bytes(6), Bytes(6)};
  std::array<Bytes, kPlanes> ip{Bytes(16), Bytes(16), Bytes(16)};
  std::array<Bytes, kPlanes> usid{Bytes(6), Bytes(6), Bytes(6)};
  uint16_t udp_port = 4971;
  bool udp_only = false, promisc = false, side = true;
};

/// Two ports, three planes: what is sent into them, and what comes out.
class PortsBench : public Unit<Vmrc_fpga_ports_bench> {
 public:
  enum Clock { kCore, kRx0, kRx1, kTx0, kTx1, kClocks };

  explicit PortsBench(uint64_t seed) : Unit("ports"), rng(seed, "ports") {
    top->link_up_i = 3;
    top->m_tready_i = 3;
    settle();
    top->rst_ni = 1;  // an edge needs a level before it
    settle();
    top->rst_ni = 0;
    settle();
    for (unsigned i = 0; i < 20; ++i) edge(i % kClocks);
    top->rst_ni = 1;
    settle();
    for (unsigned i = 0; i < 20; ++i) edge(i % kClocks);
    failed_assertions();
  }

  /// Puts registers on the pins; they have crossed some cycles later.
  void set(const PortsConfig& c) {
    for (unsigned k = 0; k < kPorts; ++k) put(&top->mac_i[0], k * 6, c.mac[k]);
    for (unsigned p = 0; p < kPlanes; ++p) {
      put(&top->ip_i[0], p * 16, c.ip[p]);
      put(&top->usid_i[0], p * 6, c.usid[p]);
    }
    top->udp_port_i = c.udp_port;
    top->udp_only_i = c.udp_only;
    top->promisc_i = c.promisc;
    top->side_i = c.side;
  }

  /// Edges of all clocks, until `edges` of the core's have passed.
  void run(uint64_t edges) {
    const uint64_t end = cycles[kCore] + edges;
    while (cycles[kCore] < end) {
      unsigned next = kCore;
      for (unsigned i = 1; i < kClocks; ++i) {
        if (!stopped[i] && (next_[i] < next_[next] || (next_[i] == next_[next] && rng.chance(0.5)))) next = i;
      }
      next_[next] += period[next] + rng.below(3);  // some jitter
      for (unsigned i = 0; i < kClocks; ++i) {
        if (stopped[i]) next_[i] = std::max(next_[i], next_[next]);
      }
      sample(next);
      edge(next);
      drive(next);
      settle();
    }
  }
  uint32_t count(unsigned port, Count which) { return top->counts_o[port * kCounts + which]; }
  uint32_t lane_count(unsigned plane, LaneCount which) { return top->lane_counts_o[plane * 10 + which]; }

  /// What a MAC receives: sent as it stands in the queue; `arrived` has what the wire saw of it.
  std::array<std::deque<Frame>, kPorts> wire;
  std::array<std::vector<Frame>, kPorts> seen;
  /// What came to the lanes' core side and to side ports.
  std::array<std::vector<Frame>, kPlanes> lane;
  std::array<std::vector<Frame>, kPorts> side;
  /// What the core and the shell's NIC send, and what came to MACs.
  std::array<std::deque<Bytes>, kPlanes> core;
  std::array<std::deque<Bytes>, kPorts> shell;
  std::array<std::vector<Frame>, kPorts> mac;
  /// Longest wait of a beat of the core, of a word of the shell.
  uint64_t core_wait = 0, shell_wait = 0;
  /// Words that a MAC has taken.
  std::array<uint64_t, kPorts> mac_words{};

  double busy = 1.0, side_takes = 1.0, mac_takes = 1.0, core_offers = 1.0, rx_resets = 0.0, tx_resets = 0.0;
  /// Of words of the shell that are not the last: whether their keep has holes.
  bool shell_holes = false;
  Rng rng;
  std::array<uint64_t, kClocks> period{400, 310, 310, 310, 310}, cycles{};
  std::array<bool, kClocks> stopped{};

 private:
  /// Bytes, the first one on top, into a packed vector of such fields, from its byte `at` on.
  template <class Word>
  static void put(Word* words, unsigned at, const Bytes& bytes) {
    auto* to = reinterpret_cast<uint8_t*>(words) + at;
    std::reverse_copy(bytes.begin(), bytes.end(), to);
  }
  static void set_bit(CData& pins, unsigned at, bool value) {
    pins = static_cast<CData>((pins & ~(1u << at)) | unsigned{value} << at);
  }
  template <class Word>
  static uint64_t get64(const Word* words) {
    return words[0] | uint64_t{words[1]} << 32;
  }
  template <class Word>
  static void put64(Word* words, uint64_t value) {
    words[0] = static_cast<uint32_t>(value);
    words[1] = static_cast<uint32_t>(value >> 32);
  }

  void set_clock(unsigned clock, bool value) {
    if (clock == kCore) {
      top->clk_i = value;
    } else if (clock <= kRx1) {
      set_bit(top->rx_clk_i, clock - kRx0, value);
    } else {
      set_bit(top->tx_clk_i, clock - kTx0, value);
    }
    settle();
  }
  void edge(unsigned clock) {
    set_clock(clock, true);
    set_clock(clock, false);
    ++cycles[clock];
  }
  void sample(unsigned clock) {
    if (clock == kCore) {
      for (unsigned p = 0; p < kPlanes; ++p) sample_lane(p);
      for (unsigned k = 0; k < kPorts; ++k) sample_side(k);
    } else if (clock >= kTx0) {
      sample_mac(clock - kTx0);
    }
  }
  void drive(unsigned clock) {
    if (clock == kCore) {
      for (unsigned p = 0; p < kPlanes; ++p) drive_core(p);
      for (unsigned k = 0; k < kPorts; ++k) drive_shell(k);
      top->side_rx_tready_i = 0;
      for (unsigned k = 0; k < kPorts; ++k) set_bit(top->side_rx_tready_i, k, rng.chance(side_takes));
    } else if (clock <= kRx1) {
      drive_wire(clock - kRx0);
    } else {
      const unsigned k = clock - kTx0;
      set_bit(top->m_tready_i, k, rng.chance(mac_takes));
      if (tx_reset_[k] > 0) {
        --tx_reset_[k];
      } else if (rng.chance(tx_resets)) {
        tx_reset_[k] = 2 + static_cast<unsigned>(rng.below(20));
      }
      set_bit(top->tx_reset_i, k, tx_reset_[k] > 0);
    }
  }

  void drive_wire(unsigned k) {
    auto& t = *top;
    set_bit(t.s_tvalid_i, k, false);
    for (unsigned i = 0; i < 16; ++i) t.s_tdata_i[16 * k + i] = static_cast<uint32_t>(rng.next());
    put64(&t.s_tkeep_i[2 * k], rng.next());
    set_bit(t.s_tlast_i, k, rng.chance(0.5));
    if (rx_reset_[k] > 0) {
      set_bit(t.rx_reset_i, k, --rx_reset_[k] > 0);
      return;
    }
    if (rng.chance(rx_resets)) {
      rx_reset_[k] = 1 + static_cast<unsigned>(rng.below(5));
      set_bit(t.rx_reset_i, k, true);
      set_bit(t.s_tvalid_i, k, rng.chance(0.5));  // not to be looked at
      if (wire_at_[k] > 0) {
        Frame cut = wire[k].front();
        cut.bytes.resize(wire_at_[k]);
        cut.cut = true;
        seen[k].push_back(cut);
        wire[k].pop_front();
        wire_at_[k] = 0;
      }
      return;
    }
    if (wire[k].empty() || !rng.chance(busy)) return;
    const Frame& frame = wire[k].front();
    const std::size_t n = std::min<std::size_t>(kWord, frame.bytes.size() - wire_at_[k]);
    std::memcpy(&t.s_tdata_i[16 * k], frame.bytes.data() + wire_at_[k], n);
    put64(&t.s_tkeep_i[2 * k], keep_of(n));
    wire_at_[k] += n;
    const bool last = wire_at_[k] == frame.bytes.size();
    set_bit(t.s_tvalid_i, k, true);
    set_bit(t.s_tlast_i, k, last);
    set_bit(t.s_tuser_i, k, last ? frame.bad : rng.chance(0.5));
    if (last) {
      seen[k].push_back(frame);
      wire[k].pop_front();
      wire_at_[k] = 0;
    }
  }

  template <class Word>
  static void collect(Bytes& to, const Word* words, uint64_t keep, bool last, unsigned width) {
    const unsigned n = bytes_of(keep);
    REQUIRE((last || n == width));
    const auto* from = reinterpret_cast<const uint8_t*>(words);
    to.insert(to.end(), from, from + n);
  }

  void sample_lane(unsigned p) {
    auto& t = *top;
    if (!(t.tvalid_o >> p & 1)) return;
    const bool last = t.tlast_o >> p & 1, user = t.tuser_o >> p & 1;
    collect(lane_in_[p], &t.tdata_o[8 * p], t.tkeep_o[p], last, kBeat);
    REQUIRE((last || !user));
    if (last) lane[p].push_back({std::exchange(lane_in_[p], {}), user, false});
  }

  void sample_side(unsigned k) {
    auto& t = *top;
    const bool valid = t.side_rx_tvalid_o >> k & 1, last = t.side_rx_tlast_o >> k & 1,
               user = t.side_rx_tuser_o >> k & 1;
    REQUIRE((valid || side_in_[k].empty()));  // whole frames
    if (!valid || !(t.side_rx_tready_i >> k & 1)) return;
    collect(side_in_[k], &t.side_rx_tdata_o[16 * k], get64(&t.side_rx_tkeep_o[2 * k]), last, kWord);
    if (last) side[k].push_back({std::exchange(side_in_[k], {}), user, false});
  }

  void sample_mac(unsigned k) {
    auto& t = *top;
    const bool valid = t.m_tvalid_o >> k & 1, ready = t.m_tready_i >> k & 1, last = t.m_tlast_o >> k & 1;
    if (t.tx_reset_i >> k & 1) {  // in reset a MAC takes and gives nothing
      mac_in_[k].clear();
      mac_held_[k] = false;
      return;
    }
    REQUIRE((valid || mac_in_[k].empty()));  // no gap inside a frame
    REQUIRE((valid || !mac_held_[k]));       // what is on offer stays
    std::array<uint32_t, 16> word{};
    for (unsigned i = 0; i < 16; ++i) word[i] = t.m_tdata_o[16 * k + i];
    if (mac_held_[k]) REQUIRE(word == mac_word_[k]);
    mac_held_[k] = valid && !ready;
    mac_word_[k] = word;
    if (!valid || !ready) return;
    ++mac_words[k];
    collect(mac_in_[k], &t.m_tdata_o[16 * k], get64(&t.m_tkeep_o[2 * k]), last, kWord);
    if (last) mac[k].push_back({std::exchange(mac_in_[k], {}), (t.m_tuser_o >> k & 1) != 0, false});
  }

  void drive_core(unsigned p) {
    auto& t = *top;
    const bool offered = t.tvalid_i >> p & 1;
    if (offered && !core_ready_[p]) {
      core_wait = std::max(core_wait, ++core_waits_[p]);
    } else {
      core_waits_[p] = 0;
      set_bit(t.tvalid_i, p, false);
      if (!core[p].empty() && rng.chance(core_offers)) {
        const Bytes& frame = core[p].front();
        const std::size_t n = std::min<std::size_t>(kBeat, frame.size() - core_at_[p]);
        std::memcpy(&t.tdata_i[8 * p], frame.data() + core_at_[p], n);
        t.tkeep_i[p] = static_cast<uint32_t>(keep_of(n));
        core_at_[p] += n;
        const bool last = core_at_[p] == frame.size();
        set_bit(t.tvalid_i, p, true);
        set_bit(t.tlast_i, p, last);
        if (last) {
          core[p].pop_front();
          core_at_[p] = 0;
        }
      }
    }
    settle();
    core_ready_[p] = t.tready_o >> p & 1;
  }

  void drive_shell(unsigned k) {
    auto& t = *top;
    const bool offered = t.side_tx_tvalid_i >> k & 1;
    if (offered && !shell_ready_[k]) {
      shell_wait = std::max(shell_wait, ++shell_waits_[k]);
    } else {
      shell_waits_[k] = 0;
      set_bit(t.side_tx_tvalid_i, k, false);
      if (!shell[k].empty() && rng.chance(core_offers)) {
        const Bytes& frame = shell[k].front();
        const std::size_t n = std::min<std::size_t>(kWord, frame.size() - shell_at_[k]);
        std::memcpy(&t.side_tx_tdata_i[16 * k], frame.data() + shell_at_[k], n);
        shell_at_[k] += n;
        const bool last = shell_at_[k] == frame.size();
        put64(&t.side_tx_tkeep_i[2 * k], !last && shell_holes ? rng.next() : keep_of(n));
        set_bit(t.side_tx_tvalid_i, k, true);
        set_bit(t.side_tx_tlast_i, k, last);
        if (last) {
          shell[k].pop_front();
          shell_at_[k] = 0;
        }
      }
    }
    settle();
    shell_ready_[k] = t.side_tx_tready_o >> k & 1;
  }

  std::array<uint64_t, kClocks> next_{};
  std::array<std::size_t, kPorts> wire_at_{}, shell_at_{};
  std::array<std::size_t, kPlanes> core_at_{};
  std::array<unsigned, kPorts> rx_reset_{}, tx_reset_{};
  std::array<Bytes, kPlanes> lane_in_;
  std::array<Bytes, kPorts> side_in_, mac_in_;
  std::array<bool, kPorts> mac_held_{}, shell_ready_{};
  std::array<bool, kPlanes> core_ready_{};
  std::array<std::array<uint32_t, 16>, kPorts> mac_word_{};
  std::array<uint64_t, kPlanes> core_waits_{};
  std::array<uint64_t, kPorts> shell_waits_{};
};

}  // namespace mrc::test
