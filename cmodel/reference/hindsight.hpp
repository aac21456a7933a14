// SPDX-License-Identifier: Apache-2.0
/// What later packets of a capture show of earlier ones, for QPs of which frames alone tell (log::kInferred). No time
/// and no completeness is taken for granted: what is held against a packet is a frame that the capture has.
///
/// - An answer that names a PSN above all that were sent is wrong once that PSN is sent as new (resp.cack-arrived,
///   resp.bitmap, resp.trigger, resp.nack; resp.ack-msn of messages). A capture that ends before, or that misses the
///   frame, shows nothing.
/// - cack_psn, and for the same cack_psn ooo_count, order SACKs as they were built, whatever ports they took;
///   rcvd_bytes does not go back in that order (resp.bytes).
/// - ooo_count is not above the PSNs seen (resp.ooo-most), where all that came is seen.
/// - Packets that asked, and that a semantic ACK says have arrived, or many bytes of these, without one SACK
///   (resp.sack-ask, resp.sack-bytes).
/// - A PSN beyond the largest window of every SACK before it and of some behind it (req.window).
/// - An EV on two ports, while others keep to theirs (path.plane).
#pragma once

#include <memory>

#include "reference/checker.hpp"

namespace mrc::ref {

std::unique_ptr<Checker> make_hindsight(const Profile& profile, Report& report);

}  // namespace mrc::ref
