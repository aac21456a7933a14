// SPDX-License-Identifier: Apache-2.0
/// Streams between blocks: how busy, how blocked, and which block limits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "picture/chart.hpp"
#include "picture/pictures.hpp"

namespace mrc::picture {
namespace {

using Mark = LegendEntry::Mark;

std::string giver_of(const std::string& stream) { return stream.substr(0, stream.find('.')); }

struct Sum {
  double moved = 0, blocked = 0, time = 0;
};

/// Of each stream, its shares in a stretch of time.
std::map<std::pair<std::string, std::string>, Sum> sums(const Story& story, uint32_t device, Time from, Time until) {
  std::map<std::pair<std::string, std::string>, Sum> all;
  for (const StreamUse& use : story.streams) {
    if (use.device != device || use.until <= from || use.from >= until) continue;
    const auto length = static_cast<double>(use.until - use.from);
    Sum& sum = all[{use.name, use.taker}];
    sum.moved += use.moved * length;
    sum.blocked += use.blocked * length;
    sum.time += length;
  }
  for (auto& [name, sum] : all) {
    sum.moved /= sum.time;
    sum.blocked /= sum.time;
  }
  return all;
}

/// How busy the ports of a device are with sending, in the stretches of time of its streams' readings.
struct Busy {
  std::map<Time, std::size_t> edges;  // begin of each stretch, and its place
  std::map<unsigned, std::vector<double>> planes;
};
Busy busy_ports(const Story& story, uint32_t device) {
  Busy busy;
  std::vector<std::pair<Time, Time>> stretches;
  for (const StreamUse& use : story.streams) {
    if (use.device == device && busy.edges.try_emplace(use.from, 0).second) stretches.emplace_back(use.from, use.until);
  }
  std::ranges::sort(stretches);
  for (std::size_t i = 0; i < stretches.size(); ++i) busy.edges[stretches[i].first] = i;
  const auto seen = story.devices.find(device);
  const double byte_ps = seen == story.devices.end() || seen->second.port_gbps <= 0 ? 0 : 8000 / seen->second.port_gbps;
  constexpr double kGap = 20;  // bytes of preamble and gap: nobody else can use them
  for (unsigned p = 0; seen != story.devices.end() && p < seen->second.planes; ++p)
    busy.planes[p].resize(stretches.size());
  for (const Packet& p : story.packets) {
    const auto plane = busy.planes.find(p.plane);
    if (p.device != device || !p.sent || plane == busy.planes.end()) continue;
    const auto end = p.last + static_cast<Time>(kGap * byte_ps);
    auto at = std::ranges::upper_bound(stretches, p.time, {}, &std::pair<Time, Time>::first);
    if (at != stretches.begin()) --at;
    for (; at != stretches.end() && at->first < end; ++at) {
      const Time from = std::max(at->first, p.time), until = std::min(at->second, end);
      if (until <= from) continue;
      double& share = plane->second[static_cast<std::size_t>(at - stretches.begin())];
      share = std::min(1.0, share + static_cast<double>(until - from) / static_cast<double>(at->second - at->first));
    }
  }
  return busy;
}

/// What a device's streams say of it, in a sentence.
std::string verdict_of(const std::optional<Limiting>& limiting) {
  if (!limiting) return "Nothing limits: no stream waits in more than 1 % of the cycles.";
  std::string text =
      fmt::format("The waiting ends at {}: what comes to it waits in {:.0f} % of the cycles, what it gives does not.",
                  limiting->block, 100 * limiting->blocked);
  if (limiting->ports > 0) {
    text += fmt::format(" Meanwhile the ports send in {:.0f} % of the time{}.", 100 * limiting->ports,
                        limiting->ports > 0.9 ? ": they limit then" : "");
  }
  return text;
}

}  // namespace

std::optional<Limiting> limiting_block(const Story& story, uint32_t device, Time from, Time until) {
  std::map<std::string, std::pair<Limiting, double>> blocks;  // and how much what it gives waits
  for (const auto& [name, sum] : sums(story, device, from, until)) {
    auto& taker = blocks[name.second].first;
    taker.block = name.second;
    taker.blocked = std::max(taker.blocked, sum.blocked);
    double& waits = blocks[giver_of(name.first)].second;
    waits = std::max(waits, sum.blocked);
  }
  std::optional<Limiting> worst;
  double most = 0.01;
  for (const auto& [name, block] : blocks) {
    const double holds = block.first.blocked - block.second;
    if (holds <= most) continue;
    most = holds;
    worst = block.first;
  }
  if (!worst) return worst;
  const Busy busy = busy_ports(story, device);
  double share = 0;
  unsigned count = 0;
  for (const StreamUse& use : story.streams) {
    if (use.device != device || use.taker != worst->block || use.blocked < 0.5) continue;
    if (use.until <= from || use.from >= until) continue;
    for (const auto& [plane, shares] : busy.planes) {
      const auto at = busy.edges.find(use.from);
      if (at == busy.edges.end()) continue;
      share += shares[at->second];
      ++count;
    }
  }
  if (count != 0) worst->ports = share / count;
  return worst;
}

std::optional<Picture> stream_picture(const Story& story, uint32_t device, const Choice& c) {
  const auto all = sums(story, device, c.from, c.until);
  Time first = log::kNever, last = 0;
  for (const StreamUse& use : story.streams) {
    if (use.device != device || use.until <= c.from || use.from >= c.until) continue;
    first = std::min(first, use.from);
    last = std::max(last, use.until);
  }
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [name, sum] : all) {
    if (sum.moved + sum.blocked > 0) rows.push_back(name);
  }
  if (rows.empty()) return {};
  const Time from = std::max(first, c.from), until = std::min(last, c.until);
  const auto limiting = limiting_block(story, device, from, until);
  const Busy busy = busy_ports(story, device);
  constexpr double kRow = 16, kLeft = 250, kTop = 70, kWidth = 960;
  const double height = kTop + kRow * static_cast<double>(rows.size() + busy.planes.size()) + 44;
  Drawing d(kWidth, height, "Streams between blocks of " + story.device_name(device));
  Axis x = {us(from), us(until), kLeft, kWidth - 90};
  std::map<std::pair<std::string, std::string>, double> place;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = kTop + kRow * static_cast<double>(i);
    place[rows[i]] = y;
    const bool limits = limiting && rows[i].second == limiting->block;
    d.text(kLeft - 6, y + 12, fmt::format("{} to {}", rows[i].first, rows[i].second), 1, true, limits);
    d.line(kLeft, y + kRow, x.end, y + kRow, Ink::Edge);
    const Sum& sum = all.at(rows[i]);
    d.text(x.end + 6, y + 12, fmt::format("{:.0f} % / {:.0f} %", 100 * sum.moved, 100 * sum.blocked));
  }
  for (const StreamUse& use : story.streams) {
    const auto at = place.find({use.name, use.taker});
    if (use.device != device || at == place.end() || use.until <= from || use.from >= until) continue;
    const double left = x.at(us(std::max(use.from, from)));
    const double right = x.at(us(std::min(use.until, until)));
    const double moved = std::round((kRow - 2) * use.moved * 10) / 10,
                 blocked = std::round((kRow - 2) * use.blocked * 10) / 10;
    const double floor = at->second + kRow - 1;
    if (moved > 0) d.box(left, floor - moved, right - left, moved, Ink::Answer, 0.8);
    if (blocked > 0) d.box(left, floor - moved - blocked, right - left, blocked, Ink::Lost, 0.8);
  }
  double floor = kTop + kRow * static_cast<double>(rows.size());
  for (const auto& [plane, shares] : busy.planes) {
    d.text(kLeft - 6, floor + 12, fmt::format("port {} sends", plane), 1);
    for (auto at = busy.edges.begin(); at != busy.edges.end(); ++at) {
      const auto behind = std::next(at);
      const double left = x.at(us(std::clamp(at->first, from, until)));
      const double right =
          x.at(static_cast<double>(std::clamp(behind == busy.edges.end() ? last : behind->first, from, until)) / 1e6);
      const double tall = std::round((kRow - 2) * shares[at->second] * 10) / 10;
      if (tall > 0 && right > left) d.box(left, floor + kRow - 1 - tall, right - left, tall, Ink::Plain, 0.8);
    }
    floor += kRow;
    d.line(kLeft, floor, x.end, floor, Ink::Edge);
  }
  for (const double v : x.ticks(8)) {
    d.line(x.at(v), floor, x.at(v), floor + 4, Ink::Text);
    d.text(x.at(v), floor + 16, number_text(v), 0);
  }
  d.text((x.begin + x.end) / 2, floor + 34, "time, us", 0);
  d.text(kWidth - 4, kTop - 6, "moved / waited", 1);
  if (c.mark) {
    const double at = x.at(us(*c.mark));
    if (at >= x.begin && at <= x.end) d.line(at, kTop, at, floor, Ink::Lost, true, "here something is wrong");
  }
  const std::string title = "Streams between blocks: " + story.device_name(device);
  d.text(16, 18, title, -1, false, true);
  const std::string verdict = verdict_of(limiting);
  d.text(16, 34, verdict);
  legend(d, 16, 52,
         {{Mark::Box, Ink::Answer, "share of cycles in which something moved"},
          {Mark::Box, Ink::Lost, "share in which it waited for its taker"},
          {Mark::Box, Ink::Plain, "share of the time in which a port sent"}});
  return Picture{
      "streams-" + story.device_name(device), title,
      verdict +
          " Streams to that block are bold. What it waits for need not be a stream: room in a lane, a credit, "
          "a window.",
      d.svg()};
}

