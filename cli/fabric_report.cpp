// SPDX-License-Identifier: Apache-2.0
#include "cli/fabric_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/context.hpp"
#include "cli/fabric_jobs.hpp"
#include "cli/fabric_times.hpp"
#include "cli/output.hpp"
#include "cli/version.hpp"
#include "input/json.hpp"
#include "tb/compare/report.hpp"

namespace mrc::cli {
namespace {

using input::Json;
using sim::EventResult;
using sim::ExperimentResult;
using sim::GroupResult;
using sim::Sample;
using sim::Time;

double kb(uint64_t bytes) { return static_cast<double>(bytes) / 1e3; }
double gbps(uint64_t bytes, Time time) {
  return time > 0 ? static_cast<double>(bytes) * 8000.0 / static_cast<double>(time) : 0;
}

std::string recovery_text(const EventResult& e) {
  const std::string levels = fmt::format("{:.0f} before, {:.0f} Gb/s after", e.before_gbps, e.after_gbps);
  if (!e.dip) return levels + ", nothing between";
  return levels + fmt::format(", {:.0f} between, for {:.1f} us", e.lowest_gbps, us(*e.recovery));
}

/// "port 12, time 3"; nothing: "".
std::string causes_text(const std::array<uint64_t, sim::kLossCauses>& found) {
  std::string out;
  for (unsigned c = 0; c < sim::kLossCauses; ++c) {
    if (found[c] != 0)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", sim::kLossCauseNames[c], tb::grouped(found[c]));
  }
  return out;
}

/// Losses of the slowest flow that are told.
constexpr size_t kReported = 2;
std::span<const sim::LossStory> reported(const sim::SlowestFlow& s) {
  return std::span(s.losses).first(std::min(s.losses.size(), kReported));
}

/// Three lines: the flow, and the two losses that were back last.
std::string story(const sim::SlowestFlow& s, Time round_trip, Time bound) {
  const double trips = (us(s.done - s.begun) - us(bound)) / us(round_trip);
  std::string out =
      fmt::format("    slowest     {} to {}, {:.3f} to {:.3f} us, {:.1f} round trips over the bound, {} lost\n", s.from,
                  s.to, us(s.begun), us(s.done), trips, tb::grouped(s.lost));
  for (const sim::LossStory& l : reported(s)) {
    const sim::LossNote& n = l.note;
    out += fmt::format("      PSN {} of {:.3f} us, {}: known at {:.3f} ({})", n.psn, us(n.sent), l.by, us(n.known),
                       sim::kLossCauseNames[static_cast<unsigned>(n.cause)]);
    if (n.again != 0) out += fmt::format(", again at {:.3f} on plane {}", us(n.again), n.again_plane);
    if (n.back != 0) out += fmt::format(", reported at {:.3f}", us(n.back));
    out += '\n';
  }
  return out;
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
      const sim::Distribution& d = g.fct;
      out += fmt::format("    completion  P50 {:.3f}, P99 {:.3f}, P99.9 {:.3f}, P100 {:.3f} us", us(d.median),
                         us(d.p99), us(d.p999), us(d.max));
      out += fmt::format("; over the bound {:.3f}, {:.3f}, {:.3f}, {:.3f}\n", g.over(d.median), g.over(d.p99),
                         g.over(d.p999), g.over(d.max));
    }
    if (const std::string causes = causes_text(g.found); !causes.empty()) {
      out += "    lost        known by " + causes + "\n";
    }
    if (g.slowest) out += story(*g.slowest, r.round_trip, g.bound);
  }
  out += jobs_summary(r);
  constexpr size_t kShown = 12;
  size_t measured = 0;
  for (const EventResult& e : r.events) {
    if (e.measured && ++measured <= kShown)
      out += fmt::format("  at {:.1f} us: {}: {}\n", us(e.time), e.text, recovery_text(e));
  }
  if (measured > kShown) out += fmt::format("  ... and {} more events\n", measured - kShown);
  for (size_t i = 0; i < r.not_reached.size() && i < kShown; ++i)
    out += fmt::format("  event after the end, did not happen: {}\n", r.not_reached[i]);
  if (r.not_reached.size() > kShown)
    out += fmt::format("  ... and {} more after the end\n", r.not_reached.size() - kShown);
  for (const sim::FailureResult& f : r.failures) {
    out += fmt::format("  failures     {}: {} times, {:.3f} us in all\n", f.text, tb::grouped(f.times), us(f.lasted));
  }
  out += fmt::format(
      "  data packets {}, {} again ({} by timers), {} trimmed, {} marked, {} dropped, {} lost on links\n",
      tb::grouped(r.total.data_packets), tb::grouped(r.total.retransmissions), tb::grouped(r.total.timeouts),
      tb::grouped(r.trims), tb::grouped(r.marks), tb::grouped(r.drops), tb::grouped(r.lost));
  if (r.reopened != 0) {
    out += fmt::format("  QPs          {} failed, {} set up anew\n", tb::grouped(r.total.failed_qps),
                       tb::grouped(r.reopened));
  }
  for (const sim::DepthResult& d : r.depths) {
    if (d.p999 == 0) continue;
    out += fmt::format("  queues       {}: packets found P50 {:.1f}, P99 {:.1f}, P99.9 {:.1f}, P100 {:.1f} KB\n",
                       d.where, kb(d.p50), kb(d.p99), kb(d.p999), kb(d.p100));
  }
  if (r.total.returned != 0) {
    out += fmt::format("  sent back    {} packets came back to their senders\n", tb::grouped(r.total.returned));
  }
  out += fmt::format("  speed        {} data packets/s, {} events in {:.2f} s, {:.1f} MB\n",
                     tb::grouped(static_cast<uint64_t>(r.packets_per_second())), tb::grouped(r.fabric_events),
                     r.wall_seconds, static_cast<double>(r.memory) / 1e6);
  return out;
}

