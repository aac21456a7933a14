// SPDX-License-Identifier: Apache-2.0
#include "cli/fabric_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cli/context.hpp"
#include "cli/fabric_jobs.hpp"
#include "cli/gnuplot.hpp"
#include "cli/output.hpp"
#include "cli/version.hpp"
#include "input/json.hpp"
#include "picture/chart.hpp"
#include "tb/compare/report.hpp"

namespace mrc::cli {
namespace {

using input::Json;
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
constexpr size_t kTold = 2;
std::span<const sim::LossStory> told(const sim::SlowestFlow& s) {
  return std::span(s.losses).first(std::min(s.losses.size(), kTold));
}

/// Three lines: the flow, and the two losses that were back last.
std::string story(const sim::SlowestFlow& s, Time round_trip, Time bound) {
  const double trips = (us(s.done - s.begun) - us(bound)) / us(round_trip);
  std::string out =
      fmt::format("    slowest     {} to {}, {:.3f} to {:.3f} us, {:.1f} round trips over the bound, {} lost\n", s.from,
                  s.to, us(s.begun), us(s.done), trips, tb::grouped(s.lost));
  for (const sim::LossStory& l : told(s)) {
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
  for (const sim::LossStory& l : told(s)) {
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
    traffic["over_bound"] = {{"p50", g.over(g.fct.median)},
                             {"p99", g.over(g.fct.p99)},
                             {"p99.9", g.over(g.fct.p999)},
                             {"p100", g.over(g.fct.max)}};
    traffic["lost_known_by"] = causes_json(g.found);
    if (g.slowest) traffic["slowest"] = slowest_json(*g.slowest);
    j["traffic"].push_back(traffic);
  }
  if (!r.jobs.empty()) j["jobs"] = jobs_json(r);
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
  for (const sim::FailureResult& f : r.failures) {
    j["failures"].push_back(Json{{"what", f.text}, {"times", f.times}, {"lasted_us", us(f.lasted)}});
  }
  if (!r.not_reached.empty()) j["events_not_reached"] = r.not_reached;
  const sim::EndpointStats& t = r.total;
  j["totals"] = {{"asked_bytes", r.asked_bytes},
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
                 {"trims", r.trims},
                 {"marks", r.marks},
                 {"drops", r.drops},
                 {"lost_on_links", r.lost},
                 {"discards", r.discards},
                 {"returned", t.returned}};
  if (!r.samples.empty()) {
    for (unsigned p = 0; p < r.planes; ++p) j["plane_bytes"].push_back(r.samples.back().plane_bytes[p]);
  }
  j["events_digest"] = fmt::format("{:016x}", r.events_digest);
  j["speed"] = {{"threads", r.threads},
                {"packets_per_second", r.packets_per_second()},
                {"wall_seconds", r.wall_seconds},
                {"cpu_seconds", r.cpu_seconds},
                {"fabric_events", r.fabric_events},
                {"memory_bytes", r.memory}};
  j["versions"] = versions();
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
      out += fmt::format(",{:.4f}", gbps(b.plane_bytes[p] - a.plane_bytes[p], dt));
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

/// A picture of the series: data inline, events as lines.
class Picture {
 public:
  Picture(const ExperimentResult& r, std::string title, std::string y) : r_(r) {
    script_ = fmt::format(
        "set title '{}'\nset xlabel 'time, us'\nset ylabel '{}'\nset grid\nset key outside right top\nset style data "
        "lines\n",
        title, y);
    size_t shown = 0;
    for (const EventResult& e : r.events) {
      if (++shown > 100) break;
      script_ += fmt::format(
          "set arrow from {0:.4f}, graph 0 to {0:.4f}, graph 1 nohead dashtype 2 linecolor rgb '#bbbbbb' back\n",
          us(e.time));
    }
  }
  template <class F>
  void curve(const std::string& name, F value) {
    std::string quoted = name;
    for (char& c : quoted) c = c == '\'' || c == '\n' ? ' ' : c;
    data_ += fmt::format("$d{} << EOD\n", count_);
    for (size_t i = 1; i < r_.samples.size(); ++i) {
      const auto y = static_cast<double>(value(r_.samples[i - 1], r_.samples[i]));
      highest_ = std::max(highest_, y);
      data_ += fmt::format("{:.4f} {:.4f}\n", us(r_.samples[i].time), y);
    }
    data_ += "EOD\n";
    plots_ += fmt::format("{}$d{} title '{}' noenhanced linewidth 1.5", count_ ? ", " : "", count_, quoted);
    ++count_;
  }
  std::string draw() const {
    const std::string range =
        fmt::format("set yrange [0:{}]\n", highest_ > 0 ? fmt::format("{:.4f}", 1.05 * highest_) : "1");
    return plot_svg(900, 320, data_ + script_ + range + "plot " + plots_ + "\n");
  }

 private:
  const ExperimentResult& r_;
  std::string data_, script_, plots_;
  unsigned count_ = 0;
  double highest_ = 0;
};

/// "" when no flow has ended.
std::string draw_completion(const ExperimentResult& r) {
  std::string script =
                  "set title 'Flow completion times'\nset xlabel 'time, us'\nset ylabel 'share of flows'\nset grid\n"
                  "set key outside right top\nset xrange [0:*]\nset yrange [0:1]\nset style data steps\n",
              data, plots;
  for (size_t g = 0; g < r.groups.size(); ++g) {
    std::vector<Time> times;
    for (const sim::Flow& f : r.flows) {
      if (f.group == g && f.done != sim::kNever && !f.failed) times.push_back(f.done - f.begun);
    }
    if (times.empty()) continue;
    std::sort(times.begin(), times.end());
    std::string label = r.groups[g].label;
    for (char& c : label) c = c == '\'' || c == '\n' ? ' ' : c;
    data += fmt::format("$d{} << EOD\n{:.4f} 0\n", g, us(times.front()));
    const size_t step = std::max<size_t>(1, times.size() / 2000);
    for (size_t i = 0; i < times.size(); i += step)
      data +=
          fmt::format("{:.4f} {:.6f}\n", us(times[i]), static_cast<double>(i + 1) / static_cast<double>(times.size()));
    data += fmt::format("{:.4f} 1\nEOD\n", us(times.back()));
    plots += fmt::format("{}$d{} title '{}' noenhanced linewidth 1.5", plots.empty() ? "" : ", ", g, label);
  }
  return plots.empty() ? "" : plot_svg(900, 320, data + script + "plot " + plots + "\n");
}

struct PictureFile {
  std::string file, caption;
};

/// Calls add(file, caption, what draws it) for each picture that this result has.
template <class Add>
void draw_pictures(const ExperimentResult& r, Add&& add) {
  if (r.samples.size() > 2) {
    Picture goodput(r, "Goodput", "Gb/s");
    goodput.curve("all",
                  [](const Sample& a, const Sample& b) { return gbps(b.delivered - a.delivered, b.time - a.time); });
    if (r.groups.size() > 1) {
      for (size_t g = 0; g < r.groups.size(); ++g) {
        if (r.groups[g].has_curve)
          goodput.curve(r.groups[g].label, [g](const Sample& a, const Sample& b) {
            return gbps(b.group_delivered[g] - a.group_delivered[g], b.time - a.time);
          });
      }
    }
    add("goodput.svg", "Payload that arrived. Dashed: events.", [&] { return goodput.draw(); });
    Picture planes(r, "Load of the planes, all NICs", "Gb/s");
    for (unsigned p = 0; p < r.planes; ++p)
      planes.curve(fmt::format("plane {}", p), [p](const Sample& a, const Sample& b) {
        return gbps(b.plane_bytes[p] - a.plane_bytes[p], b.time - a.time);
      });
    add("planes.svg", "What NICs sent into each plane, headers included.", [&] { return planes.draw(); });
    Picture queues(r, "Deepest queues", "bytes");
    queues.curve("T0 to NIC", [](const Sample&, const Sample& b) { return b.deepest[0]; });
    queues.curve("T0 to T1", [](const Sample&, const Sample& b) { return b.deepest[1]; });
    queues.curve("T1 to T0", [](const Sample&, const Sample& b) { return b.deepest[2]; });
    add("queues.svg", "The fullest port of each kind at the time of the sample.", [&] { return queues.draw(); });
    Picture trouble(r, "Trims, marks, losses, retransmissions", "packets since the last sample");
    trouble.curve("trimmed", [](const Sample& a, const Sample& b) { return b.trims - a.trims; });
    trouble.curve("marked", [](const Sample& a, const Sample& b) { return b.marks - a.marks; });
    trouble.curve("dropped", [](const Sample& a, const Sample& b) { return b.drops - a.drops; });
    trouble.curve("lost on links", [](const Sample& a, const Sample& b) { return b.lost - a.lost; });
    trouble.curve("sent again", [](const Sample& a, const Sample& b) { return b.retransmissions - a.retransmissions; });
    add("trouble.svg", "What switches and links did to packets, and what was sent again.",
        [&] { return trouble.draw(); });
    Picture evs(r, "Entropy values out of use", "entropy values");
    evs.curve("skipped once", [](const Sample&, const Sample& b) { return b.evs.skip; });
    evs.curve("assumed bad", [](const Sample&, const Sample& b) { return b.evs.assumed_bad; });
    evs.curve("denied", [](const Sample&, const Sample& b) { return b.evs.denied; });
    add("evs.svg", "Of the sending QPs (the first 512).", [&] { return evs.draw(); });
  }
  if (std::any_of(r.groups.begin(), r.groups.end(), [](const GroupResult& g) { return g.fct.count > 0; })) {
    add("completion.svg", "From the first WRITE posted until the sender knows that all have been executed.",
        [&] { return draw_completion(r); });
  }
}

std::string flows_html(const ExperimentResult& r) {
  std::string page =
      "<h2>Flows</h2>\n<table><tr><th>traffic</th><th>flows</th><th>ended</th><th>bytes</th><th>Gb/s</th><th>min "
      "us</th><th>median</th><th>p99</th><th>p99.9</th><th>max</th><th>over bound</th></tr>\n";
  for (const GroupResult& g : r.groups) {
    page += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.1f}</td><td>{:.2f}</td><td>{:.2f}</td><td>{:.2f}</"
        "td><td>{:.2f}</td><td>{:.2f}</td><td>{:.4f}</td></tr>\n",
        picture::escaped(g.label), g.flows, g.finished, tb::grouped(g.bytes), g.goodput_gbps, us(g.fct.min),
        us(g.fct.median), us(g.fct.p99), us(g.fct.p999), us(g.fct.max),
        g.finished ? static_cast<double>(g.end - g.begin) / static_cast<double>(g.bound) : 0.0);
  }
  return page + "</table>\n";
}

std::string index_html(const ExperimentResult& r, const sim::Topology& topology, const std::string& run_id,
                       const std::vector<PictureFile>& pictures) {
  const bool complete = r.outcome == sim::Outcome::Done || r.outcome == sim::Outcome::OpenEnd;
  std::string page = fmt::format(
      "<!doctype html>\n<html lang='en'><head><meta "
      "charset='utf-8'><title>{0}</title><style>body{{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 "
      "1em}}"
      "table{{border-collapse:collapse}}td,th{{padding:.2em .8em;border-bottom:1px solid "
      "#ddd;text-align:right}}td:first-child,th:first-child{{text-align:left}}"
      "img{{max-width:100%}}.bad{{background:#fdd;padding:.6em}}</style></head><body>\n<h1>{0}</h1>\n<p>{1}</p>\n",
      picture::escaped(r.scenario), picture::escaped(r.description));
  if (!complete)
    page += fmt::format("<p class='bad'><b>{}</b>: {}. These are the results so far.</p>\n",
                        sim::outcome_name(r.outcome), picture::escaped(r.reason));
  page += fmt::format(
      "<p>{} NICs of {:g} Gb/s in {} planes, {} switches, {} links; {} QPs, {}; seed {}; {:.3f} us simulated; round "
      "trip {:.2f} us.</p>\n",
      r.nics, r.nic_gbps, r.planes, r.switches, r.links, r.qps, r.transport, r.seed, us(r.time), us(r.round_trip));
  page += jobs_html(r);
  if (!r.groups.empty()) page += flows_html(r);
  if (!r.events.empty()) {
    page +=
        "<h2>Events</h2>\n<table><tr><th>event</th><th>at us</th><th>Gb/s "
        "before</th><th>lowest</th><th>after</th><th>recovered in us</th></tr>\n";
    for (const EventResult& e : r.events) {
      page += fmt::format("<tr><td>{}</td><td>{:.1f}</td>", picture::escaped(e.text), us(e.time));
      page += e.measured
                  ? fmt::format("<td>{:.1f}</td><td>{:.1f}</td><td>{:.1f}</td><td>{}</td></tr>\n", e.before_gbps,
                                e.lowest_gbps, e.after_gbps, e.dip ? fmt::format("{:.1f}", us(*e.recovery)) : "no dip")
                  : "<td></td><td></td><td></td><td></td></tr>\n";
    }
    page += "</table>\n";
  }
  page += "<h2>Packets</h2>\n<table>\n";
  const auto row = [&](const char* name, uint64_t value) {
    page += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", name, tb::grouped(value));
  };
  row("data packets sent", r.total.data_packets);
  row("of these sent again", r.total.retransmissions);
  row("of these because of a timer", r.total.timeouts);
  row("trimmed by switches", r.trims);
  row("marked by switches", r.marks);
  row("dropped by switches", r.drops);
  row("lost on links", r.lost);
  row("received twice", r.total.duplicates);
  row("SACKs", r.total.sacks);
  row("NACKs", r.total.nacks);
  row("ACKs", r.total.acks);
  row("probes", r.total.probes);
  page += "</table>\n<h2>Curves</h2>\n";
  for (const auto& [file, caption] : pictures)
    page += fmt::format("<p><img src='{}' alt=''><br>{}</p>\n", file, picture::escaped(caption));
  page += "<h2>Topology</h2>\n<p><img src='topology.svg' alt='topology'></p>\n<pre>" +
          picture::escaped(sim::topology_summary(topology)) + "</pre>\n";
  page +=
      "<h2>Files</h2>\n<p><a href='result.json'>result.json</a>, <a href='flows.csv'>flows.csv</a>, <a "
      "href='series.csv'>series.csv</a>, <a href='ports.csv'>ports.csv</a></p>\n<p>Run " +
      run_id + "; " + picture::escaped(versions_line()) + "</p>\n</body></html>\n";
  return page;
}

}  // namespace

void write_fabric_report(const std::filesystem::path& folder, const ExperimentResult& r, const sim::Topology& topology,
                         const std::string& run_id, Outputs& outputs) {
  // Each by itself: what one of them cannot do takes nothing from the others.
  const auto file = [&](const char* name, const auto& text) {
    outputs.attempt([&] {
      Output out("", (folder / name).string());
      out.stream() << text();
      out.commit();
    });
  };
  const std::string xml = "<!-- run " + run_id + " -->\n";
  file("result.json", [&] { return fabric_json(r, false, run_id); });
  file("series.csv", [&] { return with_run(series_csv(r), run_id); });
  file("flows.csv", [&] { return with_run(flows_csv(r, topology), run_id); });
  if (!r.jobs.empty()) file("steps.csv", [&] { return with_run(steps_csv(r, topology), run_id); });
  file("ports.csv", [&] { return with_run(ports_csv(r), run_id); });
  file("topology.svg", [&] { return sim::topology_svg(topology) + xml; });
  std::vector<PictureFile> pictures;
  draw_pictures(r, [&](const char* name, const char* caption, const auto& draw) {
    pictures.push_back({name, caption});
    file(name, [&] { return draw() + xml; });
  });
  file("index.html", [&] { return index_html(r, topology, run_id, pictures); });
}

}  // namespace mrc::cli