std::optional<Picture> stage_picture(const Story& story, uint32_t device, const Choice& c) {
  constexpr std::size_t kMostRows = 48;
  // The newest packets of which a stay begins before the mark.
  const Time end = c.mark.value_or(c.until);
  std::map<uint32_t, std::vector<const Stay*>> packets;
  for (const Stay& s : story.stays) {
    if (s.device == device && s.from <= end) packets[s.packet].push_back(&s);
  }
  while (packets.size() > kMostRows) {
    // Those that end first.
    const auto oldest =
        std::ranges::min_element(packets, {}, [](const auto& p) { return std::pair(p.second.back()->until, p.first); });
    packets.erase(oldest);
  }
  if (packets.empty()) return {};
  std::vector<std::pair<uint32_t, std::vector<const Stay*>>> rows(packets.begin(), packets.end());
  std::ranges::stable_sort(rows, {}, [](const auto& p) { return p.second.front()->from; });
  Time last = 0;
  std::map<std::string, Ink> inks;
  std::map<std::string, double> held;
  for (const auto& [number, stays] : rows) {
    for (const Stay* s : stays) {
      last = std::max(last, std::min(s->until, end));
      const std::string block = s->block.substr(0, s->block.find('['));
      inks.try_emplace(block, plane_ink(static_cast<unsigned>(inks.size())));
    }
  }
  // Rows that have waited for long do not press the others together.
  std::vector<Time> begins;
  begins.reserve(rows.size());
  for (const auto& [number, stays] : rows) begins.push_back(stays.front()->from);
  Time first = begins[begins.size() / 10];
  first = std::max(first, last - std::min<Time>(last, 8 * (last - begins[begins.size() / 2]) + 1'000'000));
  for (const auto& [number, stays] : rows) {
    for (const Stay* s : stays) {
      const Time from = std::max(s->from, first), until = std::min(s->until, end);
      if (until > from) held[s->block] += static_cast<double>(until - from) / static_cast<double>(last - first + 1);
    }
  }
  constexpr double kRow = 14, kLeft = 320, kTop = 70, kWidth = 960;
  const double floor = kTop + kRow * static_cast<double>(rows.size());
  Drawing d(kWidth, floor + 44, "Packets in blocks of " + story.device_name(device));
  const auto at = [](Time time) { return us(time); };
  const Axis x = {at(first), at(std::max(last, first + 1)), kLeft, kWidth - 16};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = kTop + kRow * static_cast<double>(i);
    const auto& stays = rows[i].second;
    d.text(kLeft - 6, y + 11, std::string(stays.front()->way) + " " + stays.front()->text, 1);
    for (const Stay* s : stays) {
      if (s->until < first) continue;
      const double left = x.at(at(std::max(s->from, first))), right = x.at(at(std::clamp(s->until, first, last)));
      const std::string tip = fmt::format("{}: {} to {} us", s->block, us_text(s->from), us_text(s->until));
      d.box(left, y + 1, std::max(right - left, 1.0), kRow - 2, inks[s->block.substr(0, s->block.find('['))], 0.6, tip);
      if (right - left > 7.0 * static_cast<double>(s->block.size())) d.text((left + right) / 2, y + 11, s->block, 0);
    }
  }
  for (const double v : x.ticks(6)) {
    d.line(x.at(v), floor, x.at(v), floor + 4, Ink::Text);
    d.text(x.at(v), floor + 16, number_text(v), 0);
  }
  d.text((x.begin + x.end) / 2, floor + 34, "time, us", 0);
  if (c.mark) d.line(x.at(at(*c.mark)), kTop, x.at(at(*c.mark)), floor, Ink::Lost, true, "here something is wrong");
  const std::string title = "Packets in blocks: " + story.device_name(device);
  d.text(16, 18, title, -1, false, true);
  const auto fullest = std::ranges::max_element(held, {}, [](const auto& h) { return h.second; });
  const std::string below = fullest == held.end() ? std::string()
                                                  : fmt::format("Of these packets {} holds most: {:.1f} on average.",
                                                                fullest->first, fullest->second);
  d.text(16, 34, below);
  std::vector<LegendEntry> words;
  words.reserve(inks.size());
  for (const auto& [block, ink] : inks) words.push_back({Mark::Box, ink, block});
  legend(d, 16, 52, words);
  return Picture{"blocks-" + story.device_name(device), title,
                 "A row per packet, oldest first; a box is a block that has it. How long a packet is in tx_inflight, "
                 "rx_reorder or at the host's ports does not show at the boundaries. " +
                     below,
                 d.svg()};
}

