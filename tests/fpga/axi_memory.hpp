// SPDX-License-Identifier: Apache-2.0
/// A memory on AXI4 for benches of the host side: slow, stalls at random, answers ids in any order. Whose bytes they
/// are is not its own affair: it asks for what is read, beat by beat, and tells what is written, line by line. A write
/// is told when its burst is about to be acknowledged, and not before.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "util/rng.hpp"

namespace mrc {

/// Of words of Bytes bytes and Ids ids; Top is a Verilated module with pins m_axi_*.
template <unsigned Bytes, unsigned Ids>
class AxiMemory {
 public:
  explicit AxiMemory(uint64_t seed) : rng_(seed, "memory") {}

  // Chances in each cycle: that an address or a beat of data is taken, that a beat that is there is given, and a B.
  double takes = 0.8, gives = 0.8, acknowledges = 0.3;
  /// Cycles at most until a beat is given after its bytes are known, and until a burst that came is written.
  unsigned read_delay = 40, write_delay = 400;
  /// Bursts and beats at these addresses fail.
  std::function<bool(uint64_t)> write_fails, read_fails;

  struct Beat {
    unsigned id = 0;
    uint64_t address = 0;
    bool last = false, known = false;
    uint64_t ready = 0;
    std::array<uint8_t, Bytes> data{};
  };
  struct Line {
    uint64_t address = 0;
    std::vector<uint8_t> bytes;
  };

  /// The beat whose bytes it wants to know next, null: none.
  const Beat* wanted() const {
    return requests_.empty() ? nullptr : &owed_[requests_.front()][requested_[requests_.front()]];
  }
  void requested() {
    ++requested_[requests_.front()];
    ++open_[requests_.front()];
    requests_.pop_front();
  }
  /// The bytes of the oldest beat of that id that was asked for.
  void answered(unsigned id, const uint8_t* data) {
    Beat& beat = owed_[id][requested_[id] - open_[id]--];
    beat.known = true;
    beat.ready = now_ + rng_.below(read_delay + 1);
    std::memcpy(beat.data.data(), data, Bytes);
  }
  /// Nobody answers what was asked for any more: it makes up the bytes.
  void forgotten() {
    const std::array<uint8_t, Bytes> junk = [] {
      std::array<uint8_t, Bytes> all{};
      all.fill(0xEE);
      return all;
    }();
    while (wanted() != nullptr) requested();
    for (unsigned id = 0; id < Ids; ++id) {
      while (open_[id] != 0) answered(id, junk.data());
    }
    lines_.clear();
  }
  /// The bus is in reset: nothing is owed any more.
  void reset() {
    forgotten();
    for (auto& beats : owed_) beats.clear();
    for (auto& acks : acks_) acks.clear();
    requested_ = {};
    aws_.clear();
    ws_.clear();
    b_.reset();
    r_.reset();
    r_resp_ = kOpen;
    ar_held_ = aw_held_ = w_held_ = {};
  }
  /// What is visible from now on, null: nothing. Until visible() is called no later write is, nor its B.
  const Line* write() const { return lines_.empty() ? nullptr : &lines_.front(); }
  void visible() { lines_.pop_front(); }

  /// Reads without an answer, bursts without a B.
  std::size_t reads() const {
    std::size_t all = 0;
    for (const auto& beats : owed_) all += beats.size();
    return all;
  }
  std::size_t writes() const {
    std::size_t all = aws_.size();
    for (const auto& acks : acks_) all += acks.size();
    return all;
  }
  uint64_t failed_writes() const { return failed_writes_; }
  uint64_t failed_reads() const { return failed_reads_; }
  /// Of the beats given, those that overtook one of another id.
  uint64_t overtakes() const { return overtakes_; }
  /// What the master has done against AXI4, "" if nothing.
  const std::string& problem() const { return problem_; }

  /// Pins for this cycle.
  template <class Top>
  void drive(Top& t) {
    ++now_;
    commit();
    t.m_axi_awready_i = rng_.chance(takes);
    t.m_axi_wready_i = rng_.chance(takes);
    t.m_axi_arready_i = rng_.chance(takes);
    if (!b_ && lines_.empty() && rng_.chance(acknowledges)) {
      b_ = any_id([&](unsigned id) { return !acks_[id].empty() && acks_[id].front().written; });
      if (b_) b_resp_ = static_cast<uint8_t>(acks_[*b_].front().fails ? 2 + rng_.below(2) : 0);
    }
    t.m_axi_bvalid_i = b_.has_value();
    t.m_axi_bresp_i = b_resp_;
    t.m_axi_bid_i = static_cast<uint8_t>(b_.value_or(0));
    if (!r_) {
      r_ = any_id([&](unsigned id) {
        return !owed_[id].empty() && owed_[id].front().known && owed_[id].front().ready <= now_ && rng_.chance(gives);
      });
    }
    t.m_axi_rvalid_i = r_.has_value();
    if (!r_) return;
    const Beat& beat = owed_[*r_].front();
    if (r_resp_ == kOpen) r_resp_ = read_fails && read_fails(beat.address) ? 2 : 0;
    t.m_axi_rid_i = static_cast<uint8_t>(*r_);
    t.m_axi_rresp_i = r_resp_;
    t.m_axi_rlast_i = beat.last;
    std::memcpy(&t.m_axi_rdata_i[0], beat.data.data(), Bytes);
    if (r_resp_ >= 2) std::memset(&t.m_axi_rdata_i[0], 0xA5, Bytes);  // and its bytes are not the memory's
  }

