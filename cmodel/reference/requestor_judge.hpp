// SPDX-License-Identifier: Apache-2.0
/// The checker of requestors: finds the QP that a frame belongs to, says whether the NIC must take it or may, and hands
/// it to that QP's flow.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "reference/checker.hpp"
#include "reference/requestor_cc.hpp"
#include "reference/requestor_flow.hpp"
#include "reference/requestor_peers.hpp"

namespace mrc::ref {

class RequestorJudge : public Checker {
 public:
  RequestorJudge(const Profile& profile, Report& report);

  void port(const log::Port& port, Time time) override;
  void qp(const log::Qp& qp, Time time) override;
  void received(const Seen& seen) override;
  void sent(const Seen& seen) override;
  void host(const log::Host& host, Time time) override;
  using Checker::posted;
  void posted(const log::Post& post, Time time) override;
  void completed(const log::Cqe& cqe, Time time) override;
  void event(const log::Event& event, Time time) override;
  void counter(const log::Counter& counter, Time time) override;
  void gap(const log::Gap& gap, Time time) override;
  void now(Time time) override;
  void finish(const log::End& end, Time time) override;
  uint64_t memory() const override;

  const RequestorFlow* flow(uint32_t qp) const;

 private:
  RequestorFlow* find(uint32_t qp);
  bool crowded() const;
  bool sure(const Seen& seen, const log::Qp& qp) const;
  void port_status(const Seen& seen);
  void endpoint_sent(const Seen& seen);
  void endpoint_answered(const Seen& seen);

  RequestorWorld world_;
  RequestorCc cc_;
  RequestorPeers peers_;
  std::map<uint32_t, std::unique_ptr<RequestorFlow>> flows_;
  std::map<log::Ip, uint32_t> peer_ports_;
  std::map<uint16_t, uint32_t> ev_probes_;  ///< request id -> EV
  std::optional<uint64_t> silent_drops_;
  Time swept_ = 0;
};

}  // namespace mrc::ref
