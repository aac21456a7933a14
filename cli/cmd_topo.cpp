// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/output.hpp"
#include "cli/version.hpp"
#include "input/json.hpp"
#include "sim/experiment/bill.hpp"
#include "sim/experiment/scenario.hpp"
#include "sim/experiment/topology.hpp"
#include "tb/compare/report.hpp"

namespace mrc::cli {
namespace topo_command {
namespace {

struct Options {
  std::string file, svg, json, parts;
  std::vector<std::string> compare;
};

void list_keys() {
  std::cout << "Keys of a topology file (TOML), default in the middle:\n";
  sim::TopologyConfig config;
  for (const auto& key : sim::topology_keys()) {
    const std::string value = key.number ? fmt::format("{:g}", key.number(config))
                              : key.flag ? (key.flag(config) ? "true" : "false")
                                         : '"' + key.text(config) + '"';
    std::cout << fmt::format("  {:<17} {:>10}  {}\n", key.name, value, key.doc);
  }
  std::cout << "Keys of --parts:\n";
  sim::PartsTable parts;
  for (const auto& key : sim::parts_keys()) {
    std::cout << fmt::format("  {:<17} {:>10}  {}\n", key.name, key.number(parts), key.doc);
  }
}

/// Of a file, or of a shipped scenario.
sim::Topology topology_of(const std::string& name) {
  const auto shipped = sim::shipped_scenarios();
  if (std::ranges::any_of(shipped, [&](const sim::ShippedScenario& s) { return name == s.name; })) {
    return sim::Topology(sim::load_fabric_scenario(name).topology);
  }
  return sim::Topology(sim::load_topology(name));
}

struct Bill {
  std::string name;
  std::vector<sim::BillLine> lines;
  double nics() const { return lines.front().value; }
  /// How much of this one a NIC of the other costs there: "60 %"; of lines that grow with the NICs.
  double share_of(const Bill& other, std::size_t line) const {
    return lines[line].value / nics() / (other.lines[line].value / other.nics());
  }
};

std::string number(const sim::BillLine& line) {
  if (line.digits > 0) return fmt::format("{:.{}f}", line.value, line.digits);
  return tb::grouped(static_cast<uint64_t>(std::llround(line.value)));
}

std::string text_of(const std::vector<Bill>& bills) {
  std::string out = fmt::format("{:<34}", "");
  for (const Bill& b : bills) out += fmt::format("  {:>16}", b.name);
  for (std::size_t i = 1; i < bills.size(); ++i) out += fmt::format("  {:>12}", fmt::format("1st / {}", i + 1));
  out += '\n';
  for (std::size_t l = 0; l < bills.front().lines.size(); ++l) {
    std::string row = fmt::format("{:<34}", bills.front().lines[l].label);
    bool any = false;
    for (const Bill& b : bills) {
      row += fmt::format("  {:>16}", b.lines[l].value != 0 ? number(b.lines[l]) : "-");
      any |= b.lines[l].value != 0;
    }
    for (std::size_t i = 1; i < bills.size() && bills.front().lines[l].per_nic; ++i) {
      const double share = bills.front().share_of(bills[i], l);
      row += fmt::format("  {:>12}", std::isfinite(share) && share > 0 ? fmt::format("{:.1f} %", 100 * share) : "-");
    }
    if (any) out += row + '\n';
  }
  return out + "The last columns are per NIC of each.\n";
}

std::string json_of(const std::vector<Bill>& bills, const std::string& run_id) {
  input::Json j;
  j["run"] = run_id;
  for (const Bill& b : bills) {
    input::Json one;
    one["name"] = b.name;
    for (const sim::BillLine& line : b.lines) one[line.key] = line.value;
    for (std::size_t l = 0; l < b.lines.size(); ++l) {
      if (b.lines[l].per_nic) one["first_per_nic"][b.lines[l].key] = bills.front().share_of(b, l);
    }
    j["topologies"].push_back(one);
  }
  j["versions"] = versions();
  return j.dump(2) + "\n";
}

int compare(const Options& o, const Context& context) {
  if (o.compare.size() < 2) {
    throw UsageError("--compare names one topology.", "Name two or more: files, or shipped scenarios.");
  }
  Outputs outputs("mrc topo");
  for (const std::string& name : o.compare) outputs.reads(name);
  if (!o.parts.empty()) outputs.reads(o.parts);
  Output* const json = outputs.add("--json", o.json);
  const sim::PartsTable parts = o.parts.empty() ? sim::PartsTable{} : sim::load_parts(o.parts);
  std::vector<Bill> bills;
  for (const std::string& name : o.compare) bills.push_back({name, sim::bill_of(topology_of(name), parts)});
  text_out() << text_of(bills);
  outputs.write(json, [&](std::ostream& out) { out << json_of(bills, context.run_id); });
  return outputs.finish(kPass);
}

int run(const Options& o, const Context& context) {
  if (!o.compare.empty()) return compare(o, context);
  if (o.file.empty()) throw UsageError("file is required.", "See 'mrc topo --help'.");
  if (o.file == "keys") {
    list_keys();
    return kPass;
  }
  Outputs outputs("mrc topo");
  outputs.reads(o.file);
  const sim::Topology topology = topology_of(o.file);
  Output* const svg = outputs.add("--svg", o.svg);
  text_out() << sim::topology_summary(topology);
  outputs.write(svg, [&](std::ostream& out) { out << sim::topology_svg(topology); });
  return outputs.finish(kPass);
}

}  // namespace
}  // namespace topo_command

void register_topo(Command& app, Context& context) {
  using namespace topo_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("topo", "a fabric's topology: check it, count it, draw it, compare it with another");
  command.footer(R"(
Examples:
  mrc topo keys                                               what may stand in a topology file
  mrc topo net.toml --svg net.svg                             check, count and draw it
  mrc topo --compare mrc-131072 three-tiers                   switches, optics, cables, watts, what a lost link takes)");
  Option& file = command.text(
      "file", options->file, "topology file (TOML), a shipped scenario, or keys: the list of what may stand in a file");
  Option& svg = command.text("--svg", options->svg, "picture");
  Option& compare = command.words("--compare", options->compare, "compare what files or shipped scenarios are made of")
                        .called("FILE ...")
                        .excludes(file)
                        .excludes(svg);
  command.text("--parts", options->parts, "data of optics and switches (TOML); 'mrc topo keys' prints its keys")
      .needs(compare);
  command.text("--json", options->json, "the comparison as JSON").needs(compare);
  command.action([options, &context] { context.exit_code = run(*options, context); });
}

}  // namespace mrc::cli
