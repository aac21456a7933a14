// SPDX-License-Identifier: Apache-2.0
/// Memory of programs, where it lies: the NIC reads and writes it through here, inside registered regions alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "libmrc/messages.hpp"

namespace mrc::libmrc {

/// The memory of one process. False: it is not there, or we may not.
class ProcessMemory {
 public:
  explicit ProcessMemory(pid_t pid) : pid_(pid) {}
  bool read(uint64_t address, std::span<uint8_t> to) const;
  bool write(uint64_t address, std::span<const uint8_t> from) const;

 private:
  pid_t pid_;
};

struct Region {
  uint32_t key = 0;  ///< L_Key and R_Key
  uint32_t pd = 0;
  uint64_t address = 0, bytes = 0;  ///< in the program
  uint64_t iova = 0;                ///< how work requests and peers name its first byte
  uint64_t bus = 0;                 ///< how the NIC names it towards the host
  bool remote_write = false, local_write = false;
  /// Of one that the driver has made for a work request: whose, and where its bytes are; or the bytes.
  uint32_t qp = 0;
  std::vector<Piece> pieces;
  std::vector<uint8_t> data;
  std::shared_ptr<const ProcessMemory> memory;

  bool holds(uint64_t at, uint64_t length) const {
    return at >= iova && length <= bytes && at - iova <= bytes - length;
  }
  uint64_t bus_of(uint64_t at) const { return bus + (at - iova); }
};

/// Regions of one NIC, by key and by the addresses on the NIC's way to memory. No key and no address comes back soon: a
/// late access finds nothing, not somebody else's memory.
class Regions {
 public:
  explicit Regions(uint32_t most) : generations_(most) {}

  /// Null: there is no room. Sets key and bus.
  const Region* add(Region region);
  void remove(uint32_t key);
  /// One that the NIC knows nothing of and no key opens; its number, never 0.
  uint32_t make(Region region);
  const Region& made(uint32_t number) const { return regions_.at(number); }
  void unmake(uint32_t number) { regions_.erase(number); }
  /// Some of them has a piece in the region of that key.
  bool gathers(uint32_t key) const;
  const Region* find(uint32_t key) const;
  /// Those of one owner.
  std::vector<uint32_t> keys_of(const ProcessMemory* memory) const;
  bool used(uint32_t pd) const;

  bool read(uint64_t bus, std::span<uint8_t> to) const;
  bool write(uint64_t bus, std::span<const uint8_t> from) const;
  /// The one that has those bytes; null: none.
  const Region* at(uint64_t bus, uint64_t bytes) const;

  static constexpr uint64_t kMaxBytes = uint64_t{1} << 40;  ///< of one region

 private:
  std::vector<uint8_t> generations_;  ///< by row of the NIC's table
  std::unordered_map<uint32_t, uint32_t> by_key_;
  std::unordered_map<uint32_t, Region> regions_;  ///< by serial number
  uint32_t next_row_ = 0, next_serial_ = 1, rows_in_use_ = 0;
  uint32_t serial();
  std::unordered_map<uint32_t, bool> rows_used_;
};

}  // namespace mrc::libmrc
