// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/dut_options.hpp"
#include "cli/gnuplot.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/status_line.hpp"
#include "cli/version.hpp"
#include "input/json.hpp"
#include "tb/compare/report.hpp"
#include "tb/nic_bench.hpp"

namespace mrc::cli {
namespace bench_nic_command {
namespace {

using input::Json;
using tb::Direction;

constexpr const char* kFooter = R"(
Examples:
  mrc bench nic                                     both tables, asic800, RTL
  mrc bench nic --payload 512 --direction send --encapsulation srv6 --table rates
  mrc bench nic --qps 1 --messages short,long       one QP, both kinds of messages
  mrc bench nic --host-latency 300,500,1000,2000 --direction send --payload 4096,256
  mrc bench nic --signals --qps 4 --messages long   traffic of collectives: a signal of no bytes behind each message
  mrc bench nic --check                             exit 1 if a ratio is under the required one
  mrc bench nic --json nic.json --svg docs/figures  figures for docs/design/performance.md
Lists are written with commas. What is measured and how: docs/design/performance.md.
)";

struct Options {
  std::string preset = "asic800", dut = "rtl", json, svg, qps = "all", table = "all", messages, payload, direction,
              encapsulation, host_latency;
  tb::BenchOptions bench;
  bool check = false;
  DutProcess dut_process;
};

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at <= list.size()) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    out.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::optional<unsigned> number(const std::string& text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A list of words, each of which must be one of `known`; all of them when the list is empty.
std::vector<std::string> chosen(const std::string& option, const std::string& list,
                                const std::vector<std::string>& known) {
  if (list.empty()) return known;
  std::vector<std::string> out;
  for (const std::string& w : words(list)) {
    if (std::find(known.begin(), known.end(), w) == known.end()) {
      throw UsageError(fmt::format("{} {} is not known.", option, input::shown(w)),
                       fmt::format("Choose from {}.", fmt::join(known, ", ")));
    }
    if (std::find(out.begin(), out.end(), w) == out.end()) out.push_back(w);
  }
  return out;
}

/// What rows have in common apart from the direction.
struct Group {
  unsigned payload, qps;
  Encap encap;
  bool long_messages;
  unsigned host_ns = 0;  ///< latency of the host's reads; 0: the bench's own
};
struct Row {
  Group group;
  tb::Throughput figures;
  std::string problem;
};

constexpr unsigned kLongPackets = 64;
/// As an option says them, in tables and figures.
constexpr struct {
  Encap encap;
  const char *name, *title;
  unsigned dash;  ///< of its line in a figure
} kEncapsulations[] = {
    {Encap::Ipv6, "stev", "STEV", 2}, {Encap::Srv6, "srv6", "SRv6", 1}, {Encap::Srv6Srh, "srh", "SRH", 3}};
const auto& entry(Encap encap) {
  return *std::ranges::find(kEncapsulations, encap, [](const auto& e) { return e.encap; });
}
const char* encapsulation_name(Encap encap) { return entry(encap).name; }
const char* messages_name(bool is_long) { return is_long ? "long" : "short"; }
bool is_mtu(unsigned payload) { return payload >= 256 && payload <= 4096 && (payload & (payload - 1)) == 0; }

/// Streams whose occupancy the table shows; JSON has all.
constexpr struct {
  const char* stream;
  const char* title;
} kShown[] = {{"tx_segment.pkt", "segment"},   {"tx_path.path", "path"},    {"tx_header.hdr", "header"},
              {"tx_fetch.rdreq", "fetch"},     {"rx_lane.desc", "rx lane"}, {"rx_check.rxpkt", "check"},
              {"rx_track.verdict", "verdict"}, {"rx_track.resp", "resp"},   {"rx_check.ctl", "ctl"},
              {"rx_place.line", "place"}};

class ProgressLine {
 public:
  explicit ProgressLine(std::size_t steps) : steps_(steps) {}
  void begin(std::string what) { what_ = std::move(what); }
  void done() { ++done_; }
  void cycles(uint64_t since_last) {
    cycles_ += since_last;
    const auto now = Clock::now();
    if (!line_.on() || now - reported_ < std::chrono::milliseconds(200)) return;
    reported_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    line_.show(fmt::format("{} of {}: {}, {} cycles/s, {} left", done_ + 1, steps_, what_,
                           tb::grouped(static_cast<uint64_t>(static_cast<double>(cycles_) / seconds)),
                           time_left(seconds, static_cast<double>(done_) / static_cast<double>(steps_))));
  }
  void clear() { line_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  std::size_t steps_, done_ = 0;
  StatusLine line_;
  std::string what_;
  uint64_t cycles_ = 0;
  Clock::time_point begin_ = Clock::now(), reported_ = begin_;
};

std::string title_line() {
  std::string line =
      fmt::format("{:>7} {:<4} {:<5} {:>3} {:<12} {:>8} {:>8} {:>6} {:>6} {:>8} {:>6} {:>13}", "payload", "enc", "msgs",
                  "qps", "direction", "Gb/s", "limit", "ratio", "data", "Mpkt/s", "ctl %", "plane share %");
  for (const auto& s : kShown) line += fmt::format(" {:>7}", s.title);
  return line;
}

std::string flow_line(const Row& row, const char* direction, const tb::Flow& f) {
  const Group& g = row.group;
  std::string line = fmt::format(
      "{:>7} {:<4} {:<5} {:>3} {:<12} {:>8.1f} {:>8.1f} {:>6.3f} {:>6.3f} {:>8.2f} {:>6.1f} {:>6.2f}-{:<6.2f}",
      g.payload, encapsulation_name(g.encap), messages_name(g.long_messages), g.qps, direction, f.goodput_gbps,
      f.limit_gbps, f.ratio, f.ratio_of_data, f.packets_per_second / 1e6, 100 * f.control_share,
      100 * f.plane_share_min, 100 * f.plane_share_max);
  for (const auto& s : kShown) {
    const auto found = row.figures.occupancy.find(s.stream);
    const tb::Occupancy o = found == row.figures.occupancy.end() ? tb::Occupancy{} : found->second;
    line += fmt::format(" {:>7}", fmt::format("{:.0f}/{:.0f}", 100 * o.busy, 100 * o.blocked));
  }
  if (f.pace < 1 || f.drops != 0) line += fmt::format("  {} dropped, peer at {:.0f} %", f.drops, 100 * f.pace);
  if (g.host_ns != 0) line += fmt::format("  host reads {} ns", g.host_ns);
  if (f.retransmitted_share > 0) line += fmt::format("  {:.1f} % again", 100 * f.retransmitted_share);
  return line;
}

void print_row(const Row& row) {
  const tb::Throughput& t = row.figures;
  if (!row.problem.empty()) {
    text_out() << fmt::format("{:>7} {:<4} {:<5} {:>3} {:<12} WRONG: {}\n", row.group.payload,
                              encapsulation_name(row.group.encap), messages_name(row.group.long_messages),
                              row.group.qps, tb::name_of(t.direction), row.problem);
  } else if (!t.complete) {
    text_out() << fmt::format("{:>7} {:<4} {:<5} {:>3} {:<12} incomplete\n", row.group.payload,
                              encapsulation_name(row.group.encap), messages_name(row.group.long_messages),
                              row.group.qps, tb::name_of(t.direction));
  } else if (t.direction == Direction::Both) {
    text_out() << flow_line(row, "both/send", t.send) << '\n' << flow_line(row, "both/receive", t.receive) << '\n';
  } else {
    text_out() << flow_line(row, tb::name_of(t.direction), t.worst()) << '\n';
  }
}

void put_flow(Json& j, const tb::Flow& f) {
  j["ratio"] = f.ratio;
  j["ratio_without_control"] = f.ratio_of_data;
  j["packets_per_second"] = f.packets_per_second;
  j["goodput_gbps"] = f.goodput_gbps;
  j["limit_gbps"] = f.limit_gbps;
  j["control_share"] = f.control_share;
  j["retransmitted_share"] = f.retransmitted_share;
  j["plane_share_min"] = f.plane_share_min;
  j["plane_share_max"] = f.plane_share_max;
  j["sacks_per_packet"] = f.sacks;
  j["acks_per_packet"] = f.acks;
  j["nacks_per_packet"] = f.nacks;
  j["peer_pace"] = f.pace;
  j["offered_gbps"] = f.offered_gbps;
  j["drops"] = f.drops;
}

Json row_json(const Row& row) {
  const tb::Throughput& t = row.figures;
  Json j;
  j["payload"] = row.group.payload;
  j["direction"] = tb::name_of(t.direction);
  j["encapsulation"] = encapsulation_name(row.group.encap);
  j["messages"] = messages_name(row.group.long_messages);
  j["qps"] = row.group.qps;
  if (row.group.host_ns != 0) j["host_read_ns"] = row.group.host_ns;
  j["complete"] = t.complete;
  if (!row.problem.empty()) j["problem"] = row.problem;
  if (!t.complete) return j;
  put_flow(j, t.worst());
  if (t.direction == Direction::Both) {
    put_flow(j["send"], t.send);
    put_flow(j["receive"], t.receive);
  }
  j["cycles"] = t.cycles;
  j["occupancy"] = Json::object();
  for (const auto& [name, o] : t.occupancy) j["occupancy"][name] = {{"busy", o.busy}, {"blocked", o.blocked}};
  return j;
}

struct LatencyTable {
  unsigned payload, qps;
  Encap encap;
  tb::LatencyResult result;
  std::string problem;
};

void print_latency(const LatencyTable& table) {
  if (!table.problem.empty()) text_out() << "  WRONG: " << table.problem << '\n';
  for (unsigned i = 0; i < tb::kNumLatencies; ++i) {
    const auto& s = table.result.samples[i];
    std::string line =
        fmt::format("{:<24} {:>7} {:<4} {:>8}", tb::name_of(static_cast<tb::Latency>(i)), table.payload,
                    encapsulation_name(table.encap),
                    table.result.load == 0 ? "unloaded" : fmt::format("{:.0f} %", 100 * table.result.load));
    line += s.empty() ? fmt::format(" {:>7} {:>7} {:>7} {:>8}", "-", "-", "-", 0)
                      : fmt::format(" {:>7} {:>7} {:>7} {:>8}", s.front(), s[s.size() / 2], s.back(), s.size());
    if (!table.result.complete) line += "  incomplete";
    text_out() << line << '\n';
  }
}

void put_latency(Json& list, const LatencyTable& table) {
  for (unsigned i = 0; i < tb::kNumLatencies; ++i) {
    const auto& s = table.result.samples[i];
    Json j;
    j["name"] = tb::name_of(static_cast<tb::Latency>(i));
    j["payload"] = table.payload;
    j["encapsulation"] = encapsulation_name(table.encap);
    j["qps"] = table.qps;
    j["load"] = table.result.load;
    j["complete"] = table.result.complete && table.problem.empty();
    j["samples"] = s.size();
    if (!s.empty()) {
      j["min"] = s.front();
      j["median"] = s[s.size() / 2];
      j["max"] = s.back();
    }
    list.push_back(j);
  }
}

/// "" when there is nothing to show.
std::string plot_rates(const std::vector<Row>& rows, const Options& o) {
  // A line per direction and encapsulation; also per kind of messages and number of QPs where there are several.
  std::set<std::tuple<unsigned, Encap, bool>> seen;
  std::set<unsigned> qps;
  bool both_kinds = false;
  for (const Row& r : rows) {
    qps.insert(r.group.qps);
    seen.insert({r.group.payload, r.group.encap, r.group.long_messages});
    both_kinds = both_kinds || seen.count({r.group.payload, r.group.encap, !r.group.long_messages}) != 0;
  }
  struct Line {
    std::string name, data;
    unsigned colour, dash;
  };
  std::vector<Line> lines;
  for (const Row& r : rows) {
    if (!r.figures.complete) continue;
    std::string name = fmt::format("{}, {}", tb::name_of(r.figures.direction), entry(r.group.encap).title);
    if (both_kinds) name += fmt::format(", {}", messages_name(r.group.long_messages));
    if (qps.size() > 1) name += fmt::format(", {} QPs", r.group.qps);
    auto found = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.name == name; });
    if (found == lines.end()) {
      found = lines.insert(lines.end(),
                           {name, "", static_cast<unsigned>(r.figures.direction) + 1, entry(r.group.encap).dash});
    }
    found->data += fmt::format("{} {:.5f}\n", r.group.payload, r.figures.worst().ratio);
  }
  if (lines.empty()) return "";
  std::string script, plot;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    script += fmt::format("$d{} << EOD\n{}EOD\n", i, lines[i].data);
    plot += fmt::format(
        "{}$d{} using 1:2 smooth unique with linespoints linewidth 2 linecolor {} dashtype {} pointtype 7 pointsize "
        "0.6 title '{}'",
        i ? ", " : "plot ", i, lines[i].colour, lines[i].dash, lines[i].name);
  }
  script += fmt::format(
      "set title 'Goodput over the arithmetic limit: {}, {} QPs'\nset logscale x 2\nset xlabel 'payload of a packet, "
      "bytes'\nset ylabel 'ratio'\nset yrange [0:1.05]\nset grid\nset key bottom right\n{}\n",
      o.preset, fmt::join(qps, " and "), plot);
  return plot_svg(900, 480, script);
}

