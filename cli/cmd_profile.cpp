// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/addresses.hpp"
#include "cli/capture_qps.hpp"
#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/output.hpp"
#include "cli/wire_options.hpp"
#include "input/json.hpp"
#include "log/import.hpp"
#include "log/packet.hpp"
#include "reference/profile.hpp"
#include "reference/readings.hpp"

namespace mrc::cli {
namespace profile_command {
namespace {

using input::Json;

struct Options {
  std::vector<std::string> files;
  std::string device, out, json;
};

constexpr std::size_t kMostDevices = 4096;

/// A line for each question that the device answers, and what nothing shows.
std::string text_of(const ref::Readings& readings) {
  std::string text, silent;
  const auto& questions = ref::Readings::questions();
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto some = readings.of(i);
    if (some.empty()) {
      silent += fmt::format("{}{}", silent.empty() ? "" : ", ", questions[i].assumption);
    } else if (some.size() == 1) {
      text += fmt::format("  {}  {}: {}, {} packets\n", questions[i].assumption, questions[i].about, some[0].words,
                          some[0].packets);
    } else {
      text += fmt::format("  {}  {}: both: {} (packet {}, {} in all) and {} (packet {}, {} in all)\n",
                          questions[i].assumption, questions[i].about, some[0].words, some[0].first, some[0].packets,
                          some[1].words, some[1].first, some[1].packets);
    }
  }
  if (!silent.empty()) text += fmt::format("  not shown by these captures: {}\n", silent);
  return text;
}

int infer(const Options& o) {
  if (o.files.empty()) throw UsageError("no capture is named.", "Name one, or see 'mrc profile infer --help'.");
  Outputs outputs("mrc profile infer");
  for (const std::string& file : o.files) outputs.reads(file);
  Output* const profile = outputs.add("-o", o.out);
  Output* const json = outputs.add("--json", o.json);
  std::vector<log::Ip> wanted;
  if (!o.device.empty()) wanted = addresses_of("--device", o.device);
  std::map<std::string, ref::Readings> devices;
  std::set<std::string> senders;
  ref::Profile read;
  log::ImportOptions captures;
  for (const std::string& file : o.files) captures.files.push_back({file, {}});
  captures.profile = [&](const wire::WireConfig& wire) {
    read.read_as(wire);
    return ref::to_json(read);
  };
  captures.packet = [&](const wire::Packet& packet, const wire::WireConfig& wire, const log::Frame& frame) {
    const auto of = [&](const log::Ip& ip) -> ref::Readings* {
      if (!wanted.empty() && std::ranges::find(wanted, ip) == wanted.end()) return nullptr;
      const std::string name = log::address_text(wanted.empty() ? ip : wanted.front());
      if (devices.size() >= kMostDevices && !devices.contains(name)) return nullptr;
      return &devices[name];
    };
    if (ref::Readings* const to = of(log::mapped_destination(packet))) to->came(packet, wire);
    const log::Ip source = log::mapped_source(packet);
    if (ref::Readings* const from = of(source)) {
      from->packet(packet, wire, frame.number, frame.capture);
      senders.insert(log::address_text(wanted.empty() ? source : wanted.front()));
    }
  };
  std::error_code error;
  const bool once = std::ranges::any_of(
      o.files, [&](const std::string& file) { return !std::filesystem::is_regular_file(file, error); });
  if (!once) CaptureQps::as_they_read(captures);
  const auto imported = log::import_captures(captures, [](log::Record&) {});
  if (!imported) refuse(imported.error());
  std::erase_if(devices, [&](const auto& device) { return !senders.contains(device.first); });
  if (devices.empty()) {
    throw UsageError(o.device.empty() ? "the captures have no packet of MRC."
                                      : fmt::format("no packet of {} is in the captures.", o.device),
                     "Look into them with 'mrc decode'.");
  }
  if (profile != nullptr && devices.size() != 1) {
    throw UsageError(fmt::format("-o is for one device, and the captures have {}.", devices.size()),
                     "Name one with --device ADDRESS.");
  }
  if (json == nullptr || !json->is_stdout()) {
    for (const auto& [name, readings] : devices) text_out() << name << '\n' << text_of(readings);
  }
  outputs.write(profile, [&](std::ostream& out) {
    ref::Profile reported = read;
    reported.name = devices.begin()->first;
    devices.begin()->second.apply(reported.settings);
    out << ref::to_json(reported) << '\n';
  });
  outputs.write(json, [&](std::ostream& out) {
    Json all = Json::array();
    for (const auto& [name, readings] : devices) {
      all.push_back({{"device", name}});
      all.items.back()["questions"] = readings.json();
    }
    out << all.dump(1) << '\n';
  });
  return outputs.finish(kPass);
}

}  // namespace
}  // namespace profile_command

void register_profile(Command& app, Context& context) {
  using namespace profile_command;
  Command& command = app.command("profile", "infer from captures how a NIC reads the open questions");
  command.footer(R"(
Examples:
  mrc profile infer run.pcapng    which reading of each open question a NIC follows, by its packets)");
  auto options = std::make_shared<Options>();
  Command& sub = command.command("infer", "which reading of each open question a NIC follows, by its packets");
  sub.footer(R"(
Examples:
  mrc profile infer run.pcapng                                    a table for each device
  mrc profile infer run.pcapng --device fd00::1 -o nic.json       a profile that holds it to that: mrc check --profile)");
  sub.words("file", options->files, "captures").called("CAPTURE");
  sub.text("--device", options->device, "this one alone: its address, or all of them with commas").called("ADDR");
  sub.text("-o", options->out, "the profile of the device, JSON").called("FILE");
  sub.text("--json", options->json, "the readings as JSON, to a file or -").optional("-").called("FILE");
  sub.action([options, &context] { context.exit_code = infer(*options); });
}

}  // namespace mrc::cli