std::vector<Picture> pictures(const Story& story, const Choice& c) {
  std::vector<Picture> list;
  const auto add = [&](std::optional<Picture> p) {
    if (p) list.push_back(std::move(*p));
  };
  const auto wanted = [&](uint32_t device) { return !c.device || *c.device == device; };
  // Queue pairs whose losses are told of first, then those with the most trouble, then those with the most data.
  std::vector<uint32_t> flows;
  for (uint32_t i = 0; i < story.flows.size(); ++i) {
    const Flow& f = story.flows[i];
    const uint32_t own = f.requestor == kNone ? f.responder : f.requestor;
    if (f.packets.empty() || !wanted(own)) continue;
    if (c.side) {
      const bool requestor = f.requestor == *c.side && f.qp == c.qp;
      if (!requestor && !(f.responder == *c.side && f.peer_qp == c.qp)) continue;
    } else if (c.qp && (f.requestor == kNone ? f.peer_qp : f.qp) != *c.qp) {
      continue;
    }
    flows.push_back(i);
  }
  std::ranges::stable_sort(flows, [&](uint32_t a, uint32_t b) {
    const Flow &x = story.flows[a], &y = story.flows[b];
    return std::tuple(losses_reported(story, x), x.trouble, x.data) >
           std::tuple(losses_reported(story, y), y.trouble, y.data);
  });
  if (flows.size() > c.most) flows.resize(c.most);
  std::set<std::pair<uint32_t, uint32_t>> controllers;
  for (const uint32_t flow : flows) {
    add(loss_picture(story, flow, c));
    add(psn_picture(story, flow, c));
    add(ev_picture(story, flow, c));
    const Flow& f = story.flows[flow];
    if (f.requestor != kNone && controllers.insert({f.requestor, f.dest}).second)
      add(window_picture(story, f.requestor, f.dest, c));
  }
  // The message that is asked for; else the one of these QPs that took longest among those with trouble.
  const auto trouble = [&](const Message& m) {
    uint64_t n = 0;
    for (const uint32_t i : story.flows[m.flow].packets) {
      const Packet& p = story.packets[i];
      n += p.kind == Kind::Data && p.sent && p.psn >= m.first && p.psn <= m.last && (p.again || p.fate == Fate::Lost);
    }
    return n;
  };
  uint32_t best = kNone;
  std::pair<uint64_t, Time> most;
  for (uint32_t i = 0; i < story.messages.size(); ++i) {
    const Message& m = story.messages[i];
    if (!m.known || std::ranges::find(flows, m.flow) == flows.end()) continue;
    if (c.wr_id && m.wr_id != *c.wr_id) continue;
    if (m.posted > c.until || (m.done != log::kNever && m.done < c.from)) continue;
    const Time took = (m.done == log::kNever ? std::max(story.end, m.posted) : m.done) - m.posted;
    const std::pair<uint64_t, Time> worth{std::min<uint64_t>(trouble(m), 1), took};
    if (best != kNone && worth <= most) continue;
    best = i;
    most = worth;
  }
  if (best != kNone) add(ladder_picture(story, best, c));
  for (const auto& [number, device] : story.devices) {
    if (wanted(number)) add(stream_picture(story, number, c));
  }
  return list;
}

}  // namespace mrc::picture
