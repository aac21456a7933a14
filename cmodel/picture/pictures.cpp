// SPDX-License-Identifier: Apache-2.0
#include "picture/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "picture/chart.hpp"

namespace mrc::picture {
namespace {

using Mark = LegendEntry::Mark;
constexpr double kWidth = 960, kLeft = 64, kRight = 16, kTop = 62, kBottom = 40;

/// The stretch of time that a picture shows: what was asked for, as far as something is there.
std::pair<Time, Time> stretch(Time first, Time last, const Choice& c) {
  const Time from = std::max(first, c.from), until = std::min(std::max(last, c.mark.value_or(0)), c.until);
  return {from, std::max(until, from + 1)};
}

/// Room beside the first and the last mark, us.
double margin(Time from, Time until) { return us(until - from) / 100; }

std::string flow_file(const Story& story, const Flow& flow) {
  const bool own = flow.requestor != kNone;
  std::string name = own ? story.device_name(flow.requestor) : "to-" + story.device_name(flow.responder);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '_';
  }
  const uint32_t qp = own && flow.qp != kNone ? flow.qp : flow.peer_qp;
  return fmt::format("{}-qp{:x}", name, qp);
}

/// Draws the heading and, if asked for, the marked time.
void heading(Drawing& d, const std::string& title, const std::string& below) {
  d.text(kLeft, 18, title, -1, false, true);
  if (!below.empty()) d.text(kLeft, 34, below);
}
void marked_time(Drawing& d, const Frame& f, const Choice& c) {
  if (!c.mark || us(*c.mark) < f.x.low || us(*c.mark) > f.x.high) return;
  d.line(f.x.at(us(*c.mark)), f.y.begin, f.x.at(us(*c.mark)), f.y.end, Ink::Lost, true, "here something is wrong");
}

/// Of plain marks every so many is drawn.
std::size_t every(std::size_t plain) { return plain / kMostMarks + 1; }

std::string thinned(std::size_t step) {
  return step == 1 ? "" : fmt::format(" Of packets that came to their end in one go every {}th is drawn.", step);
}

/// Its own time at the requestor's side, when that is in the log; else at the responder's.
bool at_sender(const Flow& flow, const Packet& p) { return flow.requestor == kNone ? !p.sent : p.sent; }

struct Ways {
  std::vector<const Packet*> data;  // as sent (as it came, when the log has the responder alone)
  std::vector<const Packet*> came;  // at the responder
};
Ways ways(const Story& story, const Flow& flow, const Choice& c) {
  Ways w;
  for (const uint32_t i : flow.packets) {
    const Packet& p = story.packets[i];
    if (p.kind != Kind::Data || !Story::within(p, c.from, c.until)) continue;
    if (at_sender(flow, p)) w.data.push_back(&p);
    if (!p.sent) w.came.push_back(&p);
  }
  return w;
}

std::string tip(const Story& story, const Flow& flow, const Packet& p) {
  return fmt::format("{} (0x{:06x}), EV 0x{:x}, plane {}, {} us", story.name_of(p), Story::raw_psn(flow, p.psn), p.ev,
                     p.plane, number_text(us(p.time)));
}

}  // namespace

