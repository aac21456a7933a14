// SPDX-License-Identifier: Apache-2.0
#include "libmrc/host/memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <bit>
#include <cerrno>

namespace mrc::libmrc {

namespace {

/// Bus addresses: a mark that no program's address has, a serial number of the region, 40 bits inside it.
constexpr uint64_t kMark = uint64_t{1} << 62;
constexpr unsigned kSerialLsb = 40;
constexpr uint32_t kSerials = 1u << 22;
/// A region begins where it does in its page: what is aligned in the program is aligned on the NIC's way.
constexpr uint64_t kPage = 4096;

template <class Copy>
bool whole(std::size_t bytes, Copy copy) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = copy(done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

bool ProcessMemory::read(uint64_t address, std::span<uint8_t> to) const {
  return whole(to.size(), [&](std::size_t done) {
    const iovec local{to.data() + done, to.size() - done};
    const iovec remote{std::bit_cast<void*>(address + done), to.size() - done};
    return process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  });
}

bool ProcessMemory::write(uint64_t address, std::span<const uint8_t> from) const {
  return whole(from.size(), [&](std::size_t done) {
    const iovec local{const_cast<uint8_t*>(from.data()) + done, from.size() - done};
    const iovec remote{std::bit_cast<void*>(address + done), from.size() - done};
    return process_vm_writev(pid_, &local, 1, &remote, 1, 0);
  });
}

uint32_t Regions::serial() {
  while (next_serial_ == 0 || regions_.contains(next_serial_)) next_serial_ = (next_serial_ + 1) % kSerials;
  const uint32_t number = next_serial_;
  next_serial_ = (next_serial_ + 1) % kSerials;
  return number;
}

uint32_t Regions::make(Region region) {
  const uint32_t number = serial();
  region.bus = kMark | uint64_t{number} << kSerialLsb;
  regions_[number] = std::move(region);
  return number;
}

bool Regions::gathers(uint32_t key) const {
  return std::ranges::any_of(regions_, [key](const auto& r) {
    return std::ranges::any_of(r.second.pieces, [key](const Piece& p) { return p.key == key && p.bytes != 0; });
  });
}

const Region* Regions::add(Region region) {
  const auto rows = static_cast<uint32_t>(generations_.size());
  if (rows_in_use_ >= rows) return nullptr;
  ++rows_in_use_;
  while (rows_used_[next_row_]) next_row_ = (next_row_ + 1) % rows;
  const uint32_t row = next_row_;
  next_row_ = (next_row_ + 1) % rows;
  const uint32_t number = serial();
  rows_used_[row] = true;
  region.key = row << 8 | ++generations_[row];
  region.bus = kMark | uint64_t{number} << kSerialLsb | region.address % kPage;
  by_key_[region.key] = number;
  return &(regions_[number] = std::move(region));
}

void Regions::remove(uint32_t key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  rows_used_[key >> 8] = false;
  --rows_in_use_;
  regions_.erase(found->second);
  by_key_.erase(found);
}

const Region* Regions::find(uint32_t key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &regions_.at(found->second);
}

std::vector<uint32_t> Regions::keys_of(const ProcessMemory* memory) const {
  std::vector<uint32_t> keys;
  for (const auto& [serial, region] : regions_) {
    if (region.memory.get() == memory && region.qp == 0) keys.push_back(region.key);
  }
  return keys;
}

bool Regions::used(uint32_t pd) const {
  for (const auto& [serial, region] : regions_) {
    if (region.pd == pd && region.qp == 0) return true;
  }
  return false;
}

const Region* Regions::at(uint64_t bus, uint64_t bytes) const {
  if ((bus & kMark) == 0) return nullptr;
  const auto found = regions_.find(static_cast<uint32_t>((bus & ~kMark) >> kSerialLsb));
  if (found == regions_.end()) return nullptr;
  const Region& r = found->second;
  return bus >= r.bus && bytes <= r.bytes && bus - r.bus <= r.bytes - bytes ? &r : nullptr;
}

bool Regions::read(uint64_t bus, std::span<uint8_t> to) const {
  const Region* r = at(bus, to.size());
  if (r == nullptr) return false;
  uint64_t at = bus - r->bus;
  if (!r->data.empty())
    return std::ranges::copy_n(r->data.begin() + static_cast<std::ptrdiff_t>(at),
                               static_cast<std::ptrdiff_t>(to.size()), to.begin()),
           true;
  if (r->pieces.empty()) return r->memory->read(r->address + at, to);
  for (const Piece& p : r->pieces) {
    if (at >= p.bytes) {
      at -= p.bytes;
      continue;
    }
    const Region* of = find(p.key);
    const std::size_t part = std::min<std::size_t>(to.size(), p.bytes - at);
    if (of == nullptr || !of->memory->read(of->address + (p.address - of->iova) + at, to.first(part))) return false;
    to = to.subspan(part);
    at = 0;
    if (to.empty()) return true;
  }
  return false;
}

bool Regions::write(uint64_t bus, std::span<const uint8_t> from) const {
  const Region* r = at(bus, from.size());
  return r != nullptr && r->qp == 0 && r->remote_write && r->memory->write(r->address + (bus - r->bus), from);
}

}  // namespace mrc::libmrc