namespace {

Json causes_json(const std::array<uint64_t, sim::kLossCauses>& found) {
  Json j;
  for (unsigned c = 0; c < sim::kLossCauses; ++c) j[sim::kLossCauseNames[c]] = found[c];
  return j;
}

Json slowest_json(const sim::SlowestFlow& s) {
  Json j{{"flow", s.flow},          {"from", s.from},        {"to", s.to},
         {"begun_us", us(s.begun)}, {"done_us", us(s.done)}, {"lost", s.lost}};
  if (s.delivered != sim::kNever) j["delivered_us"] = us(s.delivered);
  j["last_back"] = Json::array();
  for (const sim::LossStory& l : reported(s)) {
    const sim::LossNote& n = l.note;
    Json loss{{"psn", n.psn},
              {"sent_us", us(n.sent)},
              {"way", l.by},
              {"known_us", us(n.known)},
              {"known_by", sim::kLossCauseNames[static_cast<unsigned>(n.cause)]}};
    if (n.again != 0) loss["again_us"] = us(n.again);
    if (n.again != 0) loss["again_plane"] = n.again_plane;
    if (n.back != 0) loss["reported_us"] = us(n.back);
    j["last_back"].push_back(loss);
  }
  return j;
}

double rounded(double x) { return std::round(x * 1e6) / 1e6; }

/// Completion times of a group at kCurve shares of its flows, in their order.
std::vector<Time> completion_curve(const ExperimentResult& r, const GroupResult& group) {
  constexpr size_t kCurve = 200;
  std::vector<Time> times;
  for (const sim::Flow& f : r.flows) {
    if (&r.groups[f.group] == &group && f.done != sim::kNever && !f.failed) times.push_back(f.done - f.begun);
  }
  std::sort(times.begin(), times.end());
  if (times.size() <= kCurve) return times;
  std::vector<Time> curve;
  for (size_t i = 1; i <= kCurve; ++i) curve.push_back(times[(times.size() * i + kCurve - 1) / kCurve - 1]);
  return curve;
}

/// Of Sample::deepest.
constexpr const char* kDeepest[] = {"T0 to NIC", "T0 to T1", "T1"};

/// Curves, of at most so many points.
Json series_json(const ExperimentResult& r) {
  constexpr size_t kPoints = 2000;
  const size_t step = std::max<size_t>(1, (r.samples.size() + kPoints - 1) / kPoints);
  Json s = Json::object();
  for (size_t i = step; i < r.samples.size(); i += step) {
    const Sample &a = r.samples[i - step], &b = r.samples[i];
    s["time_us"].push_back(us(b.time));
    s["goodput_gbps"].push_back(rounded(gbps(b.delivered - a.delivered, b.time - a.time)));
    s["retransmissions"].push_back(b.retransmissions);
    s["trims"].push_back(b.trims);
    s["marks"].push_back(b.marks);
    s["lost"].push_back(b.lost + b.drops);
    s["evs_bad"].push_back(b.evs.assumed_bad);
    for (unsigned k = 0; k < b.deepest.size(); ++k) s["deepest_bytes"][kDeepest[k]].push_back(b.deepest[k]);
    for (const sim::TierResult& l : r.tiers) {
      const uint64_t bytes = b.tier_bytes[l.tier][l.plane] - a.tier_bytes[l.tier][l.plane];
      Json& planes = s["gbps"][sim::kTiers[l.tier]];
      if (planes.items.size() <= l.plane) planes.push_back(Json::array());
      planes.items[l.plane].push_back(std::round(100 * gbps(bytes, b.time - a.time)) / 100);
    }
  }
  return s;
}

}  // namespace

