// SPDX-License-Identifier: Apache-2.0
#include "cli/capture_qps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "cli/context.hpp"
#include "cli/signals.hpp"
#include "cli/wire_options.hpp"
#include "log/packet.hpp"

namespace mrc::cli {

namespace {

constexpr uint64_t kLeastTrimmed = 4;      ///< packets that tell their code point
constexpr std::size_t kMostCut = 1 << 12;  ///< packets that are remembered

}  // namespace

bool much_damaged(const log::CaptureCounts& counts) {
  return counts.damaged * kMuchDamaged > counts.judged + counts.damaged;
}

wire::WireConfig icrc_outer() {
  wire::WireConfig config;
  config.icrc_outer = true;
  return config;
}

CaptureQps::CaptureQps(const log::ImportOptions& captures, bool part) : CaptureQps(captures, part, {}) {
  std::map<View, log::Lives> lives;
  bool some = false;
  for (const auto& [view, conversations] : views_) some |= !(lives[view] = conversations.lives()).empty();
  if (some && !part && !g_stop) views_ = std::move(CaptureQps(captures, false, lives).views_);
}

CaptureQps::CaptureQps(log::ImportOptions captures, bool part, const std::map<View, log::Lives>& lives) {
  const auto open = [&](const View& view) {
    const auto known = lives.find(view);
    views_.try_emplace(view, known == lives.end() ? log::Lives{} : known->second);
  };
  std::vector<View> at;  // of each capture
  for (const log::ImportFile& file : captures.files) {
    at.push_back(file.at);
    open(file.at);
    if (!file.at) continue;
    for (const log::Ip& ip : captures.devices[*file.at].addresses) own_[ip] = *file.at;
  }
  const bool elsewhere = std::ranges::any_of(
      captures.devices, [&](const log::ImportDevice& device) { return !own_.contains(device.addresses[0]); });
  if (elsewhere) open({});
  captures.packet = [&](const wire::Packet& packet, const wire::WireConfig& wire, const log::Frame& frame) {
    const View view = at[frame.capture];
    wrong_icrcs_ += packet.outer_ipv6 && packet.icrc && !packet.icrc->ok;
    count(packet);
    reported_ |= !captures.wire && wire != wire::WireConfig{};
    const log::CapturedAt place{frame.capture, frame.number, frame.plane, frame.last};
    views_.at(view).packet(packet, wire, place);
    if (view && elsewhere) views_.at({}).packet(packet, wire, place);
  };
  captures.again = [&](const wire::Packet& packet, const log::Frame& frame) {
    views_.at(at[frame.capture]).again(packet, frame.last);
    if (at[frame.capture] && elsewhere) views_.at({}).again(packet, frame.last);
  };
  captures.damaged = [&](const wire::Packet& packet, const log::Frame&) {
    if (packet.error) wrong(packet);
  };
  captures.unread = [&](const wire::Packet& packet, const wire::WireConfig& wire, const log::Frame& frame) {
    if (packet.error && packet.error->code == wire::ErrorCode::BadLength) wrong(packet);
    const log::CapturedAt place{frame.capture, frame.number, frame.plane, frame.last};
    const bool before_bth = (frame.flags & log::kCut) != 0 && wire::bytes_to_bth(packet) > frame.bytes.size();
    const auto report = [&](log::Conversations& to) { before_bth ? to.cut(packet) : to.unread(packet, wire, place); };
    report(views_.at(at[frame.capture]));
    if (at[frame.capture] && elsewhere) report(views_.at({}));
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
  CaptureQps reported(captures);
  if (captures.wire || g_stop) return reported;
  if (much_damaged(reported.counts_)) {
    log::ImportOptions outer = captures;
    outer.wire = icrc_outer();
    CaptureQps other(outer);
    if (!g_stop && !much_damaged(other.counts_)) {
      captures.wire = outer.wire;
      other.reported_ = reported.reported_;
      reported = std::move(other);
    }
  }
  if (reported.reported_) return reported;
  if (reported.ops_high_ != 0 && reported.ops_low_ == 0) {
    if (!captures.wire) captures.wire.emplace();
    captures.wire->eeth_op_high = true;  // it changes nothing of what was told
  }
  return std::move(reported).with_trims(captures);
}

void CaptureQps::remember(const wire::Packet& packet) {
  if (!packet.bth || cut_.size() >= kMostCut) return;
  cut_[{log::mapped_source(packet), log::mapped_destination(packet), packet.bth->psn}] = packet.dscp() & 63u;
}

void CaptureQps::count(const wire::Packet& packet) {
  OfCodePoint& point = points_[packet.dscp() & 63u];
  const wire::OpcodeInfo* const info = packet.bth ? wire::opcode_info(packet.bth->opcode) : nullptr;
  const bool data = info != nullptr && info->payload;
  ++(!data ? point.others : packet.trimmed() ? point.trimmed : point.data);
  if (data && packet.trimmed()) remember(packet);
  if (packet.eeth) {
    ops_low_ += packet.eeth->op != 0;
    ops_high_ += (packet.eeth->reserved1 & 3u) != 0;
  }
  if (!packet.neth) return;
  const auto of = cut_.find({log::mapped_destination(packet), log::mapped_source(packet), packet.neth->nack_psn});
  if (of == cut_.end()) return;
  OfCodePoint& cut = points_[of->second];
  cut.nacked += packet.neth->reason == static_cast<uint8_t>(wire::NackReason::Trimmed);
  cut.nacked_lasthop += packet.neth->reason == static_cast<uint8_t>(wire::NackReason::TrimmedLasthop);
}

void CaptureQps::wrong(const wire::Packet& packet) {
  OfCodePoint& point = points_[packet.dscp() & 63u];
  ++point.wrong;
  point.short_ones += packet.error->code == wire::ErrorCode::BadLength && packet.error->got > packet.error->want;
  remember(packet);
}

std::optional<uint8_t> CaptureQps::trim_point() const {
  // A packet that was shorter than what a switch leaves is whole, and has the code point. A NIC's own data are mostly
  // so.
  const auto cut = [](const OfCodePoint& p) {
    const bool shown = p.short_ones == p.wrong || (p.nacked + p.nacked_lasthop) * 2 >= p.wrong;
    return shown && p.others == 0 && p.trimmed == 0 && p.data <= p.wrong ? p.wrong : 0;
  };
  const auto most = std::ranges::max_element(points_, {}, cut);
  if (cut(*most) < kLeastTrimmed) return std::nullopt;
  return static_cast<uint8_t>(most - points_.begin());
}

CaptureQps CaptureQps::with_trims(log::ImportOptions& captures) && {
  const std::optional<uint8_t> point = g_stop ? std::nullopt : trim_point();
  if (!point) return std::move(*this);
  const wire::WireConfig before = captures.wire.value_or(wire::WireConfig{});
  const auto read = [&](uint8_t wire::DscpMap::*which) {
    log::ImportOptions trimmed = captures;
    trimmed.wire = before;
    trimmed.wire->dscp.*which = *point;
    return std::pair(CaptureQps(trimmed), *trimmed.wire);
  };
  auto [other, wire] = read(&wire::DscpMap::trimmed);
  const bool lasthop = other.points_[*point].nacked_lasthop > other.points_[*point].nacked;
  if (lasthop && !g_stop) std::tie(other, wire) = read(&wire::DscpMap::trimmed_lasthop);
  const OfCodePoint& now = other.points_[*point];
  if (g_stop || now.trimmed < kLeastTrimmed || now.data + now.others + now.wrong != 0) return std::move(*this);
  captures.wire = wire;
  other.trims_.push_back(fmt::format("{} packets with code point {} are read as trimmed{}: data, and cut or NACKed so",
                                     now.trimmed, *point, lasthop ? " at the last hop" : ""));
  return std::move(other);
}

std::vector<log::QpChange> CaptureQps::of(const log::ImportDevice& device) const {
  const auto own = own_.find(device.addresses[0]);
  const auto view = views_.find(own == own_.end() ? View{} : View{own->second});
  return view == views_.end() ? std::vector<log::QpChange>{} : view->second.qps(device.addresses);
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

std::map<std::string, uint64_t> CaptureQps::unreported() const {
  std::map<std::string, uint64_t> all;
  for (const auto& [view, conversations] : views_) {
    for (const auto& [reason, flows] : conversations.unreported()) all[reason] += flows;
  }
  return all;
}

}  // namespace mrc::cli
