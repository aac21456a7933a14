// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace mrc::sim {
namespace {

constexpr Time kDefaultOutage = 10 * kUs;

/// "plane3".
bool plane_of(std::string_view name, unsigned& plane) {
  if (!name.starts_with("plane") || name.size() != 6 || name[5] < '0' || name[5] > '9') return false;
  plane = static_cast<unsigned>(name[5] - '0');
  return true;
}

}  // namespace

Events::Events(const Scenario& scenario, const Topology& topology, Fabric& fabric, uint64_t seed, EvsOf evs_of)
    : topology_(topology), fabric_(fabric), evs_of_(std::move(evs_of)) {
  Rng rng(seed, "events");
  for (const EventConfig& event : scenario.events) {
    if (event.per_hour > 0) continue;
    for (const char* key : {"most_us", "bundle"}) {
      if (event.source.has(key)) {
        throw InputError(fmt::format("{}: {} without per_hour.", event.source.at(key), key), "Write per_hour.");
      }
    }
    std::vector<uint32_t> used;
    for (unsigned i = 0; i < static_cast<unsigned>(event.count); ++i) {
      plan(event, rng, used);
      actions_.back().time += from_us(event.every_us) * i;
      if (event.within_us > 0) actions_.back().time += rng.below(from_us(event.within_us) + 1);
      if (actions_.back().end_time != kNever) actions_.back().end_time += actions_.back().time;
    }
  }
  std::stable_sort(actions_.begin(), actions_.end(), [](const Action& a, const Action& b) { return a.time < b.time; });
}

void Events::begin(std::function<void(const std::string&, Time)> report) {
  report_ = std::move(report);
  for (const Action& a : actions_) {
    fabric_.at(a.time, [this, &a] {
      report_(a.text, a.end_time == kNever ? 0 : a.end_time - a.time);
      a.begin();
    });
    if (a.end_time != kNever && a.end) {
      fabric_.at(a.end_time, [this, &a] {
        report_(a.text + " ends", 0);
        a.end();
      });
    }
  }
}

std::vector<std::string> Events::after(Time time) const {
  std::vector<std::string> texts;
  for (const Action& a : actions_) {
    if (a.time > time) texts.push_back(fmt::format("{} at {:g} us", a.text, static_cast<double>(a.time) / kUs));
  }
  return texts;
}

