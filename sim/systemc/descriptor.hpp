// SPDX-License-Identifier: Apache-2.0
/// What a host and its NIC write to each other: packed records of 32 bytes, little end first.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/engine/endpoint.hpp"

namespace mrc::systemc {

/// Address of the NIC's host socket where a work request is written, and of the host's where events are.
inline constexpr uint64_t kPostAddress = 0, kEventAddress = 0;
inline constexpr unsigned kRecordBytes = 32;
using Record = std::array<uint8_t, kRecordBytes>;

/// id 8, bytes 8, qpn 4, imm 4, flags 4 (bit 0: immediate), 0.
Record pack(const sim::WorkRequest& request);
sim::WorkRequest unpack_request(std::span<const uint8_t, kRecordBytes> record);

enum class EventKind : uint32_t { Completed, Failed, Delivered };
/// id (or MSN) 8, bytes 8, node 4, qpn 4, kind 4, 0.
struct HostEvent {
  EventKind kind = EventKind::Completed;
  uint64_t id = 0;  ///< of the work request; Delivered: MSN
  uint64_t bytes = 0;
  sim::NodeId node = 0;
  uint32_t qpn = 0;
};
Record pack(const HostEvent& event);
HostEvent unpack_event(std::span<const uint8_t, kRecordBytes> record);

}  // namespace mrc::systemc
