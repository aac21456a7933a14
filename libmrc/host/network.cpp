// SPDX-License-Identifier: Apache-2.0
#include "libmrc/host/network.hpp"

#include <algorithm>
#include <utility>

#include "tb/environment/mac.hpp"
#include "wire/bytes.hpp"

namespace mrc::libmrc {

void Network::join(uint64_t mac, const log::Ip& ip, std::function<bool(uint32_t)> setting_up,
                   std::function<void(unsigned, bool)> carrier) {
  order_.push_back(mac);
  carriers_.push_back(std::move(carrier));
  setting_up_[mac] = std::move(setting_up);
  macs_[ip] = mac;
  ports_[mac].resize(preset_.num_planes);
}

std::optional<uint64_t> Network::mac_of(const log::Ip& ip) const {
  const auto found = macs_.find(ip);
  return found == macs_.end() ? std::nullopt : std::optional(found->second);
}

bool Network::setting_up(uint64_t mac, uint32_t qp) const {
  const auto found = setting_up_.find(mac);
  return found != setting_up_.end() && found->second(qp);
}

void Network::send(uint64_t from, tb::SentFrame frame, Time first) {
  if (watch_) watch_(frame.plane, first, frame.bytes);
  constexpr uint64_t kParts = 1'000'000;
  if (loss_ > 0 && rng_.below(kParts) < static_cast<uint64_t>(loss_ * kParts)) return;
  carry(from, std::move(frame), first);
}

void Network::carry(uint64_t, tb::SentFrame frame, Time first) {
  if (frame.bytes.size() < 6) return;
  const uint64_t to = wire::load_be<6>(frame.bytes.data());
  arrive(to, frame.plane, first + delay_, std::move(frame.bytes));
}

void Network::arrive(uint64_t mac, unsigned plane, Time begin, std::vector<uint8_t> bytes) {
  const auto to = ports_.find(mac);
  if (to == ports_.end() || plane >= to->second.size()) return;
  to->second[plane].queue.emplace(begin, std::move(bytes));
  ++under_way_;
}

void Network::deliver(uint64_t mac, Time from, Time to, const Receive& receive) {
  const Time byte = tb::byte_ps(preset_);
  auto& ports = ports_.at(mac);
  for (unsigned plane = 0; plane < ports.size(); ++plane) {
    Port& port = ports[plane];
    while (!port.queue.empty()) {
      const auto next = port.queue.begin();
      const Time begin = std::max({next->first, port.free + tb::kPreambleBytes * byte, from});
      if (begin >= to) break;
      const auto length = static_cast<unsigned>(next->second.size());
      port.free = begin + (tb::wire_bytes(length) - tb::kPreambleBytes) * byte;
      receive(plane, begin + length * byte, next->second);
      port.queue.erase(next);
      --under_way_;
    }
  }
}

}  // namespace mrc::libmrc
