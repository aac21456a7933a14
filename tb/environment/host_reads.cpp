// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/host_reads.hpp"

#include <fmt/format.h>

#include "gen/headers.hpp"
#include "wire/bytes.hpp"

namespace mrc::tb {

std::string HostReads::sent(Frame& frame, const FrameInfo& info) {
  bool spoiled = false;
  if (info.data()) {
    const size_t bytes = payload_of(frame.bytes, info);
    std::deque<Line>& given = lines_[frame.plane];
    for (size_t n = (bytes + preset_.host_bytes - 1) / preset_.host_bytes; n > 0; --n) {
      if (given.empty())
        return fmt::format("a frame to QP {:#x} has {} bytes of payload, more than the host gave", info.dqp, bytes);
      const Line line = given.front();
      given.pop_front();
      if (line.qp >= peers_.size() || peers_[line.qp] != info.dqp)
        return fmt::format("a line of a frame to QP {:#x} was asked for in the name of QP {}", info.dqp, line.qp);
      spoiled = spoiled || line.error;
    }
  }
  if (spoiled) {
    ++spoiled_;
    frame.fate |= kFateSpoiled;
  }
  if (!icrc_ || !info.mrc) return {};
  const uint32_t right = right_icrc(frame.bytes, info.inner, icrc_outer_);
  const uint32_t want = spoiled ? ~right : right;
  const uint32_t got = wire::load_le32(&frame.bytes[frame.bytes.size() - wire::kIcrcBytes]);
  if (got == want) return {};
  return fmt::format("the ICRC of a frame to QP {:#x} is {:#010x} instead of {:#010x}{}", info.dqp, got, want,
                     spoiled ? ": a line of it could not be read" : "");
}

}  // namespace mrc::tb
