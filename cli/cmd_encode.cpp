// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/output.hpp"
#include "cli/wire_options.hpp"
#include "wire/choices.hpp"
#include "wire/json.hpp"
#include "wire/pcapng.hpp"
#include "wire/text.hpp"

namespace mrc::cli {

namespace encode_command {
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

int run(const Options& options) {
  const wire::WireConfig config = options.wire.checked();
  Outputs outputs("mrc encode");
  outputs.reads(options.file);
  const std::string text = input::read_text(options.file, input::kPackets);
  const auto frames = wire::from_json(text, name_of_file(options.file), config,
                                      [&](wire::WireConfig& said) { options.wire.over(said); });
  if (!frames) refuse(frames.error());
  Output* const pcapng = outputs.add("--pcapng", options.pcapng);
  const wire::WireConfig common = pcapng ? common_choices(*frames) : config;
  if (options.hex || pcapng == nullptr) {
    for (const wire::CapturedFrame& frame : *frames) {
      if (!text_out().good()) break;  // nobody reads on
      text_out() << wire::to_hex(frame.bytes) << '\n';
    }
  }
  outputs.write(pcapng, [&](std::ostream& out) {
    uint32_t planes = 1;
    for (const wire::CapturedFrame& frame : *frames) planes = std::max(planes, frame.interface + 1);
    wire::PcapngWriter writer(out, common, planes);
    for (const wire::CapturedFrame& frame : *frames) writer.write(frame);
  });
  return outputs.finish(kPass);
}

}  // namespace
}  // namespace encode_command

void register_encode(Command& app, Context& context) {
  using namespace encode_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("encode", "make packets from JSON");
  command.footer(
      "\nExamples:\n"
      "  mrc decode capture.pcapng --json | mrc encode -   what was decoded, as frames again\n"
      "  mrc encode packets.json --pcapng out.pcapng       a capture\n\n"
      "Lengths, checksums, next headers and the ICRC are computed where the JSON does not give them.\n"
      "docs/reference/wire.md describes the JSON; 'mrc decode --json' prints it.");
  command.text("FILE", options->file, "JSON: an object, an array, or one object per line; - is standard input")
      .required();
  command.text("--pcapng", options->pcapng, "write a capture, one interface per plane");
  command.flag("--hex", options->hex, "print one line of hexadecimal digits per packet (default without --pcapng)");
  options->wire.add(command);
  command.action([options, &context] { context.exit_code = run(*options); });
}

}  // namespace mrc::cli
