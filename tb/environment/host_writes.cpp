// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/host_writes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/qpn.hpp"
#include "tb/environment/frame.hpp"

namespace mrc::tb {
namespace {

/// "host write of 32 bytes at 0x1040 (plane 1, QP 3, last 0)".
std::string line_text(const mrc_pins_out& o) {
  return fmt::format("host write of {} bytes at {:#x} (plane {}, QP {}, last {})", o.host_wr_len, o.host_wr_addr,
                     o.host_wr_plane, o.host_wr_qp, o.host_wr_last);
}

}  // namespace

void HostWrites::came(unsigned plane, const std::vector<uint8_t>& frame) {
  const FrameInfo info = look_at(frame);
  if (!info.data()) return;
  const size_t bytes = payload_of(frame, info);
  if (bytes == 0 || bytes > kMostBytes) return;
  planes_[plane].waiting.push_back({qpn_row(info.dqp, preset_.num_qps), static_cast<uint16_t>(bytes)});
}

std::string HostWrites::wrong(const mrc_pins_out& o) const {
  const auto about = [&](const std::string& what) { return line_text(o) + " " + what; };
  if (o.host_wr_plane >= preset_.num_planes)
    return about(fmt::format("names a plane that is not there: the last one is {}", preset_.num_planes - 1));
  if (o.host_wr_qp >= preset_.num_qps)
    return about(fmt::format("names a QP that is not there: the last one is {}", preset_.num_qps - 1));
  const Plane& p = planes_[o.host_wr_plane];
  if (p.lines != 0 && o.host_wr_qp != p.qp)
    return about(fmt::format("is inside a packet of QP {}: the line before it on this plane had no last", p.qp));
  if (p.lines != 0 && o.host_wr_addr != p.next)
    return about(
        fmt::format("is inside a packet that goes on at {:#x}: the line before it on this plane had no last", p.next));
  if (!o.host_wr_last && o.host_wr_len != preset_.host_bytes)
    return about(fmt::format("is not full: without last it must have {} bytes", preset_.host_bytes));
  return about(fmt::format("is line {} of its packet: a packet has at most {}, and the last one must say so",
                           p.lines + 1, most_lines()));
}

/// The packet is whole: it must be one of those that came, in their order. Those before it were discarded.
std::string HostWrites::ends(const mrc_pins_out& o) {
  Plane& p = planes_[o.host_wr_plane];
  const auto found =
      std::ranges::find_if(p.waiting, [&](const Packet& came) { return came.qp == p.qp && came.bytes == p.bytes; });
  if (found != p.waiting.end()) {
    p.waiting.erase(p.waiting.begin(), found + 1);
    p.lines = p.bytes = 0;
    return {};
  }
  std::string came;
  constexpr size_t kReported = 3;
  for (size_t i = 0; i < std::min(p.waiting.size(), kReported); ++i)
    came += fmt::format("{}QP {} with {} bytes", i == 0 ? "" : ", ", p.waiting[i].qp, p.waiting[i].bytes);
  if (p.waiting.size() > kReported) came += fmt::format(", and {} more", p.waiting.size() - kReported);
  return fmt::format(
      "{} ends a packet of {} bytes of QP {}, which did not come there: of those that came on this plane behind the "
      "one written last, {}",
      line_text(o), p.bytes, p.qp, came.empty() ? "there is none" : "there are " + came);
}

std::string HostWrites::finish() const {
  for (unsigned i = 0; i < planes_.size(); ++i) {
    const Plane& p = planes_[i];
    if (p.lines == 0) continue;
    return fmt::format(
        "the packet of QP {} that is written on plane {} has no last line: {} bytes up to {:#x} are there", p.qp, i,
        p.bytes, p.next);
  }
  return {};
}

}  // namespace mrc::tb
