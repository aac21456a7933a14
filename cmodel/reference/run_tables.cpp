// SPDX-License-Identifier: Apache-2.0
/// What a run tells besides what is wrong: who spoke to whom, when, and how devices read open questions.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "log/address.hpp"
#include "reference/run.hpp"

namespace mrc::ref {
namespace {

using input::Json;

constexpr std::size_t kFewWays = 8, kFewReadings = 16;  ///< lines of text that are shown unasked

std::string qp_text(std::optional<uint32_t> qp) { return qp ? fmt::format("0x{:x}", *qp) : "?"; }

std::string from_to(std::optional<uint16_t> first, std::optional<uint16_t> last) {
  return first && last ? fmt::format("{} to {}", *first, *last) : "none";
}

std::string window_text(const Way& way) {
  return way.granted == 0 ? std::to_string(way.outstanding) : fmt::format("{} of {}", way.outstanding, way.granted);
}

std::string evs_text(const Way& way) {
  std::string text;
  for (const auto& [plane, count] : way.evs) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", plane, count);
  return text;
}

std::string completions_text(const Way& way) {
  std::string text;
  if (way.completions.count() != 0) {
    text =
        fmt::format("{}: half {}, 99 % {}, longest {}", way.completions.count(), time_text(way.completions.within(0.5)),
                    time_text(way.completions.within(0.99)), time_text(way.completions.longest()));
  }
  if (way.untimed != 0) text += fmt::format("{}{} not timed", text.empty() ? "" : "; ", way.untimed);
  return text.empty() ? "none" : text;
}

/// The setting that a question asks for, in a device of which nothing is told.
std::optional<uint32_t> default_of(const Question& question) {
  const auto all = settings();
  const auto at = std::ranges::find(all, std::string_view(question.setting), [](const Setting& s) { return s.name; });
  return at == all.end() ? std::nullopt : std::optional(at->get(Settings{}));
}

}  // namespace

/// The name of a device, unless it is an address itself.
std::string Run::who(std::optional<uint32_t> device, const log::Ip& address) const {
  if (!device) return log::address_text(address);
  const std::string& name = name_of_device(*device);
  return name.empty() || log::address_of(name) ? log::address_text(address) : name;
}

Table Run::ways_table() const {
  Table table{{"from", "QP", "to", "QP", "PSNs", "MSNs", "RQMSNs", "P_Key", "MTU", "packets", "again", "lost",
               "trimmed", "marked", "missing", "window", "EVs per plane", "messages with immediate"},
              {}};
  for (const Way& way : traffic_->ways()) {
    table.rows.push_back({who(way.sender, way.from), qp_text(way.qp), who(way.receiver, way.to), qp_text(way.peer_qp),
                          fmt::format("{} to {}", way.first_psn, way.last_psn), from_to(way.first_msn, way.last_msn),
                          from_to(way.first_rqmsn, way.last_rqmsn), fmt::format("0x{:04x}", way.pkey),
                          way.mtu == 0 ? "?" : std::to_string(way.mtu), std::to_string(way.packets),
                          std::to_string(way.again), std::to_string(way.lost), std::to_string(way.trimmed),
                          std::to_string(way.marked), std::to_string(way.missing), window_text(way), evs_text(way),
                          completions_text(way)});
  }
  return table;
}

std::string Run::ways_text() const {
  const Table table = ways_table();
  std::string text;
  if (table.rows.size() > kFewWays && !options_.every_way) {
    text = fmt::format("  {} ways of data between QPs: --qps lists them\n", table.rows.size());
  } else if (!table.rows.empty()) {
    text = ref::to_text(table, "  ");
  }
  if (options_.every_way) {
    const Table facts = facts_table();
    if (!facts.rows.empty())
      text += "  what frames tell of these QPs, and by which packets\n" + ref::to_text(facts, "  ");
  }
  if (traffic_->beyond() != 0) {
    text += fmt::format("  {} frames are of more ways between QPs than are held\n", traffic_->beyond());
  }
  return text;
}

Json Run::ways_json() const {
  Json list = Json::array();
  for (const Way& way : traffic_->ways()) {
    Json entry{{"from", log::address_text(way.from)}, {"to", log::address_text(way.to)}};
    if (way.sender) entry["from_device"] = name_of_device(*way.sender);
    if (way.receiver) entry["to_device"] = name_of_device(*way.receiver);
    if (way.qp) entry["from_qp"] = *way.qp;
    entry.update(
        {{"to_qp", way.peer_qp}, {"p_key", way.pkey}, {"first_psn", way.first_psn}, {"last_psn", way.last_psn}});
    const auto notified = [&](const char* key, std::optional<uint32_t> value) {
      if (value) entry[key] = *value;
    };
    notified("mtu", way.mtu == 0 ? std::nullopt : std::optional(way.mtu));
    notified("first_msn", way.first_msn);
    notified("last_msn", way.last_msn);
    notified("first_rqmsn", way.first_rqmsn);
    notified("last_rqmsn", way.last_rqmsn);
    entry.update({{"packets", way.packets},
                  {"again", way.again},
                  {"lost", way.lost},
                  {"trimmed", way.trimmed},
                  {"marked", way.marked},
                  {"missing", way.missing}});
    if (way.arrived) entry["arrived"] = *way.arrived;
    entry["outstanding"] = way.outstanding;
    if (way.granted != 0) entry["granted"] = way.granted;
    Json& evs = entry["evs_per_plane"] = Json::object();
    for (const auto& [plane, count] : way.evs) evs[std::to_string(plane)] = count;
    Json& done = entry["immediates"] = Json{{"timed", way.completions.count()}, {"untimed", way.untimed}};
    if (way.completions.count() != 0) {
      done.update({{"half_ps", way.completions.within(0.5)},
                   {"p99_ps", way.completions.within(0.99)},
                   {"longest_ps", way.completions.longest()}});
    }
    Json by = Json::array();
    for (const log::Fact& fact : facts_of(way)) {
      by.push_back({{"fact", fact.about},
                    {"value", fact.value},
                    {"packets", fact.packets},
                    {"first", {{"packet", fact.first.number}, {"capture", fact.first.capture}}},
                    {"last", {{"packet", fact.last.number}, {"capture", fact.last.capture}}}});
    }
    if (!by.items.empty()) entry["facts"] = std::move(by);
    list.push_back(std::move(entry));
  }
  return list;
}

/// What frames tell of its QPs; none: they were not asked.
std::span<const log::Fact> Run::facts_of(const Way& way) const {
  if (!evidence_) return {};
  const log::FactsOfWay wanted{way.from, way.to, way.peer_qp, {}};
  const auto at = std::ranges::lower_bound(evidence_->facts, wanted, log::FactsOfWay::before);
  if (at == evidence_->facts.end() || log::FactsOfWay::before(wanted, *at)) return {};
  return at->facts;
}

Table Run::facts_table() const {
  Table table{{"from", "to", "QP", "told", "", "packets", "the first one", "the last one"}, {}};
  for (const Way& way : traffic_->ways()) {
    for (const log::Fact& fact : facts_of(way)) {
      table.rows.push_back({who(way.sender, way.from), who(way.receiver, way.to), qp_text(way.peer_qp), fact.about,
                            fact.value, std::to_string(fact.packets), packet(fact.first.capture, fact.first.number),
                            packet(fact.last.capture, fact.last.number)});
    }
  }
  return table;
}

Timeline Run::timeline() const {
  Timeline sum = traffic_->timeline();
  for (const auto& [number, device] : devices_) {
    if (device.judge) sum.add(device.judge->report().timeline(), {Timeline::Findings});
  }
  return sum;
}

Table Run::readings_table() const {
  Table table{{"device", "question", "", "reading", "packets", "the first one"}, {}};
  for (const auto& [number, device] : devices_) {
    if (!device.readings) continue;
    for (std::size_t i = 0; i < Readings::questions().size(); ++i) {
      const Question& question = Readings::questions()[i];
      for (const Reading& r : device.readings->of(i)) {
        table.rows.push_back({device.name, question.assumption, question.about, r.words, std::to_string(r.packets),
                              packet(r.capture, r.first)});
      }
    }
  }
  return table;
}

/// What a device has chosen that is not the default, and what it does in two ways.
std::string Run::readings_text() const {
  std::vector<std::string> lines;
  for (const auto& [number, device] : devices_) {
    if (!device.readings) continue;
    for (std::size_t i = 0; i < Readings::questions().size(); ++i) {
      const Question& question = Readings::questions()[i];
      const auto some = device.readings->of(i);
      const std::string begin = fmt::format("{} {}: ", device.name, question.assumption);
      if (some.size() > 1) {
        lines.push_back(begin + fmt::format("both: {} ({}) and {} ({})", some[0].words,
                                            packet(some[0].capture, some[0].first), some[1].words,
                                            packet(some[1].capture, some[1].first)));
      } else if (some.size() == 1 && some[0].value != default_of(question)) {
        lines.push_back(begin + fmt::format("{}, {} packets", some[0].words, some[0].packets));
      }
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), kFewReadings); ++i) text += "  " + lines[i] + "\n";
  if (lines.size() > kFewReadings) {
    text += fmt::format("  {} readings more of open questions: --json has them\n", lines.size() - kFewReadings);
  }
  return text;
}

Json Run::readings_json() const {
  Json list = Json::array();
  for (const auto& [number, device] : devices_) {
    if (!device.readings || device.readings->empty()) continue;
    list.push_back({{"device", device.name}});
    list.items.back()["questions"] = device.readings->json();
  }
  return list;
}

}  // namespace mrc::ref
