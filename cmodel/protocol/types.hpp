// SPDX-License-Identifier: Apache-2.0
/// What MRC's packets say, in the protocol's words and beside any header layout: what the rules take and give. Whoever
/// keeps it in other forms (the streams of a NIC, the packets of a simulated fabric) converts at its own door.
#pragma once

#include <array>
#include <cstdint>

#include "gen/headers.hpp"
#include "gen/protocol.hpp"
#include "wire/packed.hpp"

namespace mrc {

/// Bytes of the largest extension header set behind a BTH: that of a SACK.
inline constexpr unsigned kMaxExtension = wire::Seth::kBytes + wire::CcState::kBytes;

/// A SACK (SETH and CC_STATE).
struct Sack {
  uint32_t cack_psn = 0;      ///< every PSN up to here has arrived
  uint32_t psn = 0;           ///< ack_psn, the packet it answers; with pr the id of the probe
  uint32_t base = 0;          ///< PSN of bit 0 of the bitmap
  uint64_t bitmap = 0;        ///< PSNs that have arrived
  uint32_t entropy = 0;       ///< EV that the packet came with
  uint32_t rcvd_bytes = 0;    ///< received in all, in units of 256 bytes, 24 bits
  uint16_t ooo_count = 0;     ///< PSNs above cack_psn that have arrived, 15 bits
  uint16_t tx_timestamp = 0;  ///< time stamp of the packet
  uint8_t m = 0;              ///< wire::Mark
  uint8_t mpr = 0;            ///< window in units of 128 PSNs; 0: not said
  uint8_t rcv_cwnd_pen = 0;   ///< 7 bits
  bool restore_cwnd = false;
  bool pr = false;  ///< it answers a reliability probe
  bool operator==(const Sack&) const = default;
};

/// A NACK (NETH).
struct Nack {
  uint32_t psn = 0;
  uint32_t entropy = 0;
  uint16_t tx_timestamp = 0;
  wire::NackReason reason{};
  bool operator==(const Nack&) const = default;
};

/// A semantic ACK or NAK (BTH and AETH): the messages before msn are complete.
struct Ack {
  uint32_t psn = 0;  ///< last packet of the newest of them; of a NAK: the refused one
  uint16_t msn = 0;
  uint8_t syndrome = 0;  ///< wire::AethSyndrome, or a code that a register sets
  bool operator==(const Ack&) const = default;
};

/// A reliability probe (PETH).
struct Probe {
  uint16_t id = 0;
  uint16_t tx_timestamp = 0;
  bool operator==(const Probe&) const = default;
};

/// An endpoint request (ERTH) or response (EETH).
struct EndpointPacket {
  bool response = false;
  uint8_t op = 0;             ///< wire::ErthOp
  uint16_t id = 0;            ///< in the PSN of its BTH
  uint32_t mask = 0;          ///< request: port_status_mask as on the wire
  uint16_t tx_timestamp = 0;  ///< response: that of the request
  U128 source = 0;            ///< request: address of the requestor
  bool operator==(const EndpointPacket&) const = default;
};

/// A packet that is all header: BTH fields and extension headers as they travel.
struct ControlPacket {
  uint8_t opcode = 0;
  uint32_t psn = 0;
  uint8_t ext_len = 0;  ///< bytes of ext in use, the others are 0
  std::array<uint8_t, kMaxExtension> ext{};
  bool operator==(const ControlPacket&) const = default;
};

/// A message to be written: a work request.
struct WriteRequest {
  uint64_t laddr = 0;  ///< where its bytes are
  uint64_t raddr = 0;  ///< virtual address at the peer, under rkey
  uint32_t rkey = 0;
  uint32_t length = 0;  ///< bytes
  bool imm_valid = false;
  uint32_t imm = 0;
  uint16_t rqmsn = 0;  ///< with imm_valid
  bool operator==(const WriteRequest&) const = default;
};

/// What a packet of a WRITE carries that follows from its message alone.
struct WritePart {
  uint8_t opcode = 0;
  uint64_t va = 0;     ///< where its payload goes
  uint64_t laddr = 0;  ///< where its payload is
  uint32_t rkey = 0;
  uint32_t dma_length = 0;  ///< bytes of the message
  uint32_t imm = 0;
  uint16_t rqmsn = 0;
  uint16_t plen = 0;  ///< bytes of payload, 0 (a message of no bytes) to 4096
  bool last = false;  ///< the last of its message
  bool operator==(const WritePart&) const = default;
};

/// A WRITE packet to be sent.
struct WritePacket {
  WritePart part;
  uint32_t psn = 0;
  uint16_t msn = 0;
  bool ackreq = false;
  bool rtx = false;
};

/// A received frame as its headers describe it (rx_parse.hpp). Fields up to `at` are meaningful whatever err says.
struct RxPacket {
  RxErr err = RxErr::None;
  Trim trim = Trim::None;
  bool ce = false;
  bool icrc_ok = false;
  uint8_t opcode = 0;
  uint8_t pad = 0;
  bool ackreq = false, rtx = false;
  bool ts = false;  ///< TSETH present
  uint16_t pkey = 0;
  uint32_t dqp = 0;
  uint32_t psn = 0;
  uint32_t entropy = 0;
  uint16_t plen = 0;                         ///< bytes of payload of a WRITE in order
  uint16_t at = 0;                           ///< tick of its last byte, modulo 2^16
  std::array<uint8_t, kMaxExtension> ext{};  ///< what follows the BTH, zero beyond the frame
  U128 address = 0;                          ///< inner source; of one that came back (Trim::Returned) its receiver
  bool operator==(const RxPacket&) const = default;
};

/// A packet of our own that a switch has trimmed and sent back.
struct ReturnedPacket {
  uint32_t psn = 0;
  bool rtx = false;
  uint32_t entropy = 0;
  bool operator==(const ReturnedPacket&) const = default;
};

/// A received WRITE that may be taken (rx_check.hpp).
struct RxWrite {
  uint32_t psn = 0;
  uint16_t msn = 0, rqmsn = 0;
  uint16_t tx_timestamp = 0;  ///< 0 without TSETH
  bool last = false;          ///< the last packet of its message
  // Of a packet with payload.
  bool imm_valid = false;
  uint32_t imm = 0;
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint32_t dma_length = 0;
  uint16_t plen = 0;
  uint16_t size = 0;  ///< nominal
  bool operator==(const RxWrite&) const = default;
};

/// A region of memory that WRITEs may reach.
struct MemoryRegion {
  bool valid = false;
  uint32_t rkey = 0;
  uint64_t va = 0;
  uint64_t length = 0;
  uint64_t addr = 0;  ///< host address of va
};

}  // namespace mrc
