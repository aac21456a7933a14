// SPDX-License-Identifier: Apache-2.0
/// An endpoint without a protocol: sends packets of one size as fast as its ports take them, and answers every few
/// with a short one.
#pragma once

#include <deque>
#include <vector>

#include "sim/engine/fabric.hpp"
#include "sim/switch/switch.hpp"

namespace mrc::sim {

struct SyntheticConfig {
  uint64_t packets = 0;      ///< to be sent, by all planes together
  uint16_t size = 4234;      ///< a WRITE of 4096 bytes with SRv6
  unsigned answer_each = 4;  ///< 0: never
  uint16_t answer_size = 154;
  Stack stack = Stack::Srv6;
  uint8_t dscp = wire::kDscpTrimmable, ecn = 2;
};

class Synthetic final : public Endpoint {
 public:
  explicit Synthetic(const SyntheticConfig& config) : config_(config), left_(config.packets) {}

  /// Destination of packets and answers, per plane (SRv6: the path; otherwise one address).
  void to(std::vector<Address> path, uint32_t host) { path_ = std::move(path), host_ = host; }
  uint64_t received = 0, answers = 0, trimmed = 0;

  void attach(const Access& access) override {
    access_ = access;
    owed_.resize(access.planes());
    since_.resize(access.planes());
  }
  void start() override {
    for (unsigned p = 0; p < access_.planes(); ++p) access_.kick(p);
  }
  void receive(PacketPtr packet, unsigned plane) override {
    if (packet->dscp == wire::kDscpControl) {
      ++answers;
      return;
    }
    ++received;
    if (packet->dscp == wire::kDscpTrimmed || packet->dscp == wire::kDscpTrimmedLasthop) ++trimmed;
    if (config_.answer_each != 0 && ++since_[plane] == config_.answer_each) {
      since_[plane] = 0;
      ++owed_[plane];
      access_.kick(plane);
    }
  }
  PacketPtr pull(unsigned plane) override {
    const bool answer = owed_[plane] != 0;
    if (!answer && left_ == 0) return nullptr;
    PacketPtr packet = access_.pool().make();
    packet->dst = path_[plane % path_.size()];
    packet->src = access_.node();
    packet->dst_host = host_;
    packet->entropy = next_ev_++;
    packet->stack = config_.stack;
    packet->ecn = config_.ecn & 3;
    if (answer) {
      --owed_[plane];
      packet->dscp = wire::kDscpControl;
      packet->size = config_.answer_size;
    } else {
      --left_;
      packet->dscp = config_.dscp & 63;
      packet->size = config_.size;
    }
    return packet;
  }
  void link_changed(unsigned, bool) override {}

  bool open(const QpSpec&, std::string&) override { return true; }
  bool post(const WorkRequest& request) override {
    left_ += request.bytes / config_.size;
    start();
    return true;
  }
  void listen(Listener*) override {}
  EndpointStats stats() const override { return {.delivered_packets = received}; }
  EvCounts ev_counts(uint32_t) const override { return {}; }
  const char* fidelity() const override { return "synthetic"; }

 private:
  SyntheticConfig config_;
  Access access_;
  uint64_t left_;
  std::vector<Address> path_;
  std::vector<uint32_t> owed_, since_;
  uint32_t host_ = 0, next_ev_ = 0;
};

}  // namespace mrc::sim