std::optional<Picture> psn_picture(const Story& story, uint32_t number, const Choice& c) {
  const Flow& flow = story.flows[number];
  const Ways w = ways(story, flow, c);
  if (w.data.empty()) return {};
  Time first = log::kNever, last = 0;
  int64_t low = w.data.front()->psn, high = low;
  for (const Packet* p : w.data) {
    first = std::min(first, p->time);
    last = std::max(last, p->last);
    low = std::min(low, p->psn);
    high = std::max(high, p->psn);
  }
  const auto acks = acknowledged(story, flow);
  for (const Acknowledged& a : acks) {
    const Packet& p = story.packets[a.packet];
    if (Story::within(p, c.from, c.until)) last = std::max(last, p.last);
  }
  const std::pair<Time, Time> shown = stretch(first, last, c);
  const Time from = shown.first, until = shown.second;
  Drawing d(kWidth, 420, "PSN against time, " + story.name_of(flow));
  Frame f;
  const double room = std::max(1.0, 0.05 * static_cast<double>(high - low));
  f.x = {us(from) - margin(from, until), us(until) + margin(from, until), kLeft, kWidth - kRight};
  f.y = {static_cast<double>(low) - room, static_cast<double>(high) + room, d.height() - kBottom, kTop + 16};
  f.draw(d, "time, us", "PSN, counted from the first one");

  std::size_t plain = 0, seen = 0;
  for (const Packet* p : w.data) plain += !p->again && p->fate != Fate::Lost;
  const std::size_t step = every(plain);
  // SACKs: cack, window edge, holes.
  std::vector<std::pair<double, double>> cack, edge;
  int64_t now = -1;
  const auto inside = [&](double psn) { return std::clamp(psn, f.y.low, f.y.high); };
  const auto to_step = [&](std::vector<std::pair<double, double>>& line, double x, double psn) {
    const double y = f.y.at(inside(psn));
    if (!line.empty()) line.emplace_back(x, line.back().second);
    line.emplace_back(x, y);
  };
  uint32_t mpr = flow.mpr;
  bool edge_seen = false;
  std::set<int64_t> had;
  std::size_t holes = 0;
  for (const Acknowledged& a : acks) {
    const Packet& p = story.packets[a.packet];
    for (const int64_t psn : a.fresh) had.insert(psn);
    now = a.cack;
    if (!Story::within(p, from, until)) continue;
    const double x = f.x.at(us(p.time));
    if (cack.empty() && now >= 0) cack.emplace_back(f.x.begin, f.y.at(inside(static_cast<double>(low) - 1)));
    to_step(cack, x, static_cast<double>(now));
    if (flow.dynamic_mpr && p.mpr != 0) mpr = p.mpr;
    if (mpr != 0) {
      const double limit = static_cast<double>(now) + 128.0 * mpr;
      edge_seen = edge_seen || limit <= f.y.high;
      to_step(edge, x, limit);
    }
    if (p.bitmap == 0) continue;
    int64_t top = p.base;
    for (unsigned bit = 0; bit < 64; ++bit) {
      if (p.bitmap >> bit & 1) top = p.base + bit;
    }
    for (int64_t psn = std::max(p.cack, now) + 1; psn < top && holes < kMostMarks; ++psn) {
      if (had.contains(psn)) continue;
      ++holes;
      d.line(x - 3, f.y.at(inside(static_cast<double>(psn))), x + 3, f.y.at(inside(static_cast<double>(psn))),
             Ink::Hole);
    }
  }
  if (!cack.empty()) cack.emplace_back(f.x.end, cack.back().second);
  if (edge_seen) d.path(edge, Ink::Edge, true);
  d.path(cack, Ink::Answer);
  for (const Packet* p : w.data) {
    const double x = f.x.at(us(p->time)), y = f.y.at(static_cast<double>(p->psn));
    if (p->fate == Fate::Lost) {
      d.cross(x, y, Ink::Lost, tip(story, flow, *p));
    } else if (p->again) {
      d.dot(x, y, Ink::Again, 3, tip(story, flow, *p));
    } else if (seen++ % step == 0) {
      d.dot(x, y, Ink::Plain, 1.8, tip(story, flow, *p));
    }
  }
  std::size_t trimmed = 0;
  for (const Packet* p : w.came) {
    if (!p->trimmed || trimmed++ >= kMostMarks) continue;
    d.triangle(f.x.at(us(p->time)), f.y.at(static_cast<double>(p->psn)), Ink::Trimmed, tip(story, flow, *p));
  }
  marked_time(d, f, c);
  heading(d, "PSN against time: " + story.name_of(flow),
          fmt::format("{} packets with data; PSN 0 is 0x{:06x} in the header.{}", w.data.size(), flow.first_psn,
                      thinned(step)));
  std::vector<LegendEntry> words = {
      {Mark::Dot, Ink::Plain, "sent"},           {Mark::Dot, Ink::Again, "sent again"},
      {Mark::Cross, Ink::Lost, "lost"},          {Mark::Triangle, Ink::Trimmed, "arrived trimmed"},
      {Mark::Line, Ink::Hole, "hole in a SACK"}, {Mark::Line, Ink::Answer, "cack"}};
  words.push_back({Mark::Dashed, Ink::Edge, edge_seen ? "window's edge" : "window's edge (above)"});
  legend(d, kLeft, 52, words);
  return Picture{
      "psn-" + flow_file(story, flow), "PSN against time: " + story.name_of(flow),
      "Each mark is a packet at the time of its first byte at its sender; arrivals that were trimmed stand at "
      "their own time. Flat stretches of cack above which packets are sent are waits for what was lost.",
      d.svg()};
}

