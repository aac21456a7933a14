// SPDX-License-Identifier: Apache-2.0
/// The core and the host of benches of a skin: packets of two planes line by line, and completions. The shell says
/// which bytes are in memory (write()); each completion that leaves the gate is held against that.
#pragma once

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gen/streams.hpp"
#include "tests/fpga/unit.hpp"
#include "util/rng.hpp"

namespace mrc {

constexpr unsigned kHostLine = 64, kHostPlanes = 2, kHostQps = 4, kStatusOk = 0, kStatusRemOp = 99;

/// A packet of the core: its bytes, and how many of them are not in memory.
struct HostPacket {
  uint64_t address = 0;
  std::vector<uint8_t> bytes;
  unsigned plane = 0, qp = 0;
  std::vector<bool> there;  ///< of each byte: it is in memory
  std::size_t sent = 0, open = 0;
  bool taken = false;
};

/// Top is a Verilated module with a writer and a gate; the class that is derived is its shell.
template <class Top>
class HostCore : public Unit<Top> {
 public:
  HostCore(uint64_t seed, const char* name) : Unit<Top>(name), rng(seed, name) { this->reset(); }
  virtual ~HostCore() = default;
  using Unit<Top>::top;

  /// A packet for a plane, behind those that it has.
  void send(unsigned plane, unsigned qp, std::size_t size, uint64_t address) {
    HostPacket packet;
    packet.address = address;
    packet.plane = plane;
    packet.qp = qp;
    packet.open = size;
    unwritten += size;
    packet.there.resize(size);
    packet.bytes.resize(size);
    for (uint8_t& byte : packet.bytes) byte = static_cast<uint8_t>(rng.next());
    packets.push_back(packet);
    places_[address] = packets.size() - 1;
    queue_[plane].push_back(packets.size() - 1);
  }
  /// A random packet behind all others in memory: often in a word that it shares with its neighbour.
  void send_any(std::size_t most) {
    const std::size_t size = rng.chance(0.1) ? most : rng.between(1, most);
    send(static_cast<unsigned>(rng.below(kHostPlanes)), static_cast<unsigned>(rng.below(kHostQps)), size, free_);
    free_ += size + (rng.chance(0.5) ? 0 : rng.below(90));
  }
  void complete(bool recv, unsigned qp, unsigned id, unsigned status = kStatusOk) {
    Cqe cqe;
    cqe.recv = recv;
    cqe.qp = static_cast<QpIndex>(qp);
    cqe.status = static_cast<decltype(cqe.status)>(status);
    cqe.wr_id = id;
    cqes.push_back(cqe);
  }
  /// A write of this QP has failed: its receives that were good are not. All else leaves as it came.
  void complete_failed(unsigned qp) {
    complete(true, qp, 0);
    complete(true, qp - 1, 1);
    complete(false, qp, 2);
    complete(true, qp, 3, 131);
    run(60);
    REQUIRE(left.size() == 4);
    for (unsigned i = 0; i < 4; ++i) {
      CHECK(static_cast<unsigned>(left[i].status) == std::array{kStatusRemOp, kStatusOk, kStatusOk, 131u}[i]);
    }
  }
  /// The core is in reset: it has forgotten what it had to offer.
  void forget() {
    for (auto& queue : queue_) queue.clear();
    line_.reset();
    cqes.clear();
    cqe_offered_ = false;
  }
  /// The gate is in reset: what waited there is gone.
  void forget_inside() {
    inside_.clear();
    held_cqe_.reset();
  }
  /// Packets of which a line is still to be taken.
  std::size_t waiting() const { return queue_[0].size() + queue_[1].size() + line_.has_value(); }

  void cycle() {
    drive();
    drive_shell();
    settle();
    failed_before_ = failed;
    sample_shell();
    sample();
    edge();
  }
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle();
  }
  /// Everything that was sent is in memory. That it is there once, and nothing else, write() demands.
  void require_written() const {
    for (const HostPacket& packet : packets) REQUIRE((packet.taken && packet.open == 0));
  }

  Rng rng;
  double offers = 1.0, host = 1.0;
  std::vector<HostPacket> packets;
  std::deque<Cqe> cqes;  ///< of the core, not taken yet
  std::vector<Cqe> left;
  std::array<bool, kHostQps> failed{};  ///< what the gate knows of writes that failed
  uint64_t taken = 0, unwritten = 0;

 protected:
  virtual void drive_shell() = 0;
  virtual void sample_shell() = 0;

  /// The packet that has this byte at this address.
  HostPacket& packet_at(uint64_t address) {
    auto place = places_.upper_bound(address);
    REQUIRE(place != places_.begin());
    HostPacket& packet = packets[(--place)->second];
    REQUIRE(address - packet.address < packet.bytes.size());
    return packet;
  }
  /// What the shell has for an address on is what the packet has there.
  void check(uint64_t address, const uint8_t* bytes, std::size_t size) {
    const HostPacket& packet = packet_at(address);
    const uint64_t from = address - packet.address;
    REQUIRE(size <= packet.bytes.size() - from);
    REQUIRE(std::equal(bytes, bytes + size, packet.bytes.begin() + static_cast<std::ptrdiff_t>(from)));
  }
  /// Bytes of a packet are in memory, or their write has failed: once.
  void write(uint64_t address, std::size_t size) {
    HostPacket& packet = packet_at(address);
    const uint64_t from = address - packet.address;
    REQUIRE(size <= packet.bytes.size() - from);
    for (std::size_t i = from; i < from + size; ++i) {
      if (packet.there[i]) FAIL("a byte is written twice");
      packet.there[i] = true;
    }
    packet.open -= size;
    unwritten -= size;
  }

