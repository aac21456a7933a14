// SPDX-License-Identifier: Apache-2.0
/// The checker of responders: finds the QP that a frame belongs to, says whether the NIC must take it, may, or must
/// not, and hands it to that QP's flow.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "reference/checker.hpp"
#include "reference/own_addresses.hpp"
#include "reference/queue.hpp"
#include "reference/responder_flow.hpp"

namespace mrc::ref {

class ResponderJudge : public Checker {
 public:
  ResponderJudge(const Profile& profile, Report& report);

  void port(const log::Port& port, Time time) override;
  void qp(const log::Qp& qp, Time time) override;
  void region(const log::Mr& region, Time time) override;
  void received(const Seen& seen) override;
  void sent(const Seen& seen) override;
  void host(const log::Host& host, Time time) override;
  void posted(const log::Post& post, Time time) override;
  void posted(const log::PostReceive& receive, Time time) override;
  void completed(const log::Cqe& cqe, Time time) override;
  void event(const log::Event& event, Time time) override;
  void counter(const log::Counter& counter, Time time) override;
  void gap(const log::Gap& gap, Time time) override;
  void now(Time time) override;
  void finish(const log::End& end, Time time) override;
  uint64_t memory() const override;

  const ResponderFlow* flow(uint32_t qp) const;

 private:
  struct Region {
    log::Mr mr;
    Time changed = 0;
  };
  struct Held {
    Time until = 0;
    wire::Packet packet;
    Went went;
    uint32_t qp = 0;
  };
  enum class Trust { No, Perhaps, Yes };

  void second_look(const Seen& seen);
  void host_paused(uint64_t tag, uint64_t turns, Time time);
  Trust trust(const Seen& seen, const log::Qp& qp) const;
  Fault fault(const wire::Packet& packet, const log::Qp& qp, Time at, Trust& trust) const;
  bool same_address(const log::Ip& ip, const std::array<uint8_t, 16>& on_wire) const;
  ResponderFlow* find(uint32_t qp);
  /// The local QP whose peer a frame goes to.
  bool is_renewed(uint32_t qp, Time at) const;
  ResponderFlow* find_peer(const wire::Packet& packet, bool& doubtful);
  void data(const Seen& seen, ResponderFlow& flow, Trust trust, bool trimmed);
  void port_status(const wire::Packet& packet, Time time);
  void blind(const char* reason);
  void came_back(const Seen& seen);
  void count_returned();

  ResponderWorld world_;
  OwnAddresses own_;
  std::map<uint32_t, std::unique_ptr<ResponderFlow>> flows_;
  std::multimap<uint32_t, uint32_t> by_peer_;  ///< peer's QP -> ours
  std::map<uint32_t, Time> renewed_;           ///< QP -> when it was set up again; kNever: it is in RESET
  std::map<uint32_t, Region> regions_;
  std::array<bool, log::kMaxPlanes> up_{};
  std::array<Time, log::kMaxPlanes> up_since_{};
  Queue<Held> held_;
  std::optional<uint64_t> silent_drops_;
  // Packets that came back: all, and those that the device must have counted a latency ago.
  uint64_t came_back_ = 0, counted_back_ = 0;
  Queue<Time> lately_back_;
  struct Returned {
    uint64_t counted = 0, least = 0, most = 0;
    Time at = 0;
  };
  std::optional<Returned> returned_;  ///< the newest reading of its counter
  const char* blind_ = nullptr;
};

}  // namespace mrc::ref
