// SPDX-License-Identifier: Apache-2.0
#include "cli/fabric_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "cli/gnuplot.hpp"
#include "cli/output_file.hpp"
#include "cli/version.hpp"
#include "tb/report.hpp"

namespace mrc::cli {
namespace {

using Json = nlohmann::ordered_json;
using sim::EventResult;
using sim::ExperimentResult;
using sim::GroupResult;
using sim::Sample;
using sim::Time;

double us(Time t) { return static_cast<double>(t) / static_cast<double>(sim::kUs); }
double gbps(uint64_t bytes, Time time) {
  return time > 0 ? static_cast<double>(bytes) * 8000.0 / static_cast<double>(time) : 0;
}

std::string recovery_text(const EventResult& e) {
  if (!e.measured) return "not measured";
  const std::string levels = fmt::format("{:.0f} before, {:.0f} Gb/s after", e.before_gbps, e.after_gbps);
  if (!e.dip) return levels + ", nothing between";
  return levels + fmt::format(", {:.0f} between, for {:.1f} us", e.lowest_gbps, us(*e.recovery));
}

}  // namespace

std::string fabric_summary(const ExperimentResult& r) {
  std::string out =
      fmt::format("{}: {}{}\n", r.scenario, sim::outcome_name(r.outcome), r.reason.empty() ? "" : ", " + r.reason);
  out += fmt::format("  fabric       {} NICs of {:g} Gb/s in {} plane{}, {} switches, {} links, {} QPs, {}\n", r.nics,
                     r.nic_gbps, r.planes, r.planes == 1 ? "" : "s", r.switches, r.links, r.qps, r.transport);
  out += fmt::format("  simulated    {:.3f} us, round trip {:.2f} us\n", us(r.time), us(r.round_trip));
  for (const GroupResult& g : r.groups) {
    out += fmt::format("  {}: {} of {} flows, {} bytes in {:.3f} us, {:.1f} Gb/s, {:.4f} of the bound\n", g.label,
                       g.finished, g.flows, tb::grouped(g.bytes), us(g.end > g.begin ? g.end - g.begin : 0),
                       g.goodput_gbps,
                       g.finished ? static_cast<double>(g.end - g.begin) / static_cast<double>(g.bound) : 0.0);
    if (g.fct.count > 0) {
      out += fmt::format("    completion  min {:.3f}, median {:.3f}, p99 {:.3f}, p99.9 {:.3f}, max {:.3f} us\n",
                         us(g.fct.min), us(g.fct.median), us(g.fct.p99), us(g.fct.p999), us(g.fct.max));
    }
  }
  constexpr size_t kShown = 12;
  for (size_t i = 0; i < r.events.size() && i < kShown; ++i) {
    out += fmt::format("  at {:.1f} us: {}: {}\n", us(r.events[i].time), r.events[i].text, recovery_text(r.events[i]));
  }
  if (r.events.size() > kShown) out += fmt::format("  ... and {} more events\n", r.events.size() - kShown);
  out += fmt::format(
      "  data packets {}, {} again ({} by timers), {} trimmed, {} marked, {} dropped, {} lost on links\n",
      tb::grouped(r.total.data_packets), tb::grouped(r.total.retransmissions), tb::grouped(r.total.timeouts),
      tb::grouped(r.trims), tb::grouped(r.marks), tb::grouped(r.drops), tb::grouped(r.lost));
  out += fmt::format("  speed        {} data packets/s, {} events in {:.2f} s, {:.1f} MB\n",
                     tb::grouped(static_cast<uint64_t>(r.packets_per_second())), tb::grouped(r.fabric_events),
                     r.wall_seconds, static_cast<double>(r.memory) / 1e6);
  return out;
}

std::string fabric_json(const ExperimentResult& r, bool curves) {
  Json j;
  j["scenario"] = r.scenario;
  j["description"] = r.description;
  j["outcome"] = sim::outcome_name(r.outcome);
  j["complete"] = r.outcome == sim::Outcome::Done || r.outcome == sim::Outcome::OpenEnd;
  if (!r.reason.empty()) j["reason"] = r.reason;
  j["seed"] = r.seed;
  j["transport"] = r.transport;
  j["simulated_us"] = us(r.time);
  j["fabric"] = {{"nics", r.nics},
                 {"nic_gbps", r.nic_gbps},
                 {"planes", r.planes},
                 {"switches", r.switches},
                 {"links", r.links},
                 {"qps", r.qps},
                 {"round_trip_us", us(r.round_trip)}};
  j["max_fct_over_bound"] = r.over_bound();
  for (const GroupResult& g : r.groups) {
    j["traffic"].push_back({{"label", g.label},
                            {"pattern", g.pattern},
                            {"flows", g.flows},
                            {"finished", g.finished},
                            {"failed", g.failed},
                            {"bytes", g.bytes},
                            {"begin_us", us(g.begin)},
                            {"end_us", us(g.end)},
                            {"bound_us", us(g.bound)},
                            {"goodput_gbps", g.goodput_gbps},
                            {"fct_us",
                             {{"min", us(g.fct.min)},
                              {"median", us(g.fct.median)},
                              {"p99", us(g.fct.p99)},
                              {"p99.9", us(g.fct.p999)},
                              {"max", us(g.fct.max)}}}});
  }
  j["events"] = Json::array();
  for (const EventResult& e : r.events) {
    Json event{{"time_us", us(e.time)}, {"what", e.text}};
    if (e.measured) {
      event["before_gbps"] = e.before_gbps;
      event["lowest_gbps"] = e.lowest_gbps;
      event["after_gbps"] = e.after_gbps;
      event["recovery_us"] = e.dip ? Json(us(*e.recovery)) : Json(0);
    }
    j["events"].push_back(event);
  }
  const sim::EndpointStats& t = r.total;
  j["totals"] = {{"asked_bytes", r.asked_bytes},
                 {"delivered_bytes", t.delivered_bytes},
                 {"data_packets", t.data_packets},
                 {"retransmissions", t.retransmissions},
                 {"timeouts", t.timeouts},
                 {"duplicates", t.duplicates},
                 {"sacks", t.sacks},
                 {"nacks", t.nacks},
                 {"acks", t.acks},
                 {"probes", t.probes},
                 {"failed_qps", t.failed_qps},
                 {"trims", r.trims},
                 {"marks", r.marks},
                 {"drops", r.drops},
                 {"lost_on_links", r.lost},
                 {"discards", r.discards}};
  if (!r.samples.empty()) {
    for (unsigned p = 0; p < r.planes; ++p) j["plane_bytes"].push_back(r.samples.back().plane_bytes[p]);
  }
  j["speed"] = {{"packets_per_second", r.packets_per_second()},
                {"wall_seconds", r.wall_seconds},
                {"cpu_seconds", r.cpu_seconds},
                {"fabric_events", r.fabric_events},
                {"memory_bytes", r.memory}};
  j["versions"] = {{"mrcnic", MRC_VERSION}, {"compiler", __VERSION__}};
  if (curves) {
    Json s;
    for (size_t i = 1; i < r.samples.size(); ++i) {
      const Sample &a = r.samples[i - 1], &b = r.samples[i];
      s["time_us"].push_back(us(b.time));
      s["goodput_gbps"].push_back(gbps(b.delivered - a.delivered, b.time - a.time));
      s["retransmissions"].push_back(b.retransmissions);
      s["trims"].push_back(b.trims);
      s["marks"].push_back(b.marks);
      s["evs_bad"].push_back(b.evs.assumed_bad);
    }
    j["series"] = s;
  }
  return j.dump(2) + "\n";
}

}  // namespace mrc::cli