std::string fabric_json(const ExperimentResult& r, bool curves, const std::string& run_id) {
  Json j;
  j["run"] = run_id;
  j["scenario"] = r.scenario;
  j["description"] = r.description;
  j["outcome"] = sim::outcome_name(r.outcome);
  j["complete"] = r.outcome == sim::Outcome::Done || r.outcome == sim::Outcome::OpenEnd;
  if (!r.reason.empty()) j["reason"] = r.reason;
  j["seed"] = r.seed;
  if (r.failure_rates != 1) j["failure_rates"] = r.failure_rates;
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
    Json traffic{{"label", g.label},
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
                   {"max", us(g.fct.max)}}}};
    if (const std::vector<Time> curve = completion_curve(r, g); !curve.empty()) {
      for (const Time t : curve) traffic["fct_curve_us"].push_back(rounded(us(t)));
    }
    traffic["over_bound"] = {{"p50", g.over(g.fct.median)},
                             {"p99", g.over(g.fct.p99)},
                             {"p99.9", g.over(g.fct.p999)},
                             {"p100", g.over(g.fct.max)}};
    traffic["late_us"] = {
        {"median", us(g.late.median)}, {"p99", us(g.late.p99)}, {"p99.9", us(g.late.p999)}, {"max", us(g.late.max)}};
    traffic["lost_known_by"] = causes_json(g.found);
    if (g.slowest) traffic["slowest"] = slowest_json(*g.slowest);
    j["traffic"].push_back(traffic);
  }
  if (!r.jobs.empty()) j["jobs"] = jobs_json(r);
  j["events"] = Json::array();
  for (const EventResult& e : r.events) {
    Json event{{"time_us", us(e.time)}, {"what", e.text}};
    if (e.lasts > 0) event["lasts_us"] = us(e.lasts);
    if (e.measured) {
      event["before_gbps"] = e.before_gbps;
      event["lowest_gbps"] = e.lowest_gbps;
      event["after_gbps"] = e.after_gbps;
      event["recovery_us"] = e.dip ? Json(us(*e.recovery)) : Json(0);
    }
    j["events"].push_back(event);
  }
  for (const sim::FailureResult& f : r.failures) {
    j["failures"].push_back(Json{{"what", f.text}, {"times", f.times}, {"lasted_us", us(f.lasted)}});
  }
  if (!r.not_reached.empty()) j["events_not_reached"] = r.not_reached;
  const sim::EndpointStats& t = r.total;
  j["totals"] = {{"asked_bytes", r.requested_bytes},
                 {"delivered_bytes", t.delivered_bytes},
                 {"data_packets", t.data_packets},
                 {"retransmissions", t.retransmissions},
                 {"timeouts", t.timeouts},
                 {"lost_known_by", causes_json(t.found)},
                 {"duplicates", t.duplicates},
                 {"sacks", t.sacks},
                 {"nacks", t.nacks},
                 {"acks", t.acks},
                 {"probes", t.probes},
                 {"failed_qps", t.failed_qps},
                 {"reopened_qps", r.reopened},
                 {"trims", r.trims},
                 {"marks", r.marks},
                 {"drops", r.drops},
                 {"lost_on_links", r.lost},
                 {"discards", r.discards},
                 {"returned", t.returned}};
  j["links"] = Json::array();
  for (const sim::TierResult& l : r.tiers) {
    if (l.tier == 0) j["plane_bytes"].push_back(l.bytes);
    j["links"].push_back(Json{{"tier", sim::kTiers[l.tier]},
                              {"plane", l.plane},
                              {"links", l.links},
                              {"load", rounded(l.load)},
                              {"most_load", rounded(l.most_load)},
                              {"packets", l.packets},
                              {"bytes", l.bytes},
                              {"deepest_bytes", l.deepest},
                              {"marks", l.marks},
                              {"trims", l.trims},
                              {"drops", l.drops},
                              {"lost", l.lost}});
  }
  j["queues"] = Json::array();
  for (const sim::DepthResult& d : r.depths) {
    j["queues"].push_back(Json{{"where", d.where},
                               {"packets", d.packets},
                               {"p50_bytes", d.p50},
                               {"p99_bytes", d.p99},
                               {"p99.9_bytes", d.p999},
                               {"p100_bytes", d.p100}});
  }
  j["events_digest"] = fmt::format("{:016x}", r.events_digest);
  j["speed"] = {{"threads", r.threads},
                {"packets_per_second", r.packets_per_second()},
                {"wall_seconds", r.wall_seconds},
                {"cpu_seconds", r.cpu_seconds},
                {"fabric_events", r.fabric_events},
                {"memory_bytes", r.memory}};
  j["versions"] = versions();
  if (curves) j["series"] = series_json(r);
  return j.dump(2) + "\n";
}