namespace {

bool is_of(const LossReported& loss, const Flow& flow) { return loss.device == flow.requestor && loss.qp == flow.qp; }

/// "PSN 34, sent 8.123 us on plane 3 by T1-3-5: known at 14.2 us (time), again at 14.3 us on plane 5, ..."
std::string reported_text(const LossReported& l) {
  std::string out = fmt::format("PSN {}, sent at {} us on {}: known to be lost at {} us ({})", l.psn,
                                number_text(us(l.sent)), l.way, number_text(us(l.known)), l.cause);
  if (l.again != 0) out += fmt::format(", again at {} us on plane {}", number_text(us(l.again)), l.again_plane);
  return out + (l.back != 0 ? fmt::format(", reported at {} us", number_text(us(l.back))) : ", never reported");
}

}  // namespace

std::size_t losses_reported(const Story& story, const Flow& flow) {
  if (flow.requestor == kNone) return 0;
  return static_cast<std::size_t>(
      std::ranges::count_if(story.losses, [&](const LossReported& l) { return is_of(l, flow); }));
}

std::optional<Picture> loss_picture(const Story& story, uint32_t number, const Choice& c) {
  const Flow& flow = story.flows[number];
  const Ways w = ways(story, flow, c);
  std::vector<const LossReported*> losses;
  for (const LossReported& l : story.losses) {
    if (flow.requestor != kNone && is_of(l, flow) && l.sent >= c.from && l.sent <= c.until) losses.push_back(&l);
  }
  if (losses.empty() || w.data.empty()) return {};
  Time first = log::kNever, last = 0;
  int64_t high = 0;
  for (const Packet* p : w.data) {
    first = std::min(first, p->time);
    last = std::max(last, p->last);
    high = std::max(high, p->psn);
  }
  const auto psn_of = [&](const LossReported& l) { return int64_t{(l.psn - flow.first_psn) & 0xffffffu}; };
  for (const LossReported* l : losses) {
    first = std::min(first, l->sent);
    last = std::max({last, l->known, l->again, l->back});
    high = std::max(high, psn_of(*l));
  }
  const std::pair<Time, Time> shown = stretch(first, last, c);
  const Time from = shown.first, until = shown.second;
  constexpr std::size_t kLines = 12;
  const std::size_t lines = std::min(losses.size(), kLines);
  constexpr double kChart = 420, kLine = 15;
  Drawing d(kWidth, kChart + 14 + kLine * static_cast<double>(lines + 1), "What was lost, " + story.name_of(flow));
  Frame f;
  const double room = std::max(1.0, 0.05 * static_cast<double>(high));
  f.x = {us(from) - margin(from, until), us(until) + margin(from, until), kLeft, kWidth - kRight};
  f.y = {-room, static_cast<double>(high) + room, kChart - kBottom, kTop + 16};
  f.draw(d, "time, us", "PSN, counted from the first one");
  std::size_t plain = 0, seen = 0;
  for (const Packet* p : w.data) plain += !p->again;
  const std::size_t step = every(plain);
  for (const Packet* p : w.data) {
    const double x = f.x.at(us(p->time)), y = f.y.at(static_cast<double>(p->psn));
    if (p->again) {
      d.dot(x, y, Ink::Again, 3, tip(story, flow, *p));
    } else if (seen++ % step == 0) {
      d.dot(x, y, Ink::Plain, 1.8, tip(story, flow, *p));
    }
  }
  const auto x_at = [&](Time t) { return f.x.at(us(std::clamp(t, from, until))); };
  for (const LossReported* l : losses) {
    const double y = f.y.at(static_cast<double>(psn_of(*l))), known = x_at(l->known);
    const std::string said = reported_text(*l);
    d.line(x_at(l->sent), y, known, y, Ink::Lost, true, said);
    d.cross(x_at(l->sent), y, Ink::Lost, said);
    d.triangle(known, y, Ink::Marked, said);
    if (losses.size() <= kLines) d.text(known, y - 6, l->cause, 0);
    if (l->again == 0) continue;
    d.line(known, y, x_at(l->again), y, Ink::Again, false, said);
    if (l->back != 0) d.line(x_at(l->again), y, x_at(l->back), y, Ink::Answer, false, said);
  }
  marked_time(d, f, c);
  heading(d, "What was lost: " + story.name_of(flow),
          fmt::format("{} losses of {} packets with data; PSN 0 is 0x{:06x} in the header.{}", losses.size(),
                      w.data.size(), flow.first_psn, thinned(step)));
  legend(d, kLeft, 52,
         {{Mark::Dot, Ink::Plain, "sent"},
          {Mark::Cross, Ink::Lost, "sent and lost"},
          {Mark::Triangle, Ink::Marked, "known to be lost"},
          {Mark::Dot, Ink::Again, "sent again"},
          {Mark::Line, Ink::Answer, "until it was reported"}});
  for (std::size_t i = 0; i < lines; ++i) {
    d.text(kLeft, kChart + 12 + kLine * static_cast<double>(i), reported_text(*losses[i]));
  }
  if (losses.size() > lines) {
    d.text(kLeft, kChart + 12 + kLine * static_cast<double>(lines),
           fmt::format("... and {} more", losses.size() - lines));
  }
  return Picture{"losses-" + flow_file(story, flow), "What was lost: " + story.name_of(flow),
                 "What its sender took for lost, those first that were back last. A dashed line is the time in which "
                 "nobody knew of the loss; over its end stands what told of it.",
                 d.svg()};
}

