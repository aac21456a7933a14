// SPDX-License-Identifier: Apache-2.0
#include "tb/device/device.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tb/device/qp_numbers.hpp"

namespace mrc::tb {

QpConfig first_config(uint32_t qp, const DeviceInfo& info) {
  QpConfig config;
  config.qp = qp;
  config.mpr = config.mpr_dest = std::max(1u, std::min(config.mpr, info.mpr));
  config.max_wimm = config.max_wimm_dest = std::min(config.max_wimm, info.max_wimm);
  return config;
}

log::Qp record_of(const QpConfig& c, const log::Ip& own_ip, unsigned planes) {
  log::Qp r;
  r.qp = c.qp;
  r.peer_qp = c.peer_qp;
  r.state = c.state;
  r.mtu = c.mtu;
  copy_qp_numbers(r, c);
  r.dynamic_mpr = c.dynamic_mpr;
  r.time_stamps = c.time_stamps;
  r.controlled = c.controlled;
  r.own_class = c.own_class.has_value();
  if (c.own_class) {
    r.dscp_data = c.own_class->data;
    r.dscp_rtx = c.own_class->rtx;
  }
  r.encap = static_cast<uint8_t>(c.encap);
  r.own_ip = own_ip;
  r.peer_ip = c.peer_ip;
  r.evs = c.evs;
  for (std::size_t i = 0; i < r.evs.size(); ++i) r.ev_planes.push_back(static_cast<uint8_t>(i % planes));
  r.backup = c.backup;
  return r;
}

void put_numbers(const ControllerNumbers& numbers, NsccParams& params) {
  for (const auto& [name, value] : numbers) {
    if (name == "rate_gbps" || name == "path_mtu" || name == "mtu" || name == "enable")
      throw Refusal(fmt::format("nscc: {} is not for a QP to say: the NIC knows it.", name), false);
    if (const auto error = nscc_set(params, name, value); error)
      throw Refusal(fmt::format("nscc: {}.", error->what), false);
  }
}

QpConfig with_attributes(QpConfig now, const QpConfig& wanted, uint32_t attributes) {
  using enum QpAttribute;
  const auto has = [attributes](QpAttribute a) { return (attributes & attribute_bit(a)) != 0; };
  now.qp = wanted.qp;
  now.state = wanted.state;
  if (has(EvProfile)) {
    now.evs = wanted.evs;
    now.backup = wanted.backup;
  }
  if (has(CcProfile)) {
    now.controlled = wanted.controlled;
    now.nscc = wanted.nscc;
  }
  if (has(Path)) {
    now.peer_qp = wanted.peer_qp;
    now.peer_ip = wanted.peer_ip;
    now.peer_mac = wanted.peer_mac;
    now.mtu = wanted.mtu;
    now.pkey = wanted.pkey;
    now.own_class = wanted.own_class;
    now.encap = wanted.encap;
    now.path = wanted.path;
  }
  if (has(RqPsn)) now.rq_psn = wanted.rq_psn;
  if (has(SqPsn)) now.sq_psn = wanted.sq_psn;
  if (has(RqPsn) || has(SqPsn)) {
    now.msn = wanted.msn;
    now.rqmsn = wanted.rqmsn;
  }
  if (has(MaxWimmDest)) now.max_wimm_dest = wanted.max_wimm_dest;
  if (has(MprDest)) now.mpr_dest = wanted.mpr_dest;
  if (has(Caps)) {
    now.dynamic_mpr = wanted.dynamic_mpr;
    now.trim_nack = wanted.trim_nack;
    now.svc_time = wanted.svc_time;
    now.time_stamps = wanted.time_stamps;
  }
  if (has(MaxWimm)) now.max_wimm = wanted.max_wimm;
  if (has(Mpr)) now.mpr = wanted.mpr;
  if (has(Timeout)) now.timeout = wanted.timeout;
  if (has(RetryCnt)) {
    now.retry_linear = wanted.retry_linear;
    now.retry_exp = wanted.retry_exp;
  }
  return now;
}

}  // namespace mrc::tb
