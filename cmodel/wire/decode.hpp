// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "wire/packet.hpp"

namespace mrc::wire {

/// Takes a frame (Ethernet header first, no FCS) apart. Never fails: what is wrong is in
/// `Packet::error`, headers before it are filled in. Without error, or with BadIcrc,
/// `encode(decode(frame)) == frame`.
///
/// Trimmed packets, told by the code point of the outermost IP header, may end anywhere behind that
/// header; length fields may be larger than what is left, since switches rewrite the outermost
/// one at most; they have neither padding nor ICRC: all that follows the headers is payload.
/// The ICRC starts at the inner IP header, or as `config` says at the outer one.
/// `check_icrc` false: it counts as right, of a frame whose bytes are not all there.
Packet decode(std::span<const uint8_t> frame, const WireConfig& config = {}, bool check_icrc = true);
/// The same into a packet whose memory is used again; what was in it is gone.
void decode_into(Packet& packet, std::span<const uint8_t> frame, const WireConfig& config = {}, bool check_icrc = true);
/// The same of a frame of `size` bytes that was cut: those behind `frame` count as zeros, and the ICRC as right.
void decode_cut(Packet& packet, std::span<const uint8_t> frame, size_t size, const WireConfig& config = {});

}  // namespace mrc::wire
