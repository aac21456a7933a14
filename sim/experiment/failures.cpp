// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mrc::sim {
namespace {

constexpr double kHour = 3600.0 * static_cast<double>(kSecond);
constexpr double kLeastGap = 1.0 * static_cast<double>(kNs);

[[noreturn]] void refuse_event(const EventConfig& e, std::string_view key, const std::string& what,
                               const std::string& remedy) {
  throw InputError(e.source.at(key) + ": " + what + ".", remedy);
}

/// How long it lasts: always for_us, or anything up to most_us, each power of ten as often as any other.
Time lasts(const EventConfig& e, Rng& rng) {
  double us = e.for_us;
  if (e.most_us > e.for_us) us *= std::pow(e.most_us / e.for_us, rng.unit());
  return std::max<Time>(1, from_us(us));
}

}  // namespace

Failures::Failures(const Scenario& scenario, const Topology& t, uint64_t seed) : topology_(t) {
  const uint32_t nic_links = t.hosts() * t.planes();
  for (size_t i = 0; i < scenario.events.size(); ++i) {
    const EventConfig& e = scenario.events[i];
    if (e.per_hour == 0 || scenario.failure_rates == 0) continue;
    Process p{.event = e, .switches = {}, .rng = Rng(Rng::hash(seed ^ Rng::hash(i + 1)), "failures"), .result = {}};
    for (const char* key : {"within_us", "every_us", "count"}) {
      if (e.source.has(key)) refuse_event(e, key, fmt::format("per_hour and {}", key), "Leave one of them out.");
    }
    if (e.for_us <= 0) refuse_event(e, "for_us", "failures at a rate that never end", "Write for_us.");
    p.of_switches = e.what == "switch-reboot";
    if (!p.of_switches && e.what != "link-down" && e.what != "link-flap" && e.what != "link-loss") {
      refuse_event(e, "per_hour", e.what + " at a rate", "Use link-down, link-flap, link-loss or switch-reboot.");
    }
    if (p.of_switches) {
      for (unsigned plane = 0; plane < t.planes(); ++plane) {
        for (unsigned tier = 0; tier < t.tiers(); ++tier) {
          if (e.node != "random" && e.node != fmt::format("random-T{}", tier)) continue;
          for (unsigned n = 0; n < t.in_tier(tier); ++n) p.switches.push_back(t.in_tier(tier, plane, n));
        }
      }
      if (const NodeId one = t.find_node(e.node); one != kNone && one >= t.hosts()) p.switches = {one};
      p.count = static_cast<uint32_t>(p.switches.size());
    } else if (e.link == "random-plane" || e.link.starts_with("plane")) {
      p.of_planes = true;
      p.count = t.planes();
      if (e.what == "link-loss") refuse_event(e, "link", "link-loss of a whole plane", "A plane can go down.");
      for (unsigned plane = 0; e.link != "random-plane" && plane < t.planes(); ++plane) {
        if (e.link == fmt::format("plane{}", plane)) p.first = plane;
      }
      if (e.link != "random-plane") p.count = e.link == fmt::format("plane{}", p.first) ? 1 : 0;
    } else if (e.link == "random") {
      p.count = t.links();
    } else if (e.link == "random-nic") {
      p.count = nic_links;
    } else if (e.link == "random-uplink") {
      p.first = nic_links;
      p.count = t.links() - nic_links;
    } else if (const LinkId one = t.find_link(e.link); one != kNone) {
      p.first = one;
      p.count = 1;
    }
    if (p.count == 0) {
      refuse_event(e, p.of_switches ? "node" : "link", "the topology has none of these",
                   p.of_switches
                       ? "Name a switch, or write random, random-T0, random-T1 or random-T2."
                       : "Name a link or a plane, or write random, random-nic, random-uplink or random-plane.");
    }
    if (p.count == 1 || p.of_switches || p.of_planes) {
      if (e.bundle > 1) refuse_event(e, "bundle", "a bundle of one link", "Write link = \"random-uplink\".");
    }
    p.per_hour = e.per_hour * scenario.failure_rates;
    if (kHour / (p.per_hour * p.count) < kLeastGap) {
      refuse_event(e, "per_hour", "failures less than a nanosecond apart", "Give a smaller rate.");
    }
    p.result.text = fmt::format("{} of {} {}, {:g} an hour each", e.what, p.count,
                                p.of_switches ? (p.count == 1 ? "switch" : "switches")
                                : p.of_planes ? (p.count == 1 ? "plane" : "planes")
                                              : (p.count == 1 ? "link" : "links"),
                                p.per_hour);
    processes_.push_back(std::move(p));
  }
}