std::string plot_latencies(const std::vector<LatencyTable>& tables, const Options& o) {
  std::string script, tics, plot;
  for (std::size_t k = 0; k < tables.size(); ++k) {
    script += fmt::format("$l{} << EOD\n", k);
    for (unsigned i = 0; i < tb::kNumLatencies; ++i) {
      const auto& s = tables[k].result.samples[i];
      if (s.empty()) continue;
      script += fmt::format("{} {} {} {}\n", i + 0.25 * static_cast<double>(k) / static_cast<double>(tables.size()),
                            s.front(), s[s.size() / 2], s.back());
    }
    script += "EOD\n";
    plot += fmt::format("{}$l{} using 1:3:2:4 with yerrorbars linewidth 2 pointtype 7 title '{} B {}, {}'",
                        k ? ", " : "plot ", k, tables[k].payload, encapsulation_name(tables[k].encap),
                        tables[k].result.load == 0 ? std::string("unloaded")
                                                   : fmt::format("{:.0f} % load", 100 * tables[k].result.load));
  }
  if (tables.empty()) return "";
  for (unsigned i = 0; i < tb::kNumLatencies; ++i) {
    std::string name = tb::name_of(static_cast<tb::Latency>(i));
    std::replace(name.begin(), name.end(), '_', ' ');
    tics += fmt::format("{}'{}' {}", i ? ", " : "", name, i);
  }
  script += fmt::format(
      "set title 'Latencies: minimum, median, maximum, {}'\nset xtics ({}) rotate by 20 right\nset xrange "
      "[-0.5:{}]\nset logscale y\nset ylabel 'clock cycles'\nset grid y\n{}\n",
      o.preset, tics, tb::kNumLatencies - 0.25, plot);
  return plot_svg(900, 480, script);
}

