// SPDX-License-Identifier: Apache-2.0
#include "sim/switch/forwarding.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mrc::sim {

namespace {
constexpr unsigned kMaxLocalSids = 6;  // uSIDs in one address
}

UsidTable::Entry& UsidTable::make(uint64_t key) {
  const auto place = [this](uint64_t k) -> Entry& {
    for (uint64_t i = k * 0x9e3779b97f4a7c15u >> shift_;; ++i) {
      Entry& e = slots_[i & mask_];
      if (!e.used || e.key == k) return e;
    }
  };
  if (4 * (used_ + 1) > 3 * slots_.size()) {
    std::vector<Entry> old(2 * slots_.size());
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots_.size()));
    for (const Entry& entry : old) {
      if (entry.used) place(entry.key) = entry;
    }
  }
  Entry& entry = place(key);
  used_ += !entry.used;
  entry.used = true;
  entry.key = key;
  return entry;
}

void UsidTable::set_local(uint64_t key, Local local, uint16_t port) {
  Entry& entry = make(key);
  entry.local = local;
  entry.local_port = port;
}
void UsidTable::set_route(uint64_t key, uint16_t port) { make(key).route = port; }

uint16_t HostRoutes::add_group(std::vector<uint16_t> ports) {
  Group group{std::move(ports), {}};
  for (const uint16_t p : group.all) {
    if (p >= down_.size()) down_.resize(p + 1u);
    if (!down_[p]) group.up.push_back(p);
  }
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].all == group.all) return static_cast<uint16_t>(i);
  }
  groups_.push_back(std::move(group));
  return static_cast<uint16_t>(groups_.size() - 1);
}

void HostRoutes::set(uint32_t host, uint16_t group) {
  if (host >= group_of_.size()) group_of_.resize(host + 1u, 0xffff);
  group_of_[host] = group;
}

void HostRoutes::port_changed(uint16_t port, bool up) {
  if (port >= down_.size()) down_.resize(port + 1u);
  down_[port] = !up;
  for (Group& group : groups_) {
    if (std::find(group.all.begin(), group.all.end(), port) == group.all.end()) continue;
    group.up.clear();
    for (const uint16_t p : group.all) {
      if (!down_[p]) group.up.push_back(p);
    }
  }
}

Decision HostRoutes::find(uint32_t host, uint32_t src, uint32_t entropy, uint64_t seed) const {
  if (host >= group_of_.size() || group_of_[host] == 0xffff) return {Verdict::NoRoute, 0};
  const Group& group = groups_[group_of_[host]];
  // With no port left the packet goes where it would have gone, and is discarded at that port.
  const std::vector<uint16_t>& ports = group.up.empty() ? group.all : group.up;
  if (ports.empty()) return {Verdict::NoRoute, 0};
  if (ports.size() == 1) return {Verdict::Forward, ports[0]};
  const uint64_t hash = flow_hash(src, host, entropy, seed) >> 32;
  return {Verdict::Forward, ports[hash * ports.size() >> 32]};
}

uint64_t HostRoutes::memory() const {
  uint64_t bytes = group_of_.capacity() * 2;
  for (const Group& g : groups_) bytes += sizeof g + (g.all.capacity() + g.up.capacity()) * 2;
  return bytes;
}

Decision forward(const ForwardingTables& tables, Packet& packet) {
  if (packet.hop_limit <= 1) return {Verdict::HopLimit, 0};
  --packet.hop_limit;
  for (unsigned i = 0; i <= kMaxLocalSids; ++i) {
    if (packet.dst.hi == kHostPrefix) {
      return tables.hosts.find(static_cast<uint32_t>(packet.dst.lo), packet.src, packet.entropy, tables.ecmp_seed);
    }
    const UsidTable::Entry& entry = tables.usid.find(usid_key(packet.dst));
    const bool local = entry.used && entry.local != UsidTable::Local::None;
    if (!local || i != 0) {
      if (entry.used && entry.route != UsidTable::kNoRoute) return {Verdict::Forward, entry.route};
      if (!local) return {Verdict::NoRoute, 0};
    }
    if (!argument_zero(packet.dst)) {
      packet.dst = shift_usid(packet.dst);
    } else if (packet.stack == Stack::Srv6Srh && packet.segments_left > 0) {
      --packet.segments_left;
      packet.dst = packet.attachment()->segment;
    } else {
      return {Verdict::ToSelf, 0};
    }
    if (entry.local == UsidTable::Local::Adjacency) return {Verdict::Forward, entry.local_port};
  }
  return {Verdict::TooManySids, 0};
}

}  // namespace mrc::sim
