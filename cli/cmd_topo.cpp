// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/output.hpp"
#include "sim/experiment/topology.hpp"

namespace mrc::cli {
namespace topo_command {
namespace {

struct Options {
  std::string file, svg;
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
}

int run(const Options& o) {
  if (o.file == "keys") {
    list_keys();
    return kPass;
  }
  Outputs outputs("mrc topo");
  outputs.reads(o.file);
  const sim::Topology topology(sim::load_topology(o.file));
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
  Command& command = app.command("topo", "a fabric's topology: check it, count it, draw it");
  command.footer(R"(
Examples:
  mrc topo keys                                               what may stand in a topology file
  mrc topo net.toml --svg net.svg                             check, count and draw it)");
  command.text("file", options->file, "topology file (TOML), or keys: the list of what may stand in one").required();
  command.text("--svg", options->svg, "picture");
  command.action([options, &context] { context.exit_code = run(*options); });
}

}  // namespace mrc::cli
