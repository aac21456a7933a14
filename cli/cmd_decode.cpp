// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "cli/context.hpp"
#include "cli/wire_options.hpp"
#include "wire/decode.hpp"
#include "wire/json.hpp"
#include "wire/pcapng.hpp"
#include "wire/text.hpp"

namespace mrc::cli {

namespace {

struct Options {
  std::string file;
  std::string hex;
  bool json = false;
  WireOptions wire;
};

void decode_hex(const Options& options, const wire::WireConfig& config) {
  size_t bad = 0;
  const auto bytes = wire::from_hex(options.hex, bad);
  if (!bytes || bytes->empty()) {
    throw UsageError("--hex is no string of whole bytes: character " + std::to_string(bad) + ".",
                     "Write two hexadecimal digits per byte, Ethernet header first, no FCS.");
  }
  const wire::Packet packet = wire::decode(*bytes, config);
  if (options.json) {
    std::cout << wire::to_json(packet, *bytes, config) << '\n';
  } else {
    std::cout << wire::summary(packet, config) << '\n' << wire::describe(packet);
  }
}

void decode_file(const Options& options, const wire::WireConfig& config) {
  const auto capture = wire::read_pcapng(read_file(options.file), options.file);
  if (!capture) refuse(capture.error());
  uint64_t number = 0;
  uint64_t wrong = 0;
  for (const wire::CapturedFrame& frame : capture->frames) {
    ++number;
    if (options.json) {
      std::cout << wire::to_json(frame, number, config) << '\n';
      continue;
    }
    const wire::Packet packet = wire::decode(frame.bytes, config);
    wrong += packet.error.has_value();
    const std::string& name = capture->interfaces[frame.interface];
    std::printf("#%llu %s %llu ns: %s\n%s", static_cast<unsigned long long>(number),
                name.empty() ? ("interface" + std::to_string(frame.interface)).c_str() : name.c_str(),
                static_cast<unsigned long long>(frame.time_ns), wire::summary(packet, config).c_str(),
                wire::describe(packet).c_str());
    for (const std::string& comment : frame.comments) std::printf("  comment    %s\n", comment.c_str());
  }
  if (!options.json) {
    std::printf("%llu packets, %llu with an error\n", static_cast<unsigned long long>(number),
                static_cast<unsigned long long>(wrong));
  }
}

}  // namespace

void register_decode(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("decode", "show every header of packets");
  command->footer(
      "Malformed packets are shown up to the mistake, with its name and byte offset; that is exit code 0.\n"
      "docs/wire.md describes the JSON.");
  auto* file = command->add_option("FILE", options->file, "capture, pcapng");
  auto* hex = command->add_option("--hex", options->hex, "one frame, Ethernet header first, no FCS");
  file->excludes(hex);
  command->add_flag("--json", options->json, "one JSON object per packet and line");
  options->wire.add(*command);
  command->callback([options, &context] {
    const wire::WireConfig config = options->wire.checked();
    if (options->file.empty() && options->hex.empty()) {
      throw UsageError("nothing to decode.", "Name a pcapng file, or give one frame with --hex.");
    }
    if (options->file.empty()) {
      decode_hex(*options, config);
    } else {
      decode_file(*options, config);
    }
    std::cout.flush();
    context.exit_code = kPass;
  });
}

}  // namespace mrc::cli