/// What is asked for.
struct Requested {
  const Preset* preset;
  std::vector<unsigned> payloads{64, 128, 256, 512, 1024, 2048, 4096};
  std::vector<Group> groups;
  std::vector<Direction> directions;
  std::vector<double> loads;    ///< of the tables of latencies
  Encap largest = Encap::Ipv6;  ///< of the encapsulations
};

/// Throws UsageError.
Requested requested_for(const Options& o) {
  Requested a;
  a.preset = &preset_from(o.preset);
  if (!o.payload.empty()) {
    a.payloads.clear();
    for (const std::string& w : words(o.payload)) {
      const auto n = number(w);
      if (!n || *n < 1 || *n > 4096)
        throw UsageError(fmt::format("--payload {} is no size of a packet.", input::shown(w)),
                         "Give bytes from 1 to 4096, or several with commas.");
      a.payloads.push_back(*n);
    }
  }
  const auto directions = chosen("--direction", o.direction, {"send", "receive", "both"});
  const auto encapsulations =
      chosen("--encapsulation", o.encapsulation.empty() ? "stev,srv6" : o.encapsulation, {"stev", "srv6", "srh"});
  const auto messages = o.messages.empty() && !o.check ? std::vector<std::string>{"long"}
                                                       : chosen("--messages", o.messages, {"short", "long"});
  const auto tables = chosen("--table", o.table == "all" ? "" : o.table, {"rates", "latencies"});
  std::vector<unsigned> qps;
  for (const std::string& w : words(o.qps)) {
    const auto n = w == "all" ? std::optional(a.preset->num_qps) : number(w);
    if (!n || *n < 1 || *n > a.preset->num_qps) {
      throw UsageError(
          fmt::format("--qps {} is not possible.", input::shown(w)),
          fmt::format("Preset {} has {}: give 1 to {}, or all.", o.preset, a.preset->num_qps, a.preset->num_qps));
    }
    qps.push_back(*n);
  }
  const auto has = [](const std::vector<std::string>& list, const char* word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  if (o.check && !has(tables, "rates")) throw UsageError("--check needs the rates.", "Leave out --table latencies.");
  for (const auto& e : kEncapsulations) {
    if (has(encapsulations, e.name)) a.largest = e.encap;
  }
  if (has(tables, "latencies")) a.loads = {0, 0.95};
  std::vector<unsigned> host{0};
  if (!o.host_latency.empty()) {
    host.clear();
    for (const std::string& w : words(o.host_latency)) {
      const auto n = number(w);
      if (!n || *n < 1 || *n > 100'000)
        throw UsageError(fmt::format("--host-latency {} is no latency of a read.", input::shown(w)),
                         "Give nanoseconds from 1 to 100000, or several with commas.");
      host.push_back(*n);
    }
    if (!has(tables, "rates")) throw UsageError("--host-latency is about rates.", "Leave out --table latencies.");
    a.loads.clear();
  }
  if (!has(tables, "rates")) return a;
  for (const unsigned n : qps) {
    for (const auto& e : kEncapsulations) {
      if (!has(encapsulations, e.name)) continue;
      for (const unsigned payload : a.payloads) {
        std::set<bool> kinds;  // long where possible: a message of several packets fills the path MTU
        for (const std::string& m : messages) kinds.insert(m == "long" && is_mtu(payload));
        for (const bool is_long : kinds) {
          for (const unsigned ns : host) a.groups.push_back({payload, n, e.encap, is_long, ns});
        }
      }
    }
  }
  for (const Direction d : {Direction::Send, Direction::Receive, Direction::Both}) {
    if (has(directions, tb::name_of(d))) a.directions.push_back(d);
  }
  return a;
}

/// What was measured, as far as it came.
struct Measured {
  std::vector<Row> rows;
  std::vector<LatencyTable> delays;
  uint64_t cycles = 0;
  double seconds = 0;
  bool wrong = false, stopped = false;
  bool ended = false;  ///< the device, before its bench was at the end
};

class Measurement {
 public:
  Measurement(const Options& o, const Requested& requested, const Context& context)
      : o_(o),
        requested_(requested),
        progress_(requested.groups.size() * requested.directions.size() + requested.loads.size()) {
    base_ = o.bench;
    base_.preset = requested.preset;
    base_.open = dut_opener(o.dut, *requested.preset, o.bench.seed, context, o.dut_process);
    base_.stop = &g_stop;
    std::string error;
    if (!base_.open(error)) throw UsageError("no device: " + error + ".", dut_remedy(o.dut, context));
  }

  Measured run() {
    const auto begin = std::chrono::steady_clock::now();
    text_out() << fmt::format(
        "{}, {} planes of {} Gb/s, device {}{}, links of {} ns, {} cycles after {} of warm-up{}{}{}{}\n", o_.preset,
        requested_.preset->num_planes, requested_.preset->port_gbps, o_.dut,
        o_.dut_process.own(o_.dut) ? " in a process of its own" : "", o_.bench.delay_ns, o_.bench.cycles,
        o_.bench.warm_cycles, o_.bench.timestamps ? ", time stamps" : "",
        !o_.bench.cc                 ? ""
        : o_.bench.cc_rate_gbps == 0 ? ", congestion control"
                                     : fmt::format(", congestion control for {} Gb/s", o_.bench.cc_rate_gbps),
        o_.bench.immediates ? ", immediates"
        : o_.bench.signals  ? ", signals"
                            : "",
        o_.bench.ack_with_sack ? ", ACKs with SACKs only" : "");
    if (!requested_.groups.empty()) text_out() << title_line() << '\n';
    for (const Group& g : requested_.groups) {
      for (const Direction d : requested_.directions) {
        if (!stopped()) rates(g, d);
      }
    }
    if (!requested_.loads.empty() && !stopped()) {
      text_out() << fmt::format("{:<24} {:>7} {:<4} {:>8} {:>7} {:>7} {:>7} {:>8}\n", "cycles", "payload", "enc",
                                "load", "min", "median", "max", "samples");
    }
    for (const double load : requested_.loads) {
      if (!stopped()) latencies(load);
    }
    progress_.clear();
    m_.stopped = stopped();
    m_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    text_out() << fmt::format("{}{} cycles in {:.1f} s, {} cycles/s\n", m_.stopped ? "INCOMPLETE: stopped after " : "",
                              tb::grouped(m_.cycles), m_.seconds,
                              tb::grouped(static_cast<uint64_t>(static_cast<double>(m_.cycles) / m_.seconds)))
               << std::flush;
    return std::move(m_);
  }

 private:
  /// By a signal, or because nobody reads the table any more.
  static bool stopped() { return g_stop || stdout_failed(); }

  tb::BenchOptions set_up(const Group& g) {
    tb::BenchOptions options = base_;
    options.payload = g.payload;
    options.encap = g.encap;
    options.qps = g.qps;
    options.host_ns = g.host_ns;
    options.message_packets = g.long_messages ? kLongPackets : 1;
    options.progress = [this, last = uint64_t{0}](uint64_t cycles) mutable {
      progress_.cycles(cycles - last);
      last = cycles;
    };
    return options;
  }

  void rates(const Group& g, Direction d) {
    progress_.begin(fmt::format("{} B, {}, {}, {} QPs, {}", g.payload, encapsulation_name(g.encap),
                                messages_name(g.long_messages), g.qps, tb::name_of(d)));
    tb::NicBench bench(set_up(g));  // a device of its own: nothing of an earlier row in it
    Row row{g, {}, bench.start()};
    if (row.problem.empty()) row.figures = bench.measure(d, row.problem);
    row.figures.direction = d;
    if (!row.problem.empty()) row.figures.complete = false;
    m_.cycles += bench.cycles();
    progress_.done();
    progress_.clear();
    look_back(bench, row.problem);
    print_row(row);
    text_out() << std::flush;
    m_.rows.push_back(std::move(row));
  }

  void latencies(double load) {
    // One-packet messages, so that every packet has a WQE of its own; the largest of the sizes and encapsulations.
    // Few QPs as far as their WQEs can fill the ports: then each gets SACKs often enough.
    const unsigned payload = *std::max_element(requested_.payloads.begin(), requested_.payloads.end());
    const unsigned all = requested_.preset->num_qps;
    const Group g{payload, payload >= 1024 ? std::min(16u, all) : all, requested_.largest, false};
    progress_.begin(fmt::format("latencies at {:.0f} % load", 100 * load));
    tb::BenchOptions options = set_up(g);
    options.signals = false;  // packets one by one
    tb::NicBench bench(options);
    LatencyTable table{g.payload, g.qps, g.encap, {}, bench.start()};
    if (table.problem.empty()) table.result = bench.latencies(load, table.problem);
    m_.cycles += bench.cycles();
    progress_.done();
    progress_.clear();
    look_back(bench, table.problem);
    print_latency(table);
    text_out() << std::flush;
    m_.delays.push_back(std::move(table));
  }

  /// A device that ends is nothing that was measured wrong; after the last cycle it changes nothing.
  void look_back(tb::NicBench& bench, const std::string& problem) {
    bench.close();
    const tb::DeviceFault* fault = bench.fault();
    if (fault && problem == fault->text) {
      m_.ended = true;
      return;
    }
    m_.wrong = m_.wrong || !problem.empty();
    if (fault) std::cerr << "mrc bench nic: warning: " << fault->text << ".\n";
  }

  const Options& o_;
  const Requested& requested_;
  tb::BenchOptions base_;
  ProgressLine progress_;
  Measured m_;
};

std::string measured_json(const Options& o, const Measured& m, const std::string& run_id) {
  Json j;
  j["run"] = run_id;
  j["preset"] = o.preset;
  j["device"] = o.dut;
  j["device_process"] = o.dut_process.own(o.dut) ? "own" : "shared";
  j["complete"] = !m.stopped && !m.ended;
  j["seed"] = o.bench.seed;
  j["delay_ns"] = o.bench.delay_ns;
  j["warm_cycles"] = o.bench.warm_cycles;
  j["cycles"] = o.bench.cycles;
  j["timestamps"] = o.bench.timestamps || o.bench.cc;
  j["cc"] = o.bench.cc;
  j["cc_rate"] = o.bench.cc_rate_gbps;
  j["immediates"] = o.bench.immediates;
  j["signals"] = o.bench.signals;
  j["ack_with_sack"] = o.bench.ack_with_sack;
  j["dests"] = o.bench.dests;
  j["reorder"] = o.bench.reorder_pkts;
  j["sack_trigger"] = o.bench.sack_trigger;
  j["rows"] = Json::array();
  for (const Row& row : m.rows) j["rows"].push_back(row_json(row));
  j["latency"] = Json::array();
  for (const LatencyTable& table : m.delays) put_latency(j["latency"], table);
  j["simulated_cycles"] = m.cycles;
  j["seconds"] = m.seconds;
  j["versions"] = versions();
  return j.dump(2) + "\n";
}

/// --check: the exit code, and the rows that stay below.
int check(const Measured& m) {
  unsigned below = 0, checked = 0;
  for (const Row& row : m.rows) {
    if (row.group.payload < tb::kSmallestRequired) continue;
    ++checked;
    const double required = tb::required_ratio(row.group.payload), ratio = row.figures.worst().ratio;
    if (ratio >= required) continue;
    ++below;
    text_out() << fmt::format("UNDER: {} B, {}, {} messages, {} QPs, {}: ratio {:.4f}, required {:.3f}\n",
                              row.group.payload, encapsulation_name(row.group.encap),
                              messages_name(row.group.long_messages), row.group.qps, tb::name_of(row.figures.direction),
                              ratio, required);
  }
  text_out() << fmt::format("check: {} of {} rows reach the required ratio\n", checked - below, checked);
  return below != 0 ? kFail : checked == 0 ? kInconclusive : kPass;
}

int run(const Options& o, const Context& context) {
  const Requested requested = requested_for(o);
  if (!o.svg.empty()) {
    if (!std::filesystem::is_directory(o.svg))
      throw UsageError("--svg " + o.svg + " is not a folder.", "Make it first: mkdir -p " + o.svg);
    need_folder("--svg", o.svg);
    need_gnuplot("--svg");
  }
  const StopOnSignal stop;
  Outputs outputs("mrc bench nic");
  Output* const json = outputs.add("--json", o.json);
  Measurement measurement(o, requested, context);
  const Measured m = measurement.run();
  const int verdict = m.wrong     ? kFail
                      : m.ended   ? kUsage
                      : m.stopped ? (stdout_failed() ? kUsage : kInconclusive)
                      : o.check   ? check(m)
                                  : kPass;
  outputs.write(json, [&](std::ostream& out) { out << measured_json(o, m, context.run_id); });
  const auto figure = [&](const char* name, const auto& draw) {
    outputs.attempt([&] {
      const std::string svg = draw();
      if (svg.empty()) return;
      Output file("--svg", (std::filesystem::path(o.svg) / name).string());
      file.stream() << svg << "<!-- run " << context.run_id << " -->\n";
      file.commit();
    });
  };
  if (!o.svg.empty()) {
    figure("bench-nic-rates.svg", [&] { return plot_rates(m.rows, o); });
    figure("bench-nic-latencies.svg", [&] { return plot_latencies(m.delays, o); });
  }
  return outputs.finish(verdict);
}

}  // namespace
}  // namespace bench_nic_command

