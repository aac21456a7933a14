// SPDX-License-Identifier: Apache-2.0
/// Numbers of the log's file format (docs/reference/log.md), and the order of each record's fields.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "log/record.hpp"

namespace mrc::log {

inline constexpr std::array<uint8_t, 8> kMagic{'M', 'R', 'C', 'L', 'O', 'G', '\r', '\n'};
inline constexpr uint16_t kMajor = 1, kMinor = 4;
inline constexpr unsigned kPartHeader = 16;   ///< bytes: magic, major, minor, CRC-32
inline constexpr unsigned kBlockHeader = 20;  ///< bytes: type, stored, plain, records, CRC-32
inline constexpr uint32_t kRecords = 1, kEndOfPart = 2;
inline constexpr uint32_t kMaxPlain = 1u << 20;  ///< bytes of a block's records
inline constexpr uint32_t kMaxStored = kMaxPlain + kMaxPlain / 128 + 1024;
inline constexpr uint32_t kMaxText = 1u << 18;  ///< bytes of a name, a profile, a reason
inline constexpr uint32_t kMaxDevices = 1u << 16;
inline constexpr uint32_t kMaxEvs = 1u << 14;  ///< of a QP
inline constexpr unsigned kKinds = std::variant_size_v<Body>;

/// The largest value that is known of each enumeration.
template <class E>
inline constexpr uint64_t kLast = 0;
template <>
inline constexpr uint64_t kLast<QpState> = static_cast<uint64_t>(QpState::Error);
template <>
inline constexpr uint64_t kLast<HostOp> = static_cast<uint64_t>(HostOp::Visible);
template <>
inline constexpr uint64_t kLast<Status> = static_cast<uint64_t>(Status::Other);
template <>
inline constexpr uint64_t kLast<EventKind> = static_cast<uint64_t>(EventKind::Qp);

/// Hands the fields of `x` to `c` in the order of the file; reader and writer both go through here. `c(field...)`;
/// `c.near(time)`: a time near the record's; `c.bytes(data, limit)`; `c.more(there)`: whether fields follow, which the
/// writer decides by `there`.
template <class C, class T>
void fields(C& c, T& x) {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, Device>) {
    c(x.name, x.profile);
  } else if constexpr (std::is_same_v<U, Port>) {
    c(x.plane, x.up);
  } else if constexpr (std::is_same_v<U, Frame>) {
    c(x.sent, x.plane, x.flags);
    c.near(x.last);
    c(x.length);
    c.bytes(x.bytes, kMaxFrameBytes);
    const bool redacted = x.redacted != Redacted{};
    if (!c.more(x.error != 0 || x.number != 0 || x.capture != 0 || redacted)) return;
    c(x.error, x.number, x.capture);
    if (!c.more(redacted)) return;
    c(x.redacted.offset, x.redacted.bytes, x.redacted.hash);
  } else if constexpr (std::is_same_v<U, Qp>) {
    c(x.qp, x.peer_qp, x.state, x.dest, x.mtu, x.sq_psn, x.rq_psn, x.msn, x.rqmsn, x.mpr, x.mpr_dest, x.dynamic_mpr);
    c(x.max_wimm, x.max_wimm_dest, x.timeout, x.retry_linear, x.retry_exp, x.trim_nack, x.svc_time, x.time_stamps);
    c(x.controlled, x.pkey, x.encap, x.own_ip, x.peer_ip, x.evs);
    c.bytes(x.ev_planes, kMaxEvs);
    c(x.backup);
    const bool classified = x.own_class || x.dscp_data != 0 || x.dscp_rtx != 0;
    const bool inferred = x.flags != 0;
    if (!c.more(!x.denied.empty() || x.window != 0 || classified || inferred)) return;
    c(x.denied, x.window);
    if (!c.more(classified || inferred)) return;
    c(x.own_class, x.dscp_data, x.dscp_rtx);
    if (!c.more(inferred)) return;
    c(x.flags);
  } else if constexpr (std::is_same_v<U, Mr>) {
    c(x.rkey, x.valid, x.write, x.va, x.bytes, x.addr);
  } else if constexpr (std::is_same_v<U, Host>) {
    c(x.op, x.addr, x.bytes, x.tag, x.status);
    c.bytes(x.data, kMaxHostBytes);
    if (!c.more(x.hash != 0)) return;
    c(x.hash);
  } else if constexpr (std::is_same_v<U, Post>) {
    c(x.qp, x.wr_id, x.addr, x.remote, x.bytes, x.rkey, x.immediate, x.imm);
  } else if constexpr (std::is_same_v<U, PostReceive>) {
    c(x.qp, x.count);
  } else if constexpr (std::is_same_v<U, Cqe>) {
    c(x.qp, x.receive, x.status, x.wr_id, x.imm, x.msn, x.rqmsn, x.bytes);
  } else if constexpr (std::is_same_v<U, Event>) {
    c(x.kind, x.qp);
    for (auto& arg : x.arg) c(arg);
  } else if constexpr (std::is_same_v<U, Until>) {
    c(x.source);
  } else if constexpr (std::is_same_v<U, Gap>) {
    c(x.source, x.lost);
    c.near(x.from);
    c(x.reason);
  } else if constexpr (std::is_same_v<U, Counter>) {
    c(x.name, x.value);
  } else if constexpr (std::is_same_v<U, Note>) {
    c(x.text);
  } else {
    static_assert(std::is_same_v<U, End>);
    c(x.cut, x.reason);
  }
}

}  // namespace mrc::log