namespace {

/// Rows of the map of entropy values: those of a plane, in the order of the QP's set.
struct EvRows {
  std::map<unsigned, std::vector<uint32_t>> planes;
  std::map<uint32_t, std::pair<unsigned, std::size_t>> where;  // EV -> plane, row
};

constexpr double kEvLeft = 96;
constexpr std::size_t kMostRows = 128;  // of a plane

EvRows rows_of(const Flow& flow, const Ways& w) {
  std::map<uint32_t, unsigned> plane;
  std::vector<uint32_t> order;
  const auto add = [&](uint32_t ev, unsigned of) {
    if (plane.emplace(ev, of).second) order.push_back(ev);
  };
  std::set<uint32_t> used;
  for (const Packet* p : w.data) used.insert(p->ev);
  for (std::size_t i = 0; i < flow.evs.size(); ++i) {
    // Of large sets those that were used alone.
    if (flow.evs.size() > 4 * kMostRows && !used.contains(flow.evs[i])) continue;
    add(flow.evs[i], i < flow.ev_planes.size() ? flow.ev_planes[i] : 0);
  }
  for (const Packet* p : w.data) {
    if (flow.ev_planes.empty()) plane.erase(p->ev);
    add(p->ev, p->plane);
  }
  EvRows rows;
  std::set<uint32_t> placed;
  for (const uint32_t ev : order) {
    if (!placed.insert(ev).second) continue;
    auto& list = rows.planes[plane[ev]];
    if (list.size() == kMostRows) continue;
    rows.where[ev] = {plane[ev], list.size()};
    list.push_back(ev);
  }
  return rows;
}

}  // namespace

