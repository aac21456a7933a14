// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/output_file.hpp"
#include "cli/wire_options.hpp"
#include "wire/choices.hpp"
#include "wire/json.hpp"
#include "wire/pcapng.hpp"
#include "wire/text.hpp"

namespace mrc::cli {

namespace {

struct Options {
  std::string file;
  std::string pcapng;
  bool hex = false;
  WireOptions wire;
};

/// How to read all the frames. Throws UsageError where they differ.
wire::WireConfig common_choices(const std::vector<wire::CapturedFrame>& frames) {
  const wire::WireConfig& first = frames.front().wire;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].wire == first) continue;
    throw UsageError(
        fmt::format("packet {} is made with other choices than packet 1: {}.", i + 1,
                    wire::to_options(frames[i].wire, first)),
        "A capture is made with one set of choices: write one per set, or give options that hold for all.");
  }
  return first;
}

void run(const Options& options) {
  const wire::WireConfig config = options.wire.checked();
  const std::string text = input::read_text(options.file, input::kPackets);
  const auto frames = wire::from_json(text, name_of_file(options.file), config,
                                      [&](wire::WireConfig& said) { options.wire.over(said); });
  if (!frames) refuse(frames.error());
  if (!options.pcapng.empty()) {
    uint32_t planes = 1;
    for (const wire::CapturedFrame& frame : *frames) planes = std::max(planes, frame.interface + 1);
    const wire::WireConfig common = common_choices(*frames);
    OutputFile out(options.pcapng);
    wire::PcapngWriter writer(out.stream(), common, planes);
    for (const wire::CapturedFrame& frame : *frames) writer.write(frame);
    out.commit();
  }
  if (options.hex || options.pcapng.empty()) {
    for (const wire::CapturedFrame& frame : *frames) {
      if (!std::cout.good()) break;  // nobody reads on
      std::cout << wire::to_hex(frame.bytes) << '\n';
    }
    std::cout.flush();
  }
}

}  // namespace

void register_encode(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("encode", "make packets from JSON");
  command->footer(
      "Lengths, checksums, next headers and the ICRC are computed where the JSON does not give them.\n"
      "docs/wire.md describes the JSON; 'mrc decode --json' prints it.");
  text_option(*command, "FILE", options->file, "JSON: an object, an array, or one object per line; - is standard input")
      ->required();
  text_option(*command, "--pcapng", options->pcapng, "write a capture, one interface per plane");
  command->add_flag("--hex", options->hex,
                    "print one line of hexadecimal digits per packet (default without --pcapng)");
  options->wire.add(*command);
  command->callback([options, &context] {
    run(*options);
    context.exit_code = kPass;
  });
}

}  // namespace mrc::cli
