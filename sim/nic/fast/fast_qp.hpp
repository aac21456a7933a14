// SPDX-License-Identifier: Apache-2.0
/// What the fast endpoint keeps of a QP and of a destination.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "protocol/blame.hpp"
#include "protocol/flight.hpp"
#include "protocol/nscc.hpp"
#include "protocol/resend.hpp"
#include "protocol/rx_share.hpp"
#include "protocol/rx_tracker.hpp"
#include "protocol/segment.hpp"
#include "protocol/step_timer.hpp"
#include "protocol/tx_window.hpp"
#include "sim/engine/endpoint.hpp"
#include "sim/engine/ring.hpp"
#include "sim/nic/fast/fast_ev_set.hpp"

namespace mrc::sim {

/// A packet that has been sent.
struct Record {
  uint16_t msn, ev_idx;  ///< message; EV of its newest transmission
  uint16_t size : 15;    ///< nominal
  uint16_t rtx : 1;      ///< it was sent again
  uint16_t sent;         ///< time stamp of its newest transmission
};

/// 64 PSNs in flight. Exists from the first one's transmission until all are acknowledged.
struct Block {
  WinRow row;
  RowAges ages;
  Block* next = nullptr;
  std::array<Record, 64> record;
};

/// A work request that is not complete.
struct Request {
  uint64_t id = 0;
  WriteRequest message;
  uint32_t first = 0;  ///< PSN of its first packet, once that has been sent
};

struct FastQp {
  uint32_t index = 0, qpn = 0, peer_qpn = 0, dest = 0;
  NodeId peer = 0;
  uint32_t mtu = 4096;
  uint8_t mtu_code = 4;
  bool ts = true, cc = true, failed = false;
  uint8_t dscp_data = 0, dscp_rtx = 0;  ///< its class
  Encap encap = Encap::Srv6;
  Stack stack = Stack::Srv6;
  uint16_t full = 0;                        ///< nominal size of a full packet
  uint16_t frame_full = 0;                  ///< frame of a full packet in the middle of a message
  std::array<uint16_t, 3> frame_control{};  ///< SACK, NACK, ACK
  U128 path_template = 0;
  Srv6Rule rule{};
  EvSet ev;

  // Requestor. `nxt` is the next PSN and the end of the window.
  uint32_t nxt = 0, una = 0, hi = kPsnMask, rtx_lo = 0;
  uint32_t idx = 0;                     ///< next packet of message msn_head
  uint16_t msn_done = 0, msn_head = 0;  ///< oldest incomplete message; the one being sent
  uint16_t msn_tail = 0, rqmsn = 0;
  uint16_t immediates = 0;      ///< of those posted and not complete
  uint8_t wsent = 0, wout = 0;  ///< WRITEs with immediate that have begun, and that are complete
  bool held = false;            ///< msn_head has an immediate, and max_wimm of them are on their way
  Ring<Request> requests;       ///< from msn_done on
  std::vector<Block*> blocks;
  uint32_t first_block = 0;  ///< PSN / 64 of the oldest one held
  bool holds = false;        ///< any blocks
  bool active = false;       ///< in the run queue, at work, or waiting for its destination
  bool parked = false;       ///< with active: its destination has no window for it, or had none when it was its turn
  bool rtx = false;          ///< in the list of retransmissions, or waiting for its window
  bool rtx_refused = false;  ///< it waits for its window
  bool dup = false;
  uint8_t mpr = 8, mpr_max = 8, mpr_reported = 0, retry = 0;
  bool timer_on = false;
  uint32_t step_tick = 0;
  StepMarks marks;
  uint32_t low = 0;  ///< lowest PSN not reported when the timer last looked
  Flight fly;
  uint32_t rcvd_newest = 0;
  uint8_t rcvd_credit = 0;
  Owed owed;
  bool watched = false;              ///< has a state timer
  uint8_t state_probes = 0;          ///< questions since the newest SACK; with nic_times `queries` of tx_inflight
  Time state_due = 0;                ///< when the state timer expires; one of another time is an old one
  uint32_t heard_tick = 0;           ///< of the newest SACK or NACK
  uint32_t all_tick = 0;             ///< the window moved
  uint32_t query_tick = 0xc0000000;  ///< of the newest question; at first long ago
  uint32_t last_tick = 0;            ///< of the newest transmission
  uint32_t trip = 0;                 ///< with nic_times: round trip of late (`trip` of tx_inflight)
  bool trims = false;                ///< with nic_times: that is of a trim (`trims`)
  std::array<uint16_t, 2> queried_ev{0xffff, 0xffff};  ///< its EVs
  ProvenEvs proven;
  std::vector<uint8_t> strikes;  ///< of each EV, once one has lost something: losses since something was heard of it
  LossPlanes losses;
  LossWorld world;              ///< with loss_share
  std::vector<uint32_t> notes;  ///< those of what has been lost and is not reported yet