  /// Looks at the pins before the edge.
  template <class Top>
  void sample(const Top& t) {
    Offer ar{t.m_axi_arvalid_o != 0, t.m_axi_araddr_o, t.m_axi_arlen_o, t.m_axi_arid_o, {}};
    Offer aw{t.m_axi_awvalid_o != 0, t.m_axi_awaddr_o, t.m_axi_awlen_o, t.m_axi_awid_o, {}};
    uint64_t strobes = 0;
    std::memcpy(&strobes, &t.m_axi_wstrb_o, Bytes / 8);
    Offer w{t.m_axi_wvalid_o != 0, strobes, t.m_axi_wlast_o, 0, {}};
    std::memcpy(w.data.data(), &t.m_axi_wdata_o[0], Bytes);
    if (stays("AR", ar_held_, ar, t.m_axi_arready_i)) {
      burst("AR", ar, t.m_axi_arsize_o, t.m_axi_arburst_o);
      for (unsigned i = 0; i <= ar.more; ++i) {
        owed_[ar.id].push_back({ar.id, ar.at + i * Bytes, i == ar.more});
        requests_.push_back(ar.id);
      }
    }
    if (stays("AW", aw_held_, aw, t.m_axi_awready_i)) {
      burst("AW", aw, t.m_axi_awsize_o, t.m_axi_awburst_o);
      aws_.push_back(aw);
    }
    if (stays("W", w_held_, w, t.m_axi_wready_i)) ws_.push_back(w);
    if (t.m_axi_rvalid_i && t.m_axi_rready_o) taken();
    if (t.m_axi_bvalid_i && t.m_axi_bready_o) {
      acks_[*b_].pop_front();
      b_.reset();
    }
    match();
  }

 private:
  static constexpr uint8_t kOpen = 255;
  /// An offer on AR, AW or W: of W the strobes, and whether it is the last.
  struct Offer {
    bool valid = false;
    uint64_t at = 0;
    unsigned more = 0, id = 0;
    std::array<uint8_t, Bytes> data{};
    bool operator==(const Offer&) const = default;
  };
  struct Ack {
    bool fails = false, written = false;
    uint64_t ready = 0;
    std::vector<Line> lines;
  };

  /// One of the ids that may, any.
  template <class May>
  std::optional<unsigned> any_id(const May& may) {
    const auto first = static_cast<unsigned>(rng_.below(Ids));
    for (unsigned i = 0; i < Ids; ++i) {
      if (may((first + i) % Ids)) return (first + i) % Ids;
    }
    return {};
  }
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }
  /// True: it is taken in this cycle. What was offered and not taken must be as it was.
  bool stays(const char* name, Offer& held, const Offer& now, bool ready) {
    if (held.valid && !(now == held)) fail(std::string(name) + " was offered, and has gone or changed");
    held = now;
    if (!now.valid) return false;
    if (ready) held.valid = false;
    return ready;
  }
  void burst(const char* name, const Offer& o, unsigned size, unsigned kind) {
    if (1u << size != Bytes || kind != 1) fail(std::string(name) + " is no burst of whole words that rises");
    if (o.at % Bytes != 0) fail(std::string(name) + " is not aligned");
    if (o.at / 4096 != (o.at + (o.more + 1) * Bytes - 1) / 4096) fail(std::string(name) + " crosses 4 KiB");
    if (o.id >= Ids) fail(std::string(name) + " has an id that there is not");
  }
  void taken() {
    const unsigned id = *r_;
    for (unsigned other = 0; other < Ids; ++other) {
      if (other != id && !owed_[other].empty() && owed_[other].front().known) ++overtakes_;
    }
    failed_reads_ += r_resp_ >= 2;
    owed_[id].pop_front();
    --requested_[id];
    r_.reset();
    r_resp_ = kOpen;
  }
  /// Bursts of which all has come.
  void match() {
    while (!aws_.empty() && ws_.size() > aws_.front().more) {
      const Offer aw = aws_.front();
      aws_.pop_front();
      Ack ack;
      ack.fails = write_fails && write_fails(aw.at);
      ack.ready = now_ + rng_.below(write_delay + 1);
      failed_writes_ += ack.fails;
      for (unsigned i = 0; i <= aw.more; ++i) {
        const Offer w = ws_.front();
        ws_.pop_front();
        if ((w.more != 0) != (i == aw.more)) fail("wlast comes with another beat than the last");
        for (unsigned b = 0; b < Bytes; ++b) {
          if ((w.at >> b & 1) == 0) continue;
          if (b == 0 || (w.at >> (b - 1) & 1) == 0) ack.lines.push_back({aw.at + i * Bytes + b, {}});
          ack.lines.back().bytes.push_back(w.data[b]);
        }
      }
      acks_[aw.id].push_back(std::move(ack));
    }
  }
  /// The oldest burst of each id, when its time has come. One that fails is never seen.
  void commit() {
    for (auto& acks : acks_) {
      if (acks.empty() || acks.front().written || acks.front().ready > now_) continue;
      Ack& ack = acks.front();
      ack.written = true;
      if (ack.fails) continue;
      for (Line& line : ack.lines) lines_.push_back(std::move(line));
    }
  }

  Rng rng_;
  uint64_t now_ = 0, overtakes_ = 0, failed_writes_ = 0, failed_reads_ = 0;
  std::array<std::deque<Beat>, Ids> owed_;
  /// Of the beats of an id: those that were asked for, and of them those not answered. Ids in the order of their asks.
  std::array<std::size_t, Ids> requested_{}, open_{};
  std::deque<unsigned> requests_;
  std::deque<Offer> aws_, ws_;
  std::array<std::deque<Ack>, Ids> acks_;
  std::deque<Line> lines_;
  std::optional<unsigned> b_, r_;
  uint8_t b_resp_ = 0;
  uint8_t r_resp_ = kOpen;
  Offer ar_held_, aw_held_, w_held_;
  std::string problem_;
};

}  // namespace mrc
