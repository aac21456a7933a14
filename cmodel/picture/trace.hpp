// SPDX-License-Identifier: Apache-2.0
/// A story as a trace of Perfetto: track events, to be opened in ui.perfetto.dev (which keeps the file in the browser).
#pragma once

#include <iosfwd>
#include <string>

#include "picture/story.hpp"

namespace mrc::picture {

/// Times become whole nanoseconds; a slice is a nanosecond long at least.
///
/// A group of tracks per device: what each port sends and receives, a slice per packet; each QP's work requests, a
/// slice from posting to completion; what each block holds; states of entropy values and ports as instants; counters
/// for packets and bytes in flight, windows, and streams between blocks. A flow leads from a data packet over its
/// retransmissions, arrivals, NACKs to the SACK that acknowledges it, and another one from a work request over its
/// first and last packet to its completion.
void write_trace(const Story& story, std::ostream& out);

}  // namespace mrc::picture