void Failures::begin(Fabric& fabric, std::function<void(const std::string&, Time)> report) {
  fabric_ = &fabric;
  report_ = std::move(report);
  for (Process& p : processes_) fabric_->at(from_us(p.event.at_us), [this, &p] { plan(p); });
}

/// The next one comes after a time that knows nothing of the last one.
void Failures::plan(Process& p) {
  const double mean = kHour / (p.per_hour * p.count);
  const double gap = -std::log(1 - p.rng.unit()) * mean;
  if (gap > 1e18) return;  // in eleven days of simulated time
  fabric_->at(fabric_->now() + static_cast<Time>(gap), [this, &p] {
    happen(p);
    plan(p);
  });
}

std::vector<LinkId> Failures::bundle(const Process& p, LinkId link) const {
  const uint32_t nic_links = topology_.hosts() * topology_.planes();
  const uint32_t cores = nic_links + topology_.links_below(1);
  const uint32_t base = link < nic_links ? 0 : link < cores ? nic_links : cores;
  const uint32_t width = link < nic_links ? topology_.planes()
                         : link < cores   ? topology_.spines()
                                          : topology_.core_links();
  const uint32_t end = base + ((link - base) / width + 1) * width;  // behind the links of its NIC, its T0 or T1
  std::vector<LinkId> links;
  for (LinkId l = link; l < end && links.size() < static_cast<size_t>(p.event.bundle); ++l) links.push_back(l);
  return links;
}

void Failures::happen(Process& p) {
  const EventConfig& e = p.event;
  const uint32_t which = static_cast<uint32_t>(p.rng.below(p.count));
  const Time time = lasts(e, p.rng);
  const bool reported = p.result.times++ < kReported;
  p.result.lasted += time;
  const double us = static_cast<double>(time) / kUs;
  if (p.of_switches) {
    const NodeId node = p.switches[which];
    if (reported) report_(fmt::format("reboot of {} for {:.6g} us", topology_.node_name(node), us), time);
    (void)fabric_->reboot(node, time);
    return;
  }
  std::vector<LinkId> links;
  if (p.of_planes) {
    for (NodeId h = 0; h < topology_.hosts(); ++h) links.push_back(topology_.host_link(h, p.first + which));
  } else {
    links = bundle(p, p.first + which);
  }
  const bool loses = e.what == "link-loss";
  if (reported) {
    report_(fmt::format(
                "{}{} {} for {:.6g} us",
                p.of_planes ? fmt::format("plane {}", p.first + which) : "link " + topology_.link_name(links.front()),
                links.size() > 1 && !p.of_planes ? fmt::format(" and {} more", links.size() - 1) : std::string(),
                loses ? fmt::format("loses {:g} %", 100 * e.loss) : std::string("down"), us),
            time);
  }
  for (const LinkId l : links) loses ? set_loss(e, l, e.loss) : set_down(l, true);
  fabric_->at(fabric_->now() + time, [this, &e, links, loses] {
    for (const LinkId l : links) loses ? set_loss(e, l, 0) : set_down(l, false);
  });
}

/// A link is up again when the last of its failures is over.
void Failures::set_down(LinkId link, bool down) {
  uint32_t& failures = down_[link];
  failures += down ? 1 : -1u;
  if (failures == (down ? 1u : 0u)) fabric_->set_link(link, !down);
}

void Failures::set_loss(const EventConfig& e, LinkId link, double loss) {
  if (e.direction != "down") fabric_->set_impairment(link, true, {.loss = loss});
  if (e.direction != "up") fabric_->set_impairment(link, false, {.loss = loss});
}

std::vector<FailureResult> Failures::results() const {
  std::vector<FailureResult> list;
  for (const Process& p : processes_) list.push_back(p.result);
  return list;
}

}  // namespace mrc::sim
