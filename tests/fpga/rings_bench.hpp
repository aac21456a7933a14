// SPDX-License-Identifier: Apache-2.0
/// Around fpga/rtl/mrc_fpga_rings.sv: a host with rings in memory, a memory on AXI4 that is slow and fails, and the
/// place of a core. What goes to the core and what comes into memory is held against what was posted and completed.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "Vmrc_fpga_rings_bench.h"
#include "gen/streams.hpp"
#include "util/rng.hpp"

namespace mrc::rings {

constexpr unsigned kQps = 4, kCqs = 2, kWqeDepth = 8, kNumWqes = 24, kReads = 4, kWrites = 4;
constexpr unsigned kOk = 0, kLocLength = 129, kLocState = 130, kFlushed = 133;

// Offsets in the block (docs/design/boards/rings.md).
constexpr uint16_t kStatus = 0x18, kFree = 0x1c;
constexpr uint16_t cq_at(unsigned c) { return static_cast<uint16_t>(0x200 + 0x20 * c); }
constexpr uint16_t sq_at(unsigned q) { return static_cast<uint16_t>(0x1000 + 0x20 * q); }
enum Offset : uint16_t {
  BaseLo = 0,
  BaseHi = 4,
  Config = 8,
  Control = 12,
  Bell = 16,
  Other = 20,
  Status = 24,
  Last = 28
};
enum ErrorBit : unsigned { Jump = 1, Failed = 2, Off = 4, Live = 8, Lost = 8 };
enum ControlBit : unsigned { Open = 1, Opening = 2, Busy = 4 };

/// What stands behind the pins wqe and cqe.
class Core {
 public:
  virtual ~Core() = default;
  virtual bool wqe_ready() = 0;
  virtual const Cqe* cqe() = 0;  ///< on offer, or nullptr
  virtual void step(const Wqe* offered, bool cqe_ready) = 0;
};

/// An entry of a completion ring as the host reads it.
struct Entry {
  Cqe cqe;
  uint16_t consumer = 0;
};

struct Sq {
  uint64_t base = 0;
  unsigned log = 0, cq = 0;
  uint16_t producer = 0, consumer = 0;  ///< the host's, and the newest that it has heard of
  std::deque<Wqe> posted;               ///< what the core has not got yet
  uint64_t sent = 0;                    ///< work requests that went to the core
  uint32_t first_id = 0;                ///< wr_id of the first one since it was opened
  bool heard = false;                   ///< one of them has completed
};

struct Cq {
  uint64_t base = 0;
  unsigned log = 0;
  uint16_t consumer = 0, reported = 0;  ///< the host's, and what it has told the ring
  std::deque<Cqe> expected;             ///< completions of the core that the host has not seen
  uint64_t written = 0, acknowledged = 0, taken = 0;
  bool closed = false;  ///< completions are not expected
};

class Bench : public Unit<Vmrc_fpga_rings_bench> {
 public:
  Bench(uint64_t seed, Core& core);

  void cycle();
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle();
  }

  // Registers: true and data, if the access is answered with OKAY.
  bool write(uint16_t offset, uint32_t data, unsigned strb = 0xf);
  std::optional<uint32_t> read(uint16_t offset);

  // The host.
  void make_cq(unsigned c, unsigned log);
  /// Base, size and CQ of the ring; it is opened, and must be open or opening.
  void make_sq(unsigned q, unsigned log, unsigned cq);
  bool close(unsigned q) { return write(sq_at(q) + Control, 0); }
  /// Free slots, as far as the host knows.
  unsigned slots(unsigned q) const {
    return (1u << sqs[q].log) - static_cast<uint16_t>(sqs[q].producer - sqs[q].consumer);
  }
  /// Writes a descriptor into the next slot.
  void post(unsigned q, uint32_t length = 64);
  bool ring(unsigned q) { return write(sq_at(q) + Bell, sqs[q].producer); }
  /// The next entry, if its phase says so. It must be what the core has completed.
  std::optional<Entry> poll(unsigned c);
  /// Takes all there is, and tells the ring.
  void drain(unsigned c);
  bool idle() const { return reads_.empty() && writes_.empty() && aws_.empty() && ws_.empty(); }

  Rng rng;
  Core& core;
  double takes = 1.0, gives = 1.0;                                 ///< chance in a cycle that memory takes, or answers
  unsigned latency = 0;                                            ///< cycles that an answer takes at least
  bool reads_stand = false, writes_stand = false, reader = false;  ///< reader: registers are read all the time
  bool stray_r = false, stray_b = false;
  std::set<uint64_t> bad_reads, bad_writes;  ///< addresses that fail
  std::map<uint64_t, std::array<uint8_t, 32>> memory;
  std::array<Sq, kQps> sqs;
  std::array<Cq, kCqs> cqs;
  uint64_t now = 0, markers = 0, irqs[kCqs] = {}, most_reads = 0, most_writes = 0, background = 0;

 private:
  struct Read {
    uint64_t address, at;
  };
  struct Write {
    uint64_t address, at;
    unsigned cq;
    bool bad;
  };
  struct Beat {
    std::array<uint8_t, 64> data;
    uint64_t strb;
  };
  void drive();
  void sample();
  void sample_memory();
  void to_core(const Wqe& wqe);
  void written(uint64_t address, const Beat& beat);

  std::deque<Read> reads_;
  std::deque<uint64_t> aws_;
  std::deque<Beat> ws_;
  std::deque<Write> writes_;
  bool r_offered_ = false, b_offered_ = false, r_waits_ = false;
  unsigned r_resp_ = 0;
  std::optional<std::pair<bool, uint32_t>> w_answer_, r_answer_;
  std::optional<Wqe> held_wqe_;
  std::optional<uint64_t> held_ar_, held_aw_;
  std::optional<std::pair<std::array<uint8_t, 64>, uint64_t>> held_w_;
  unsigned irq_ = 0;
  uint32_t next_id_ = 1;
};

}  // namespace mrc::rings
