// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/stream_tap.hpp"

#include <utility>

#include "gen/streams.hpp"
#include "tb/compare/events.hpp"

namespace mrc::tb {

StreamTap::StreamTap(const Preset& preset, Sink sink) : sink_(std::move(sink)) {
  for (unsigned i = 0; i < num_streams(preset.num_planes); ++i) {
    const StreamRef ref = stream_at(i);
    const unsigned place = ref.info->word_offset;
    const bool lane = ref.plane >= 0;
    streams_.push_back({"stream " + ref.name() + ">" + consumer_of(*ref.info),
                        lane ? place + static_cast<unsigned>(ref.plane) * kObsLaneWords : place, lane});
  }
}

void StreamTap::look(const uint32_t* core, const uint32_t* lanes, uint64_t now_ps) {
  if (cycles_ % kEvery == 0) report(now_ps);
  ++cycles_;
  for (Stream& s : streams_) {
    const uint32_t flags = (s.lane ? lanes : core)[s.offset] & 3;
    s.moved += flags == 3;
    s.blocked += flags == 1;
  }
}

void StreamTap::finish(uint64_t now_ps) {
  if (reported_ != cycles_ && cycles_ != 0) report(now_ps);
}

void StreamTap::report(uint64_t now_ps) {
  reported_ = cycles_;
  for (const Stream& s : streams_) {
    sink_(s.name + " moved", s.moved, now_ps);
    sink_(s.name + " blocked", s.blocked, now_ps);
    sink_(s.name + " cycles", cycles_, now_ps);
  }
}

}  // namespace mrc::tb