std::optional<Picture> ev_picture(const Story& story, uint32_t number, const Choice& c) {
  const Flow& flow = story.flows[number];
  const Ways w = ways(story, flow, c);
  if (w.data.empty()) return {};
  const EvRows rows = rows_of(flow, w);
  if (rows.planes.empty()) return {};
  Time first = log::kNever, last = 0;
  for (const Packet* p : w.data) {
    first = std::min(first, p->time);
    last = std::max(last, p->last);
  }
  const std::pair<Time, Time> shown = stretch(first, last, c);
  const Time from = shown.first, until = shown.second;
  std::size_t most = 0;
  for (const auto& [plane, list] : rows.planes) most = std::max(most, list.size());
  const double row = most <= 16 ? 12 : most <= 48 ? 7 : 4, gap = 22;
  double height = kTop + kBottom;
  for (const auto& [plane, list] : rows.planes) height += static_cast<double>(list.size()) * row + gap;
  Drawing d(kWidth, height, "Entropy values against time, " + story.name_of(flow));
  std::map<unsigned, Axis> axes;
  Frame f;
  f.x = {us(from) - margin(from, until), us(until) + margin(from, until), kEvLeft, kWidth - kRight};
  double y = kTop;
  for (const auto& [plane, list] : rows.planes) {
    const double tall = static_cast<double>(list.size()) * row;
    d.text(kEvLeft, y + 14,
           fmt::format("plane {}: {} entropy value{}", plane, list.size(), list.size() == 1 ? "" : "s"), -1, true,
           true);
    y += gap;
    axes[plane] = {0, static_cast<double>(list.size()), y, y + tall};
    d.box(kEvLeft, y, f.x.end - kEvLeft, tall, Ink::Edge, 0.08);
    for (std::size_t i = 0; i < list.size(); i += row >= 12 ? 1 : 8)
      d.text(kEvLeft - 4, y + row * (static_cast<double>(i) + 0.5) + 4, fmt::format("{:x}", list[i]), 1);
    y += tall;
  }
  // States: what the log says of them, from the set's first states on.
  struct State {
    log::EvState state;
    Time since;
  };
  std::map<uint32_t, State> states;
  bool reported = false;
  for (std::size_t i = 0; i < flow.evs.size(); ++i) {
    const bool backup = i + flow.backup >= flow.evs.size();
    states[flow.evs[i]] = {backup ? log::EvState::Backup : log::EvState::Good, from};
  }
  const auto band = [&](uint32_t ev, const State& s, Time end) {
    const auto at = rows.where.find(ev);
    if (at == rows.where.end() || s.state == log::EvState::Good || end <= from || s.since >= until) return;
    static constexpr std::array<Ink, 6> kInks = {Ink::Plain, Ink::Marked, Ink::Lost,
                                                 Ink::Edge,  Ink::Plain,  Ink::Marked};
    static constexpr std::array<const char*, 6> kNames = {"good", "skip", "bad", "denied", "backup", "skip twice"};
    const auto which = std::min<std::size_t>(static_cast<std::size_t>(s.state), 5);
    const double x = f.x.at(us(std::max(s.since, from))), to = f.x.at(us(std::min(end, until)));
    d.box(x, axes[at->second.first].begin + row * static_cast<double>(at->second.second), std::max(to - x, 0.5), row,
          kInks[which], s.state == log::EvState::Backup ? 0.2 : 0.45, fmt::format("EV 0x{:x} {}", ev, kNames[which]));
  };
  for (const EvChange& change : story.ev_changes) {
    if (change.flow != number) continue;
    reported = true;
    const auto [at, fresh] = states.try_emplace(change.ev, State{change.before, from});
    band(change.ev, at->second, change.time);
    at->second = {change.after, change.time};
  }
  for (const auto& [ev, state] : states) band(ev, state, until);
  std::size_t plain = 0, seen = 0;
  const auto marked = [&](const Packet& p) { return p.other != kNone && story.packets[p.other].marked; };
  const auto trimmed = [&](const Packet& p) {
    return p.trimmed || (p.other != kNone && story.packets[p.other].trimmed);
  };
  for (const Packet* p : w.data) plain += p->fate != Fate::Lost && !marked(*p) && !trimmed(*p);
  const std::size_t step = every(plain);
  for (const Packet* p : w.data) {
    const auto at = rows.where.find(p->ev);
    if (at == rows.where.end()) continue;
    const double x = f.x.at(us(p->time));
    const double middle = axes[at->second.first].begin + row * (static_cast<double>(at->second.second) + 0.5);
    if (p->fate == Fate::Lost) {
      d.cross(x, middle, Ink::Lost, tip(story, flow, *p), 3);
    } else if (trimmed(*p)) {
      d.triangle(x, middle, Ink::Trimmed, tip(story, flow, *p));
    } else if (marked(*p)) {
      d.triangle(x, middle, Ink::Marked, tip(story, flow, *p));
    } else if (seen++ % step == 0) {
      d.dot(x, middle, p->again ? Ink::Again : Ink::Plain, 1.8, tip(story, flow, *p));
    }
  }
  f.y = {0, 1, y, kTop};
  for (const double v : f.x.ticks(8)) {
    d.line(f.x.at(v), y, f.x.at(v), y + 4, Ink::Text);
    d.text(f.x.at(v), y + 16, number_text(v), 0);
  }
  d.line(kEvLeft, y, f.x.end, y, Ink::Text);
  d.text((kEvLeft + f.x.end) / 2, y + 32, "time, us", 0);
  d.turned_text(14, (kTop + y) / 2, "entropy value, hexadecimal");
  marked_time(d, f, c);
  heading(d, "Entropy values against time: " + story.name_of(flow),
          (reported ? "States are those that the NIC shows." : "The NIC shows no states of entropy values.") +
              thinned(step));
  legend(d, kEvLeft, 52,
         {{Mark::Dot, Ink::Plain, "sent"},
          {Mark::Dot, Ink::Again, "sent again"},
          {Mark::Cross, Ink::Lost, "lost"},
          {Mark::Triangle, Ink::Trimmed, "trimmed"},
          {Mark::Triangle, Ink::Marked, "marked (ECN)"},
          {Mark::Box, Ink::Lost, "bad"},
          {Mark::Box, Ink::Marked, "skip"},
          {Mark::Box, Ink::Edge, "denied"},
          {Mark::Box, Ink::Plain, "backup"}});
  return Picture{
      "evs-" + flow_file(story, flow), "Entropy values against time: " + story.name_of(flow),
      "A row per entropy value. Losses in one row alone speak of a path, losses in all rows of a plane at one "
      "time of the plane; marks and trimmed packets over all rows of congestion.",
      d.svg()};
}

