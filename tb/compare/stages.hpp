// SPDX-License-Identifier: Apache-2.0
/// The way of packets through the blocks of the device, out of the handshakes at its streams; and the same as text
/// for Konata, a viewer of pipelines: a packet is an instruction, a block a stage.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tb/compare/events.hpp"

namespace mrc::tb {

/// A packet is in a block: it was handed to it in cycle `from`, and handed on in cycle `until`.
struct Stage {
  std::string block;  ///< "tx_path", "tx_lane[1]"
  uint64_t from = 0, until = 0;
  bool open = false;  ///< it had not been handed on when the window ended; until is the window's last cycle
};

struct StagedPacket {
  enum class Way : uint8_t { Sends, Answers, Receives };
  Way way = Way::Sends;
  int qp = -1;  ///< index, -1: none
  uint32_t psn = 0, dqp = 0;
  uint8_t opcode = 0;
  bool again = false;
  std::string name;  ///< "WRITE Only PSN 0x12 again"
  std::vector<Stage> stages;
  bool dropped = false;  ///< rx_check took nothing of it
  bool whole = false;    ///< it came to the end of its way: its frame went out, or what it brings is with who asked
};

/// A frame at a port of the device: it says when a lane begins with a packet, and is done with it.
struct PortFrame {
  bool sent = false;
  unsigned plane = 0;
  uint8_t opcode = 0;
  uint32_t dqp = 0, psn = 0;
  uint64_t begin_ps = 0, end_ps = 0;  ///< first byte, behind the last one
};
/// Nothing: no packet of MRC.
std::optional<PortFrame> port_frame(bool sent, unsigned plane, const std::vector<uint8_t>& bytes, uint64_t begin_ps,
                                    uint64_t end_ps);

/// Packets in the order in which their first stages begin. Events in order; `own`: the QP here for each QP of the peer;
/// `frames`: in the order of time; `clock_ps`: of a cycle.
///
/// What is seen: of a data packet tx_segment (when it is sent again), tx_path, tx_header, its lane; of an answer
/// ack_gen, tx_header, its lane; of a packet that comes its lane, rx_check, and rx_track or tx_inflight. How long a
/// packet is in tx_inflight, in rx_reorder or at the host's ports does not show at the streams, and has no stage.
std::vector<StagedPacket> staged_packets(std::span<const Event> events, std::span<const int> own,
                                         std::span<const PortFrame> frames, uint64_t clock_ps);

/// Text of the format "Kanata 0004": one cycle of the file is one of the run, the first one that of the first stage.
std::string kanata_text(std::span<const StagedPacket> packets);

}  // namespace mrc::tb
