// SPDX-License-Identifier: Apache-2.0
#include "tb/device/device.hpp"

#include <algorithm>

namespace mrc::tb {

QpConfig first_config(uint32_t qp, const DeviceInfo& info) {
  QpConfig config;
  config.qp = qp;
  config.mpr = config.mpr_dest = std::max(1u, std::min(config.mpr, info.mpr));
  config.max_wimm = config.max_wimm_dest = std::min(config.max_wimm, info.max_wimm);
  return config;
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
  if (has(CcProfile)) now.controlled = wanted.controlled;
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