  // Responder.
  uint32_t cack = kPsnMask, max = kPsnMask, lowun = 0, ooo = 0;
  uint32_t rcvd = 0;
  SackDue due;
  uint32_t messages = 0;  ///< complete
  uint32_t ack_psn = 0;
  bool ack_valid = false;
  uint32_t reported_tick = 0;   ///< of the newest SACK or ACK
  uint16_t reported_stamp = 0;  ///< time stamp of what the newest SACK answered
  uint8_t refused = 0;          ///< syndrome of the NAK that every packet gets; 0: none
  uint32_t refused_psn = 0;
  uint8_t mpr_now = 8, mpr_dest = 8;
  uint32_t row_mask = 0;
  std::unique_ptr<RxRow[]> rows;
  Ring<uint32_t> lengths;  ///< of messages, from the oldest incomplete one on
  ShareQp share;
  uint8_t share_armed = 0;  ///< generation in which the sender was told to save its window

  /// What sending, and an answer to it, look at first.
  void fetch() const {
    ev.fetch();
    if (!requests.empty()) __builtin_prefetch(&requests.front());
    if (!holds) return;
    __builtin_prefetch(&blocks[una >> 6 & (blocks.size() - 1)]);
    __builtin_prefetch(&blocks[nxt >> 6 & (blocks.size() - 1)]);
  }
};

/// A peer NIC.
struct FastDest {
  NodeId peer = 0;
  uint32_t newest_qp = 0;  ///< lends its headers to packets that belong to none
  bool cc = false;
  uint8_t mtu_code = 4;
  NsccState state;
  const NsccWords* words = nullptr;
  const NsccParams* nscc = nullptr;  ///< none: the endpoint's settings
  Ring<uint32_t> waiting;            ///< QPs whose window was full
  Ring<uint32_t> rtx_waiting;        ///< the same, for retransmissions
  bool wants = false;
  bool rtx_timer = false;  ///< retransmissions that were refused will ask again, at a time that is set
  uint32_t want = 0, rtx_want = 0;
  uint32_t longest = 0;    ///< round trip of late (protocol/overdue.hpp)
  uint32_t trim_tick = 0;  ///< of the newest NACK of a trimmed packet
  bool last_hop = false;   ///< that was trimmed at the last hop
  bool trims = false;      ///< there was one
  // Planes under suspicion.
  unsigned suspected = 0;
  uint8_t suspect_queried = 0;
  std::array<PlaneLosses, 8> plane_losses;
  LossPlanes losses;
  unsigned peer_mask = ~0u;
  // Port status updates.
  bool due = false, sent = false;
  uint8_t seq = 0, tries = 0, queries = 0;
  Time when = 0;
  // Reverse paths, per plane: EV known to work and the epoch it was heard in.
  struct Reverse {
    uint32_t ev = 0, heard = 0, wanted = 0;
    bool valid = false;
  };
  std::array<Reverse, 8> reverse;
};

}  // namespace mrc::sim