void Events::plan(const EventConfig& e, Rng& rng, std::vector<uint32_t>& used) {
  const auto refuse = [&](std::string_view key, const std::string& what, const std::string& remedy) {
    throw InputError(e.source.at(key) + ": " + what + ".", remedy);
  };
  const auto draw = [&](uint32_t first, uint32_t count) {
    if (count == 0)
      refuse(e.link.empty() ? "node" : "link", "the topology has none of these to choose from",
             "Name a link or switch.");
    // Another one each time, as long as there are any.
    if (used.size() >= count) used.clear();
    for (;;) {
      const uint32_t x = first + static_cast<uint32_t>(rng.below(count));
      if (std::find(used.begin(), used.end(), x) != used.end()) continue;
      used.push_back(x);
      return x;
    }
  };
  Action a;
  a.time = from_us(e.at_us);
  Time lasts = from_us(e.for_us);
  Fabric* const fabric = &fabric_;
  if (e.what == "switch-reboot") {
    NodeId node = kNone;
    if (e.node == "random") {
      node = draw(topology_.hosts(), topology_.switches());
    } else if (e.node == "random-T0" || e.node == "random-T1" || e.node == "random-T2") {
      const auto tier = static_cast<unsigned>(e.node.back() - '0');
      const unsigned all = topology_.in_tier(tier), x = draw(0, topology_.planes() * all);
      node = topology_.in_tier(tier, x / all, x % all);
    } else {
      node = topology_.find_node(e.node);
      if (node == kNone || node < topology_.hosts()) {
        refuse("node", fmt::format("node = \"{}\" is no switch of this topology", e.node),
               fmt::format("Switches are T0-<plane>-<number>{}; or write random.",
                           topology_.tiers() == 3 ? ", T1-... and T2-..."
                           : topology_.clos()     ? " and T1-<plane>-<number>"
                                                  : ""));
      }
    }
    if (lasts == 0) lasts = kDefaultOutage;
    a.text = fmt::format("reboot of {} for {:g} us", topology_.node_name(node), static_cast<double>(lasts) / kUs);
    a.begin = [fabric, node, lasts] { (void)fabric->reboot(node, lasts); };
    a.end = [] {};
    a.end_time = lasts;
    actions_.push_back(std::move(a));
    return;
  }
  if (e.what == "bad-ev") {
    const NodeId from = topology_.find_node(e.from), to = topology_.find_node(e.to);
    for (const auto& [key, node, name] : {std::tuple{"from", from, e.from}, {"to", to, e.to}}) {
      if (node >= topology_.hosts()) {
        refuse(key, fmt::format("{} = \"{}\" is no NIC of this topology", key, name),
               fmt::format("NICs are nic0 to nic{}.", topology_.hosts() - 1));
      }
    }
    const std::vector<uint32_t> active = evs_of_(from, to);
    if (active.empty())
      refuse("from", fmt::format("nothing is sent from {} to {}", e.from, e.to), "Name sender and receiver of a flow.");
    const auto index = static_cast<size_t>(e.ev);
    if (index >= active.size()) {
      refuse("ev", fmt::format("there is no entropy value {}", index),
             fmt::format("They are 0 to {}.", active.size() - 1));
    }
    const unsigned plane = static_cast<unsigned>(index) % topology_.planes();
    const LinkId link = topology_.host_link(from, plane);
    const uint32_t ev = active[index];
    a.text = fmt::format("entropy value {} ({:08x}) of {} to {} loses {:g} %", index, ev, e.from, e.to, 100 * e.loss);
    a.begin = [fabric, link, ev, loss = e.loss] { fabric->set_impairment(link, true, {.loss = loss, .entropy = ev}); };
    a.end = [fabric, link] { fabric->set_impairment(link, true, {}); };
    if (lasts > 0) a.end_time = lasts;
    actions_.push_back(std::move(a));
    return;
  }
  LinkId link = kNone;
  if (unsigned plane = 0; plane_of(e.link, plane)) {
    if (e.what != "link-down" && e.what != "link-up" && e.what != "link-flap") {
      refuse("link", e.what + " of a whole plane", "A plane can go down and come up.");
    }
    if (plane >= topology_.planes()) {
      refuse("link", fmt::format("link = \"{}\" is no plane of this topology", e.link),
             fmt::format("Planes are plane0 to plane{}.", topology_.planes() - 1));
    }
    const auto set = [this, fabric, plane](bool up) {
      for (NodeId h = 0; h < topology_.hosts(); ++h) fabric->set_link(topology_.host_link(h, plane), up);
    };
    if (lasts == 0 && e.what == "link-flap") lasts = kDefaultOutage;
    a.text = fmt::format("plane {} {}", plane, e.what == "link-up" ? "up" : "down");
    a.begin = [set, up = e.what == "link-up"] { set(up); };
    a.end = [set] { set(true); };
    if (lasts > 0 && e.what != "link-up") a.end_time = lasts;
    actions_.push_back(std::move(a));
    return;
  }
  const unsigned nic_links = topology_.hosts() * topology_.planes();
  if (e.link == "random") {
    link = draw(0, topology_.links());
  } else if (e.link == "random-nic") {
    link = draw(0, nic_links);
  } else if (e.link == "random-uplink") {
    link = draw(nic_links, topology_.links() - nic_links);
  } else {
    link = topology_.find_link(e.link);
    if (link == kNone) {
      refuse(
          "link", fmt::format("link = \"{}\" is no link of this topology", e.link),
          fmt::format("Links are nic0/0 to nic{}/{}{}; or write random.", topology_.hosts() - 1, topology_.planes() - 1,
                      topology_.clos() ? " and T0-<plane>-<number>:T1-<plane>-<number>" : ""));
    }
  }
  const std::string name = topology_.link_name(link);
  if (e.what == "link-down" || e.what == "link-flap") {
    if (lasts == 0 && e.what == "link-flap") lasts = kDefaultOutage;
    a.text = "link " + name + " down";
    a.begin = [fabric, link] { fabric->set_link(link, false); };
    a.end = [fabric, link] { fabric->set_link(link, true); };
  } else if (e.what == "link-up") {
    a.text = "link " + name + " up";
    a.begin = [fabric, link] { fabric->set_link(link, true); };
    lasts = 0;
  } else if (e.what == "link-loss") {
    a.text = fmt::format("link {} loses {:g} %", name, 100 * e.loss);
    const bool up = e.direction != "down", down = e.direction != "up";
    const auto set = [fabric, link, up, down](double loss) {
      if (up) fabric->set_impairment(link, true, {.loss = loss});
      if (down) fabric->set_impairment(link, false, {.loss = loss});
    };
    a.begin = [set, loss = e.loss] { set(loss); };
    a.end = [set] { set(0); };
  } else {  // link-rate
    if (e.gbps <= 0) refuse("gbps", "a rate of zero", "Give gbps above 0, or use what = \"link-down\".");
    const double before = link < nic_links ? topology_.config().gbps : topology_.uplink_gbps();
    a.text = fmt::format("link {} at {:g} Gb/s", name, e.gbps);
    a.begin = [fabric, link, rate = e.gbps] { (void)fabric->set_rate(link, rate); };
    a.end = [fabric, link, before] { (void)fabric->set_rate(link, before); };
  }
  if (lasts > 0) a.end_time = lasts;
  actions_.push_back(std::move(a));
}

}  // namespace mrc::sim