namespace {

/// Columns over time, one row per sample, as gnuplot and spreadsheets read them.
std::string series_csv(const ExperimentResult& r) {
  std::string out = "time_us,goodput_gbps,data_packets,retransmissions,trims,marks,drops,lost";
  for (unsigned p = 0; p < r.planes; ++p) out += fmt::format(",plane{}_gbps", p);
  out += ",queue_T0_to_nic_bytes,queue_T0_to_T1_bytes,queue_T1_to_T0_bytes,evs_good,evs_skip,evs_bad,evs_denied";
  for (const GroupResult& g : r.groups) {
    if (g.has_curve) out += ",\"" + g.label + "_gbps\"";
  }
  out += '\n';
  for (size_t i = 1; i < r.samples.size(); ++i) {
    const Sample &a = r.samples[i - 1], &b = r.samples[i];
    const Time dt = b.time - a.time;
    out += fmt::format("{:.4f},{:.4f},{},{},{},{},{},{}", us(b.time), gbps(b.delivered - a.delivered, dt),
                       b.data_packets, b.retransmissions, b.trims, b.marks, b.drops, b.lost);
    for (unsigned p = 0; p < r.planes; ++p)
      out += fmt::format(",{:.4f}", gbps(b.tier_bytes[0][p] - a.tier_bytes[0][p], dt));
    out += fmt::format(",{},{},{},{},{},{},{}", b.deepest[0], b.deepest[1], b.deepest[2], b.evs.good, b.evs.skip,
                       b.evs.assumed_bad, b.evs.denied);
    for (size_t g = 0; g < r.groups.size(); ++g) {
      if (r.groups[g].has_curve) out += fmt::format(",{:.4f}", gbps(b.group_delivered[g] - a.group_delivered[g], dt));
    }
    out += '\n';
  }
  return out;
}

std::string flows_csv(const ExperimentResult& r, const sim::Topology& t) {
  std::string out = "flow,traffic,from,to,bytes,begun_us,delivered_us,done_us,completion_us,failed\n";
  const auto time = [](Time at) { return at == sim::kNever ? std::string() : fmt::format("{:.6f}", us(at)); };
  for (size_t i = 0; i < r.flows.size(); ++i) {
    const sim::Flow& f = r.flows[i];
    out += fmt::format("{},\"{}\",{},{},{},{},{},{},{},{}\n", i, r.groups[f.group].label, t.node_name(f.from),
                       t.node_name(f.to), f.bytes, time(f.begun), time(f.delivered), time(f.done),
                       f.done == sim::kNever ? "" : time(f.done - f.begun), f.failed ? 1 : 0);
  }
  return out;
}

std::string ports_csv(const ExperimentResult& r) {
  std::string out = "port,packets,bytes,load,deepest_queue_bytes,marks,trims,drops,lost\n";
  for (const sim::PortResult& p : r.ports) {
    out += fmt::format("{},{},{},{:.5f},{},{},{},{},{}\n", p.name, p.packets, p.bytes, p.load, p.deepest, p.marks,
                       p.trims, p.drops, p.lost);
  }
  return out;
}

/// A table with the id of the run as its last column.
std::string with_run(const std::string& csv, const std::string& run_id) {
  std::string out;
  for (size_t at = 0, end = 0; (end = csv.find('\n', at)) != std::string::npos; at = end + 1)
    out.append(csv, at, end - at).append(at == 0 ? ",run\n" : "," + run_id + "\n");
  return out;
}

}  // namespace

void write_fabric_tables(const std::filesystem::path& folder, const ExperimentResult& r, const sim::Topology& topology,
                         const std::string& run_id, Outputs& outputs) {
  // Each by itself: what one of them cannot do takes nothing from the others.
  const auto file = [&](const char* name, const auto& text) {
    outputs.attempt([&] {
      Output out("", (folder / name).string());
      out.stream() << text();
      out.commit();
    });
  };
  file("result.json", [&] { return fabric_json(r, false, run_id); });
  file("series.csv", [&] { return with_run(series_csv(r), run_id); });
  file("flows.csv", [&] { return with_run(flows_csv(r, topology), run_id); });
  if (!r.jobs.empty()) file("steps.csv", [&] { return with_run(steps_csv(r, topology), run_id); });
  file("ports.csv", [&] { return with_run(ports_csv(r), run_id); });
  file("topology.svg", [&] { return sim::topology_svg(topology) + "<!-- run " + run_id + " -->\n"; });
}

}  // namespace mrc::cli
