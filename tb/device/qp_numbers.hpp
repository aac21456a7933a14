// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace mrc::tb {

/// Copies the attributes of a QP that have one name everywhere: in records of a log, at the calls of a device, in C, in
/// plans, in rows of QP_CTX.
template <class To, class From>
void copy_qp_numbers(To& to, const From& from) {
  const auto copy = [](auto& target, auto value) { target = static_cast<std::decay_t<decltype(target)>>(value); };
  copy(to.sq_psn, from.sq_psn);
  copy(to.rq_psn, from.rq_psn);
  copy(to.msn, from.msn);
  copy(to.rqmsn, from.rqmsn);
  copy(to.mpr, from.mpr);
  copy(to.mpr_dest, from.mpr_dest);
  copy(to.max_wimm, from.max_wimm);
  copy(to.max_wimm_dest, from.max_wimm_dest);
  copy(to.timeout, from.timeout);
  copy(to.retry_linear, from.retry_linear);
  copy(to.retry_exp, from.retry_exp);
  copy(to.trim_nack, from.trim_nack);
  copy(to.svc_time, from.svc_time);
  copy(to.pkey, from.pkey);
}

}  // namespace mrc::tb