std::optional<Picture> window_picture(const Story& story, uint32_t device, uint32_t dest, const Choice& c) {
  std::vector<const Window*> points;
  for (const Window& p : story.windows) {
    if (p.device == device && p.dest == dest && p.time <= c.until) points.push_back(&p);
  }
  if (points.empty()) return {};
  // What is in flight of all flows to there.
  std::vector<std::pair<Time, int64_t>> changes;
  for (const Flow& flow : story.flows) {
    if (flow.requestor != device || flow.dest != dest) continue;
    int64_t before = 0;
    for (const Flight& x : flight(story, flow, acknowledged(story, flow))) {
      changes.emplace_back(x.time, static_cast<int64_t>(x.bytes) - before);
      before = static_cast<int64_t>(x.bytes);
    }
  }
  std::ranges::stable_sort(changes, {}, &std::pair<Time, int64_t>::first);
  if (changes.empty() || changes.back().first < c.from || changes.front().first > c.until) return {};
  const std::pair<Time, Time> shown =
      stretch(changes.front().first, std::max(changes.back().first, points.back()->time), c);
  const Time from = shown.first, until = shown.second;
  double high = 0;
  for (const Window* p : points) high = std::max(high, static_cast<double>(p->bytes));
  int64_t sum = 0;
  for (const auto& [time, by] : changes) high = std::max(high, static_cast<double>(sum += by));
  Drawing d(kWidth, 340, fmt::format("Window of {} towards destination {}", story.device_name(device), dest));
  Frame f;
  f.x = {us(from) - margin(from, until), us(until) + margin(from, until), kLeft, kWidth - kRight};
  f.y = {0, high * 1.05 / 1000, d.height() - kBottom, kTop};
  f.draw(d, "time, us", "kB");
  std::vector<std::pair<double, double>> window, inside;
  const auto to_step = [&](std::vector<std::pair<double, double>>& line, Time time, double bytes) {
    const double x = f.x.at(us(std::clamp(time, from, until))), y = f.y.at(bytes / 1000);
    if (!line.empty() && line.back().first == x) line.pop_back();
    if (!line.empty()) line.emplace_back(x, line.back().second);
    line.emplace_back(x, y);
  };
  for (const Window* p : points) to_step(window, p->time, static_cast<double>(p->bytes));
  to_step(window, until, static_cast<double>(points.back()->bytes));
  sum = 0;
  for (const auto& [time, by] : changes) {
    sum += by;
    if (time <= until) to_step(inside, time, static_cast<double>(sum));
  }
  d.path(inside, Ink::Plain);
  d.path(window, Ink::Answer);
  std::size_t drawn = 0;
  for (const Window* p : points) {
    if (p->time < from || drawn >= kMostMarks) continue;
    const double x = f.x.at(us(p->time)), y = f.y.at(static_cast<double>(p->bytes) / 1000);
    if (p->reported == log::CcKind::Loss) {
      d.cross(x, y, Ink::Lost, "loss");
    } else if (p->reported == log::CcKind::Nack) {
      d.triangle(x, y, Ink::Trimmed, "NACK");
    } else if (p->marked) {
      d.dot(x, y, Ink::Marked, 2.5, "SACK with SKIP_ONCE");
    } else {
      continue;
    }
    ++drawn;
  }
  marked_time(d, f, c);
  const std::string title =
      fmt::format("Congestion window: {} towards destination {}", story.device_name(device), dest);
  heading(d, title,
          "In flight: bytes of frames that were sent and that no SACK has acknowledged, of all QPs to there.");
  legend(d, kLeft, 52,
         {{Mark::Line, Ink::Answer, "window"},
          {Mark::Line, Ink::Plain, "in flight"},
          {Mark::Cross, Ink::Lost, "told of a loss"},
          {Mark::Triangle, Ink::Trimmed, "told of a NACK"},
          {Mark::Dot, Ink::Marked, "told of a mark"}});
  return Picture{fmt::format("cwnd-{}-{}", story.device_name(device), dest), title,
                 "Where both lines touch, the window holds the NIC back; where there is room between them, something "
                 "else does: work requests, the PSN window, ports.",
                 d.svg()};
}

