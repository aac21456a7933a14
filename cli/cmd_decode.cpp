// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/wire_options.hpp"
#include "util/printable.hpp"
#include "wire/choices.hpp"
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

/// "--icrc-outer (interfaces 0, 1)" per setting that is not the default and that the user did not give.
void print_settings(const Options& options, const wire::Capture& capture) {
  wire::WireConfig base;
  options.wire.over(base);
  std::map<std::string, std::set<uint32_t>> interfaces;
  std::set<uint32_t> plain;
  for (const wire::CapturedFrame& frame : capture.frames) {
    const std::string taken = wire::to_options(frame.wire, base);
    (taken.empty() ? plain : interfaces[taken]).insert(frame.interface);
  }
  const bool alike = interfaces.size() == 1 && plain.empty();
  for (const auto& [taken, of] : interfaces) {
    std::cout << "taken from the capture: " << taken;
    if (!alike) std::cout << fmt::format(" (interface {})", fmt::join(of, ", "));
    std::cout << '\n';
  }
  for (const std::string& comment : capture.comments) std::cout << "comment: " << printable(comment) << '\n';
}

void print_packet(const wire::Capture& capture, const wire::CapturedFrame& frame, const wire::Packet& packet,
                  uint64_t number) {
  const std::string& name = capture.interfaces[frame.interface];
  std::cout << fmt::format("#{} {} {} ns: {}\n{}", number,
                           name.empty() ? fmt::format("interface{}", frame.interface) : printable(name), frame.time_ns,
                           wire::summary(packet, frame.wire), wire::describe(packet));
  for (const std::string& comment : frame.comments) std::cout << "  comment    " << printable(comment) << '\n';
}

/// Frames are kept in memory until the last one is read. Sizes and speeds are those of docs/inputs.md.
void warn_of_size(const Options& options) {
  constexpr double kMemory = 3, kTextPerSecond = 44, kJsonPerSecond = 19;
  std::error_code error;
  const double megabytes = static_cast<double>(std::filesystem::file_size(options.file, error)) / 1e6;
  if (error || megabytes * kMemory < 1000) return;
  std::cerr << fmt::format("mrc decode: {} has {:.0f} MB; that takes up to {:.1f} GB of memory and {:.0f} s.\n",
                           options.file, megabytes, kMemory * megabytes / 1000,
                           megabytes / (options.json ? kJsonPerSecond : kTextPerSecond));
}

void decode_file(const Options& options) {
  warn_of_size(options);
  auto capture = wire::read_pcapng(input::read_bytes(options.file, input::kCapture), name_of_file(options.file));
  if (!capture) refuse(capture.error());
  for (wire::CapturedFrame& frame : capture->frames) options.wire.over(frame.wire);
  if (!options.json) print_settings(options, *capture);
  uint64_t number = 0;
  uint64_t wrong = 0;
  for (const wire::CapturedFrame& frame : capture->frames) {
    if (!std::cout.good()) return;  // nobody reads on
    ++number;
    if (options.json) {
      std::cout << wire::to_json(frame, number) << '\n';
      continue;
    }
    const wire::Packet packet = wire::decode(frame.bytes, frame.wire);
    wrong += packet.error.has_value();
    print_packet(*capture, frame, packet, number);
  }
  if (!options.json) std::cout << fmt::format("{} packets, {} with an error\n", number, wrong);
}

}  // namespace

void register_decode(Command& app, Context& context) {
  auto options = std::make_shared<Options>();
  Command& command = app.command("decode", "show every header of packets");
  command.footer(
      "\nExamples:\n"
      "  mrc decode capture.pcapng                     every header of every packet\n"
      "  mrc decode capture.pcapng --json              one JSON object per packet\n"
      "  mrc encode packets.json | head -1 | xargs mrc decode --hex\n\n"
      "Malformed packets are shown up to the mistake, with its name and byte offset; that is exit code 0.\n"
      "Captures made by mrc say how to read them; an option given here wins over what they say (--icrc-outer=false).\n"
      "docs/wire.md describes the JSON.");
  auto& file = command.text("FILE", options->file, "capture, pcapng; - is standard input");
  auto& hex = command.text("--hex", options->hex, "one frame, Ethernet header first, no FCS");
  file.excludes(hex);
  command.flag("--json", options->json, "one JSON object per packet and line");
  options->wire.add(command);
  command.action([options, &context] {
    const wire::WireConfig config = options->wire.checked();
    if (options->file.empty() && options->hex.empty()) {
      throw UsageError("nothing to decode.", "Name a pcapng file, or give one frame with --hex.");
    }
    if (options->file.empty()) {
      decode_hex(*options, config);
    } else {
      decode_file(*options);
    }
    std::cout.flush();
    context.exit_code = kPass;
  });
}

}  // namespace mrc::cli