 private:
  struct Line {
    uint64_t address = 0;
    unsigned size = 0, plane = 0, qp = 0;
    bool last = false;
    std::array<uint8_t, kHostLine> data{};
  };

  using Unit<Top>::settle, Unit<Top>::edge;
  /// A line of the oldest packet of a plane.
  void next_line() {
    if (line_ || !rng.chance(offers)) return;
    auto plane = static_cast<unsigned>(rng.below(kHostPlanes));
    if (queue_[plane].empty()) plane = 1 - plane;
    if (queue_[plane].empty()) return;
    HostPacket& packet = packets[queue_[plane].front()];
    Line line;
    line.address = packet.address + packet.sent;
    line.size = static_cast<unsigned>(std::min<std::size_t>(kHostLine, packet.bytes.size() - packet.sent));
    line.plane = plane;
    line.qp = packet.qp;
    for (unsigned i = 0; i < kHostLine; ++i) {
      line.data[i] = i < line.size ? packet.bytes[packet.sent + i] : static_cast<uint8_t>(rng.next());
    }
    packet.sent += line.size;
    line.last = packet.sent == packet.bytes.size();
    line_ = line;
  }

  void drive() {
    auto& t = *top;
    next_line();
    t.host_wr_valid_i = line_.has_value();
    if (line_) {
      t.host_wr_addr_i = line_->address;
      t.host_wr_len_i = static_cast<uint8_t>(line_->size);
      t.host_wr_last_i = line_->last;
      t.host_wr_plane_i = static_cast<uint8_t>(line_->plane);
      t.host_wr_qp_i = static_cast<uint16_t>(line_->qp);
      std::memcpy(&t.host_wr_data_i[0], line_->data.data(), kHostLine);
    }
    if (!cqe_offered_) cqe_offered_ = !cqes.empty() && rng.chance(offers);
    t.cqe_valid_i = cqe_offered_;
    if (cqe_offered_) cqes.front().pack(&t.cqe_i[0]);
    t.cqe_ready_i = rng.chance(host);
  }

  void sample() {
    auto& t = *top;
    if (t.host_wr_valid_i && t.host_wr_ready_o) {
      if (line_->last) {
        auto& queue = queue_[line_->plane];
        packets[queue.front()].taken = true;
        order_.push_back(queue.front());
        queue.pop_front();
        ++taken;
      }
      line_.reset();
    }
    if (t.cqe_valid_i && t.cqe_ready_o) {
      inside_.emplace_back(cqes.front(), order_.size());
      cqes.pop_front();
      cqe_offered_ = false;
    }
    const Cqe cqe = Cqe::unpack(&t.cqe_o[0]);
    // A failure that comes while a completion is on offer changes it no more.
    if (!held_cqe_) reported_ = failed_before_;
    if (held_cqe_) {
      REQUIRE(t.cqe_valid_o);
      REQUIRE(cqe == *held_cqe_);
    }
    held_cqe_.reset();
    if (t.cqe_valid_o && t.cqe_ready_i) leave(cqe);
    if (t.cqe_valid_o && !t.cqe_ready_i) held_cqe_ = cqe;
    for (unsigned qp = 0; qp < kHostQps; ++qp) {
      if (t.clear_i >> qp & 1) failed[qp] = false;
    }
  }

  void leave(const Cqe& cqe) {
    REQUIRE(!inside_.empty());
    auto [expected, before] = inside_.front();
    inside_.pop_front();
    if (expected.recv) {
      for (std::size_t i = checked_; i < before; ++i) {
        CAPTURE(i);
        REQUIRE(packets[order_[i]].open == 0);
      }
      checked_ = std::max(checked_, before);
    }
    check_status(cqe, expected);
    left.push_back(cqe);
  }
  /// As it came; or a failure of its QP, where a write of it had failed when it was first on offer.
  void check_status(const Cqe& cqe, Cqe expected) {
    if (expected.recv && reported_[expected.qp] && expected.status == decltype(expected.status)(kStatusOk)) {
      expected.status = static_cast<decltype(expected.status)>(kStatusRemOp);
    }
    REQUIRE(cqe == expected);
  }

  std::map<uint64_t, std::size_t> places_;  ///< first address of each packet
  std::array<std::deque<std::size_t>, kHostPlanes> queue_;
  std::vector<std::size_t> order_;  ///< packets in the order in which their last lines were taken
  std::size_t checked_ = 0;         ///< so many of them are known to be in memory
  std::optional<Line> line_;
  std::deque<std::pair<Cqe, std::size_t>> inside_;
  std::optional<Cqe> held_cqe_;
  std::array<bool, kHostQps> failed_before_{}, reported_{};
  bool cqe_offered_ = false;
  uint64_t free_ = 0x10000000fc1;
};

}  // namespace mrc