namespace {

constexpr double kA = 300, kB = 760;  // the ladder's sides

struct RungLabel {
  double at = 0;
  bool forth = true, trouble = false;
  std::string text;
};

/// Draws a packet on its way. `way`: pixels that packets fall from side to side, for those that do not arrive.
RungLabel rung(Drawing& d, const Story& story, const Flow& flow, const Packet& p, const Axis& y, double way) {
  RungLabel l;
  l.forth = p.kind == Kind::Data;
  l.trouble = p.again || p.kind == Kind::Nack;
  l.text = story.name_of(p);
  const double xs = l.forth ? kA : kB, xe = l.forth ? kB : kA, half = (xs + xe) / 2;
  const Ink ink = plane_ink(p.plane);
  const std::string hint = tip(story, flow, p);
  if (!p.sent) {  // the other side is not in the log
    l.at = y.at(us(p.last));
    d.line(half, l.at - 6, xe, l.at, ink, !l.forth, hint);
    return l;
  }
  l.at = y.at(us(p.time));
  if (p.other == kNone) {
    d.line(xs, l.at, half, l.at + way / 2, ink, !l.forth, hint);
    if (p.fate == Fate::Lost) {
      d.cross(half, l.at + way / 2, Ink::Lost, hint);
      l.text += ", lost";
      l.trouble = true;
    }
    return l;
  }
  const Packet& there = story.packets[p.other];
  const double end = y.at(us(there.last));
  d.line(xs, l.at, xe, end, ink, !l.forth, hint);
  if (there.trimmed) {
    d.triangle(xe, end, Ink::Trimmed, "arrived trimmed");
    l.text += ", arrives trimmed";
    l.trouble = true;
  } else if (there.marked) {
    d.triangle(xe, end, Ink::Marked, "arrived marked");
  }
  return l;
}

/// What belongs to a message: its data, NACKs of them, SACKs that bring something of it, its ACK. `side`: as sent,
/// where the log has the sender.
bool on_ladder(const Story& story, const Flow& flow, uint32_t number, uint32_t packet,
               const std::set<uint32_t>& counts) {
  const Message& m = story.messages[number];
  const Packet& p = story.packets[packet];
  const bool answer_side = flow.responder == kNone ? !p.sent : p.sent;
  switch (p.kind) {
    case Kind::Data:
      return p.message == number && at_sender(flow, p);
    case Kind::Nack:
      return p.psn >= m.first && p.psn <= m.last && answer_side;
    case Kind::Sack:
      return flow.responder == kNone ? counts.contains(packet) : p.sent && counts.contains(p.other);
    case Kind::Ack:
      return p.time >= m.posted && ((p.msn - m.msn) & 0xffffu) == 1 && answer_side;
    default:
      return false;
  }
}

}  // namespace