constexpr uint64_t kMostCycles = 1'000'000'000'000;

void register_bench_nic(Command& bench, Context& context) {
  using namespace bench_nic_command;
  auto options = std::make_shared<Options>();
  Command& c = bench.command("nic", "line rate and latency of the NIC, against the arithmetic limit");
  c.footer(kFooter);
  c.text("--preset", options->preset, "asic800, fpga100 or tiny").such_as(names_of(kPresets));
  c.text("--dut", options->dut, "rtl, model, or a shared object");
  add_dut_process(c, options->dut_process);
  c.text("--payload", options->payload, "bytes per packet, 1 to 4096; default 64 to 4096 in powers of two");
  c.text("--direction", options->direction, "send, receive, both; default all three");
  c.text("--encapsulation", options->encapsulation, "stev, srv6, srh (SRv6 with a routing header); default stev,srv6");
  c.text("--messages", options->messages,
         "short (one packet) or long (64 packets, from 256 bytes on); default long, with --check both");
  c.text("--qps", options->qps, "QPs in use: a number, or all");
  c.text("--table", options->table, "rates, latencies, or all");
  c.text("--host-latency", options->host_latency,
         "ns that each read from the host takes, or several: a row for each; default: 0.4 to 0.7 of what the "
         "preset's prefetch hides");
  c.flag("--timestamps", options->bench.timestamps, "a time stamp header in every data packet");
  Option& cc = c.flag("--cc", options->bench.cc, "QPs with the congestion controller (and time stamps)");
  c.real("--cc-rate", options->bench.cc_rate_gbps, 0, 1600,
         "Gb/s that its window of 1.5 round trips is made of; 0: the ports' together")
      .needs(cc);
  Option& immediates =
      c.flag("--immediates", options->bench.immediates, "every message is a WRITE with immediate, both ways");
  c.flag("--signals", options->bench.signals,
         "behind every message a WRITE with immediate of no bytes, both ways, as collectives signal; rates alone")
      .excludes(immediates);
  c.flag("--ack-with-sack", options->bench.ack_with_sack, "register CTRL.ack_with_sack: no ACK without a SACK");
  c.real("--delay-ns", options->bench.delay_ns, 10, 1e6, "delay of a link");
  c.number("--dests", options->bench.dests, 1, 256,
           "destinations that the QPs are spread over; each has its controller");
  c.number("--reorder", options->bench.reorder_pkts, 1, 32767,
           "register REORDER: packets above a gap before it counts as lost");
  c.number("--sack-trigger", options->bench.sack_trigger, 0, 1048575,
           "register SACK_TRIGGER: bytes after which a SACK comes unasked");
  c.number("--cycles", options->bench.cycles, 1000, kMostCycles, "cycles measured per row");
  c.number("--warm-up", options->bench.warm_cycles, 0, kMostCycles, "cycles before them");
  c.number("--seed", options->bench.seed, 0, kAnySeed, "addresses and numbers of QPs follow from it");
  c.text("--json", options->json, "figures as JSON");
  c.text("--svg", options->svg, "folder for one figure per table, drawn by gnuplot").called("DIR");
  c.flag("--check", options->check,
         "exit 1 and name the rows whose ratio is under 0.995 (4096 bytes), 0.99 (from 512), 0.98 (from 64)");
  c.action([options, &context] { context.exit_code = run(*options, context); });
}

}  // namespace mrc::cli
