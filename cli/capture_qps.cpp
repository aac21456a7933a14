// SPDX-License-Identifier: Apache-2.0
#include "cli/capture_qps.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "cli/context.hpp"
#include "cli/signals.hpp"
#include "cli/wire_options.hpp"

namespace mrc::cli {

bool much_damaged(const log::CaptureCounts& counts) {
  return counts.damaged * kMuchDamaged > counts.judged + counts.damaged;
}

wire::WireConfig icrc_outer() {
  wire::WireConfig config;
  config.icrc_outer = true;
  return config;
}

CaptureQps::CaptureQps(log::ImportOptions captures, bool part) {
  std::vector<View> at;  // of each capture
  for (const log::ImportFile& file : captures.files) {
    at.push_back(file.at);
    views_[file.at];
    if (!file.at) continue;
    for (const log::Ip& ip : captures.devices[*file.at].addresses) own_[ip] = *file.at;
  }
  const bool elsewhere = std::ranges::any_of(
      captures.devices, [&](const log::ImportDevice& device) { return !own_.contains(device.addresses[0]); });
  if (elsewhere) views_[{}];
  captures.packet = [&](const wire::Packet& packet, const wire::WireConfig& wire, const log::Frame& frame) {
    const View view = at[frame.capture];
    wrong_icrcs_ += packet.outer_ipv6 && packet.icrc && !packet.icrc->ok;
    const log::CapturedAt place{frame.capture, frame.number};
    views_[view].packet(packet, wire, place);
    if (view && elsewhere) views_[{}].packet(packet, wire, place);
  };
  captures.again = [&](const wire::Packet& packet, const log::Frame& frame) {
    views_[at[frame.capture]].again(packet);
    if (at[frame.capture] && elsewhere) views_[{}].again(packet);
  };
  captures.unread = [&](const wire::Packet& packet, const log::Frame& frame) {
    views_[at[frame.capture]].unread(packet);
    if (at[frame.capture] && elsewhere) views_[{}].unread(packet);
  };
  captures.captured = nullptr;
  captures.frames = false;
  const auto read = log::import_captures(captures, [&](const log::Record& record) {
    if (!std::holds_alternative<log::Gap>(record.body)) return;
    for (auto& [view, conversations] : views_) conversations.lost();
  });
  if (!read && !g_stop && !part) refuse(read.error());
  if (read) {
    counts_ = read->counts;
    counts_.damaged += wrong_icrcs_;  // at the ports of who sent them they are judged
  }
  for (auto& [view, conversations] : views_) conversations.end();
}

CaptureQps CaptureQps::as_they_read(log::ImportOptions& captures) {
  CaptureQps told(captures);
  if (captures.wire || g_stop || !much_damaged(told.counts_)) return told;
  log::ImportOptions outer = captures;
  outer.wire = icrc_outer();
  CaptureQps other(outer);
  if (g_stop || much_damaged(other.counts_)) return told;
  captures.wire = outer.wire;
  return other;
}

std::vector<log::Qp> CaptureQps::of(const log::ImportDevice& device) const {
  const auto own = own_.find(device.addresses[0]);
  const auto view = views_.find(own == own_.end() ? View{} : View{own->second});
  return view == views_.end() ? std::vector<log::Qp>{} : view->second.qps(device.addresses);
}

/// As its sender's ports show it, else its receiver's, else what was seen under way.
std::vector<log::FactsOfWay> CaptureQps::facts() const {
  std::vector<log::FactsOfWay> all;
  for (const auto& [view, conversations] : views_) {
    for (log::FactsOfWay& way : conversations.facts()) {
      auto own = own_.find(way.from);
      if (own == own_.end()) own = own_.find(way.to);
      if (view == (own == own_.end() ? View{} : View{own->second})) all.push_back(std::move(way));
    }
  }
  std::ranges::sort(all, log::FactsOfWay::before);
  return all;
}

std::map<std::string, uint64_t> CaptureQps::untold() const {
  std::map<std::string, uint64_t> all;
  for (const auto& [view, conversations] : views_) {
    for (const auto& [reason, flows] : conversations.untold()) all[reason] += flows;
  }
  return all;
}

}  // namespace mrc::cli
