// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/output.hpp"
#include "input/file.hpp"
#include "reference/coverage.hpp"
#include "util/printable.hpp"

namespace mrc::cli {
namespace rule_coverage_command {
namespace {

constexpr input::FileKind kCoverage{"coverage of rules", input::kJsonBytes,
                                    "Name a file of 'mrc check --coverage FILE' that you may read."};

struct Options {
  std::vector<std::string> files;
  std::string output;
  bool full = false;
};

int run(const Options& o) {
  Outputs outputs("mrc rule-coverage");
  for (const std::string& file : o.files) outputs.reads(file);
  Output* const output = outputs.add("--output", o.output);
  ref::Coverage all;
  for (const std::string& file : o.files)
    all.merge(ref::read_coverage(input::read_text(file, kCoverage), input::file_name(file)));
  if (output == nullptr || !output->is_stdout()) {
    std::istringstream text(all.to_text(o.full));
    for (std::string line; std::getline(text, line);) text_out() << printable(line) << '\n';
  }
  outputs.write(output, [&](std::ostream& out) { out << all.to_json(); });
  return outputs.finish(kPass);
}

}  // namespace
}  // namespace rule_coverage_command

void register_rule_coverage(Command& app, Context& context) {
  using namespace rule_coverage_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("rule-coverage", "rules of MRC that were applied, and when: sums files of --coverage");
  command.footer(R"(
Examples:
  mrc cosim --level L2 --preset tiny --dut model --scenario random --packets 500 --seeds 20 --coverage a.json
  mrc check run.mrclog --coverage b.json
  mrc rule-coverage a.json b.json -o both.json
Columns: nothing special; a packet went or came again, or cut, within the last 50 us; a QP is in ERROR; a port is down.)");
  command.words("file", options->files, "coverage as --coverage writes it").required().called("FILE");
  command.text("-o,--output", options->output, "the sum of them, to a file or -");
  command.flag("--full", options->full, "also what the judge knew at the time");
  command.action([options, &context] { context.exit_code = run(*options); });
}

}  // namespace mrc::cli