std::optional<Picture> ladder_picture(const Story& story, uint32_t number, const Choice& c) {
  const Message& m = story.messages[number];
  if (!m.known) return {};
  const Flow& flow = story.flows[m.flow];
  constexpr std::size_t kMostRungs = 600;
  std::vector<const Packet*> rungs;
  std::size_t left_out = 0;
  const auto acks = acknowledged(story, flow);
  std::set<uint32_t> counts;  // SACKs that bring something of it
  for (const Acknowledged& a : acks) {
    for (const int64_t psn : a.fresh) {
      if (psn >= m.first && psn <= m.last) counts.insert(a.packet);
    }
  }
  for (const uint32_t i : flow.packets) {
    const Packet& p = story.packets[i];
    if (!on_ladder(story, flow, number, i, counts) || !Story::within(p, c.from, c.until)) continue;
    if (rungs.size() < kMostRungs) {
      rungs.push_back(&p);
    } else {
      ++left_out;
    }
  }
  if (rungs.empty()) return {};
  Time first = std::max(m.posted, c.from), last = 0;
  for (const Packet* p : rungs) {
    first = std::min(first, p->time);
    last = std::max(last, p->other == kNone ? p->last : story.packets[p->other].last);
  }
  if (m.done != log::kNever && left_out == 0) last = std::max(last, std::min(m.done, c.until));
  const double height = std::clamp(180 + 15.0 * static_cast<double>(rungs.size()), 320.0, 1500.0);
  Drawing d(kWidth, height, "Ladder of a message");
  const Axis y = {us(first), us(std::max(last, first + 1)), kTop + 34, height - 24};
  double way = 20;
  for (const Packet* p : rungs) {
    if (p->sent && p->other != kNone) way = y.at(us(story.packets[p->other].last)) - y.at(us(p->time));
  }
  const auto side = [&](uint32_t device) {
    return device == kNone ? std::string("(not in the log)") : story.device_name(device);
  };
  d.text(kA, kTop + 14, side(flow.requestor), 0, false, true);
  d.text(kB, kTop + 14, side(flow.responder), 0, false, true);
  for (const double x : {kA, kB}) d.line(x, kTop + 20, x, height - 16, Ink::Text);
  for (const double v : y.ticks(static_cast<unsigned>(std::clamp(height / 60, 5.0, 30.0)))) {
    d.line(50, y.at(v), 56, y.at(v), Ink::Text);
    d.text(46, y.at(v) + 4, number_text(v), 1);
  }
  d.line(56, y.begin, 56, y.end, Ink::Text);
  d.turned_text(12, (y.begin + y.end) / 2, "time, us, downwards");
  d.text(kA - 8, y.at(us(first)) - 4, fmt::format("posted {} us", number_text(us(m.posted))), 1, true, true);
  if (m.done != log::kNever && m.done <= last)
    d.text(kA - 8, y.at(us(m.done)) + 4, m.status == log::Status::Ok ? "completion" : "completion with an error", 1,
           true, true);
  if (c.mark && us(*c.mark) >= y.low && us(*c.mark) <= y.high)
    d.line(56, y.at(us(*c.mark)), d.width() - 16, y.at(us(*c.mark)), Ink::Lost, true, "here something is wrong");
  std::set<unsigned> planes;
  std::vector<RungLabel> labels;
  for (const Packet* p : rungs) {
    planes.insert(p->plane);
    labels.push_back(rung(d, story, flow, *p, y, way));
  }
  // Labels of one side do not cover each other; those of trouble come first.
  std::array<std::set<double>, 2> taken;
  std::stable_partition(labels.begin(), labels.end(), [](const RungLabel& l) { return l.trouble; });
  for (const RungLabel& l : labels) {
    auto& side_taken = taken[l.forth ? 0 : 1];
    const auto above = side_taken.lower_bound(l.at - 10);
    if (above != side_taken.end() && *above < l.at + 10) continue;
    side_taken.insert(l.at);
    d.text(l.forth ? kA - 8 : kB + 8, l.at + 4, l.text, l.forth ? 1 : -1, true, l.trouble);
  }
  std::vector<LegendEntry> words;
  words.reserve(planes.size() + 4);
  for (const unsigned plane : planes) words.push_back({Mark::Line, plane_ink(plane), fmt::format("plane {}", plane)});
  words.push_back({Mark::Dashed, Ink::Text, "answers"});
  words.push_back({Mark::Cross, Ink::Lost, "lost"});
  words.push_back({Mark::Triangle, Ink::Trimmed, "trimmed"});
  words.push_back({Mark::Triangle, Ink::Marked, "marked"});
  const std::string title =
      fmt::format("A message on its way: WRITE of {} bytes, {}, MSN {}", m.bytes, story.name_of(flow), m.msn);
  heading(d, title,
          left_out == 0 ? "" : fmt::format("The first {} packets; {} more are not drawn.", rungs.size(), left_out));
  legend(d, kLeft, 52, words);
  return Picture{
      fmt::format("ladder-{}-{:x}", flow_file(story, flow), m.wr_id), title,
      "Each line is a packet from its first byte at the sender to its last at the receiver, in the colour of "
      "its plane. Of SACKs those that bring something new of the message.",
      d.svg()};
}

}  // namespace mrc::picture
