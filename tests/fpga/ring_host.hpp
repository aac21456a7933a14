// SPDX-License-Identifier: Apache-2.0
/// What software of a host that is a CPU does with rings (docs/design/boards/rings.md): it finds them in the map, opens
/// them, posts work requests by descriptors and doorbells, and polls completions. It waits for registers only.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

namespace mrc {

/// What a driver gets from its operating system: the board's registers, and memory that the board reads and writes.
class HostBus {
 public:
  virtual ~HostBus() = default;
  virtual uint32_t read(uint16_t at) = 0;
  virtual void write(uint16_t at, uint32_t value) = 0;
  virtual void store(uint64_t address, std::span<const uint8_t> bytes) = 0;
  virtual void load(uint64_t address, std::span<uint8_t> bytes) = 0;
};

/// Where the block with these four letters begins; nothing: the board has none (docs/design/boards/axil.md).
inline std::optional<uint16_t> find_block(HostBus& bus, const char (&letters)[5]) {
  uint32_t wanted = 0;
  for (unsigned i = 0; i < 4; ++i) wanted = wanted << 8 | static_cast<uint8_t>(letters[i]);
  uint32_t at = 0;
  do {
    if (bus.read(static_cast<uint16_t>(at)) == wanted) return static_cast<uint16_t>(at);
    at = bus.read(static_cast<uint16_t>(at + 0x0c));
  } while (at != 0);
  return {};
}

/// A WRITE.
struct WorkRequest {
  uint32_t wr_id = 0;
  uint64_t laddr = 0, raddr = 0;
  uint32_t rkey = 0, length = 0;
  std::optional<uint32_t> imm;
};

struct Completion {
  uint32_t wr_id = 0, imm = 0, length = 0;
  uint16_t msn = 0;
  QpIndex qp = 0;
  uint8_t status = 0;  ///< cq_status_e, 0: Ok
  bool recv = false;
};

/// All rings of a board. `log` is log2 of a ring's slots.
class RingHost {
 public:
  explicit RingHost(HostBus& bus) : bus_(bus) {
    const auto at = find_block(bus, "MRCR");
    if (!at) throw std::runtime_error("the board has no rings");
    if ((bus.read(*at + 0x04u) >> 8 & 0xff) != 1)
      throw std::runtime_error("the rings have registers of another version");
    at_ = *at;
    const uint32_t shape = bus.read(at_ + 0x10u);
    sqs_.resize(shape & 0xffff);
    cqs_.resize(shape >> 16 & 0xff);
  }

  void open_cq(unsigned c, uint64_t base, unsigned log) {
    const std::vector<uint8_t> zeros(kEntry << log);
    bus_.store(base, zeros);
    cqs_.at(c) = {.base = base, .log = log};
    place(cq_at(c), base, log);
    bus_.write(cq_at(c) + kControl, 1);
  }
  /// Before the QP posts, and anew whenever it was set up anew: then close_sq() comes before, and this waits until the
  /// core has let go of what it held.
  void open_sq(unsigned q, uint64_t base, unsigned log, unsigned cq) {
    sqs_.at(q) = {.base = base, .log = log, .first = {}};
    place(sq_at(q), base, log | cq << 8);
    bus_.write(sq_at(q) + kControl, 1);
    while ((bus_.read(sq_at(q) + kControl) & kOpening) != 0) continue;
    if ((bus_.read(sq_at(q) + kControl) & kOpen) == 0) throw std::runtime_error("the send ring does not open");
  }
  void close_sq(unsigned q) {
    bus_.write(sq_at(q) + kControl, 0);
    while ((bus_.read(sq_at(q) + kControl) & kBusy) != 0) continue;
  }

  /// False: the ring is full. ring_doorbell() tells the board.
  bool post_send(unsigned q, const WorkRequest& work) {
    Sq& sq = sqs_.at(q);
    if (static_cast<uint16_t>(sq.producer - sq.consumer) == 1u << sq.log) return false;
    std::array<uint8_t, kDescriptor> d{};
    put(&d[0x00], work.wr_id);
    put(&d[0x04], uint32_t{work.imm.has_value()});
    put(&d[0x08], work.laddr);
    put(&d[0x10], work.raddr);
    put(&d[0x18], work.rkey);
    put(&d[0x1c], work.length);
    put(&d[0x20], work.imm.value_or(0));
    bus_.store(sq.base + kDescriptor * (sq.producer & ((1u << sq.log) - 1)), d);
    if (!sq.first) sq.first = work.wr_id;
    ++sq.producer;
    return true;
  }
  void ring_doorbell(unsigned q) { bus_.write(sq_at(q) + kBell, sqs_.at(q).producer); }

  std::optional<Completion> poll_cq(unsigned c) {
    Cq& cq = cqs_.at(c);
    std::array<uint8_t, kEntry> e{};
    bus_.load(cq.base + kEntry * (cq.consumer & ((1u << cq.log) - 1)), e);
    const bool first_lap = (cq.consumer >> cq.log & 1) == 0;
    if ((get<uint32_t>(&e[0x1c]) & 1) != first_lap) return {};
    Completion done;
    done.wr_id = get<uint32_t>(&e[0x00]);
    done.imm = get<uint32_t>(&e[0x04]);
    done.length = get<uint32_t>(&e[0x08]);
    done.msn = get<uint16_t>(&e[0x0c]);
    done.qp = get<uint16_t>(&e[0x0e]);
    done.status = e[0x10];
    done.recv = (e[0x11] & 1) != 0;
    if (!done.recv) {
      // What was made before the ring was opened has an index of before.
      Sq& sq = sqs_.at(done.qp);
      sq.heard = sq.heard || done.wr_id == sq.first;
      if (sq.heard) sq.consumer = get<uint16_t>(&e[0x12]);
    }
    ++cq.consumer;
    return done;
  }
  /// Gives back what was polled. Now and then, before the ring is full.
  void give_back(unsigned c) { bus_.write(cq_at(c) + kBell, cqs_.at(c).consumer); }
  /// The next entry that is not given back makes an interrupt, once.
  void arm(unsigned c) { bus_.write(cq_at(c) + kArm, 1); }

 private:
  static constexpr unsigned kDescriptor = 64, kEntry = 32;
  static constexpr unsigned kControl = 0x0c, kBell = 0x10, kArm = 0x1c;
  static constexpr uint32_t kOpen = 1, kOpening = 2, kBusy = 4;

  struct Sq {
    uint64_t base = 0;
    unsigned log = 0;
    uint16_t producer = 0, consumer = 0;
    std::optional<uint32_t> first;  ///< wr_id of the first work request since it was opened; wr_ids are told apart
    bool heard = false;             ///< it has completed
  };
  struct Cq {
    uint64_t base = 0;
    unsigned log = 0;
    uint16_t consumer = 0;
  };

  uint16_t cq_at(unsigned c) const { return static_cast<uint16_t>(at_ + 0x200 + 0x20 * c); }
  uint16_t sq_at(unsigned q) const { return static_cast<uint16_t>(at_ + 0x1000 + 0x20 * q); }
  void place(uint16_t ring, uint64_t base, uint32_t config) {
    bus_.write(ring, static_cast<uint32_t>(base));
    bus_.write(ring + 4u, static_cast<uint32_t>(base >> 32));
    bus_.write(ring + 8u, config);
  }
  template <class T>
  static void put(uint8_t* to, T value) {
    std::memcpy(to, &value, sizeof value);
  }
  template <class T>
  static T get(const uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }

  HostBus& bus_;
  uint16_t at_ = 0;
  std::vector<Sq> sqs_;
  std::vector<Cq> cqs_;
};

}  // namespace mrc
