// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <set>
#include <string>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/log_input.hpp"
#include "cli/wire_options.hpp"
#include "util/printable.hpp"
#include "wire/capture.hpp"
#include "wire/choices.hpp"
#include "wire/decode.hpp"
#include "wire/json.hpp"
#include "wire/link_layer.hpp"
#include "wire/text.hpp"

namespace mrc::cli {

namespace decode_command {
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

/// What a capture says of itself, as it is read.
class Preface {
 public:
  explicit Preface(const Options& options) { options.wire.over(base_); }

  /// Settings of its interface that are not the default and that the user did not give: of the first one, and of
  /// others that differ from it.
  void settings(const wire::CapturedFrame& frame) {
    if (!known_.insert(frame.interface).second) return;
    const std::string taken = wire::to_options(frame.wire, base_);
    const bool first = known_.size() == 1;
    if (first) reported_ = taken;
    if (taken == (first ? std::string() : reported_)) return;
    std::cout << "taken from the capture" << (first ? std::string() : fmt::format(" (interface {})", frame.interface))
              << ": " << (taken.empty() ? "the defaults" : taken) << '\n';
  }
  void comments(const std::vector<std::string>& all) {
    for (; shown_ < all.size(); ++shown_) std::cout << "comment: " << printable(all[shown_]) << '\n';
  }

 private:
  wire::WireConfig base_;
  std::set<uint32_t> known_;
  std::string reported_;
  std::size_t shown_ = 0;
};

/// "VLAN 10, priority 3", ...: what stood in front of the IP header, and is not shown.
std::string link_text(const wire::CapturedFrame& frame) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : "; ") + words; };
  if (frame.link != wire::kLinkEthernet) add(wire::link_name(frame.link));
  if (frame.port != 0) add(fmt::format("interface {} of the host", frame.port));
  for (const wire::VlanTag& tag : frame.taken.tags) {
    add(fmt::format("VLAN {}, priority {} (0x{:04x})", tag.tci & 0xFFF, tag.tci >> 13, tag.tpid));
  }
  if (frame.taken.extensions != 0) add(fmt::format("{} bytes of IPv6 extension headers", frame.taken.extensions));
  return text;
}

void print_packet(const wire::PacketSource& capture, const wire::CapturedFrame& frame, const wire::Packet& packet) {
  const std::string& name = capture.interfaces()[frame.interface].name;
  std::cout << fmt::format("#{} {} {} ns: {}\n", frame.number,
                           name.empty() ? fmt::format("interface{}", frame.interface) : printable(name), frame.time_ns,
                           wire::summary(packet, frame.wire));
  if (const std::string link = link_text(frame); !link.empty()) std::cout << "  taken off  " << link << '\n';
  std::cout << wire::describe(packet);
  for (const std::string& comment : frame.comments) std::cout << "  comment    " << printable(comment) << '\n';
}

/// A packet of a link type that is not read.
void print_unread(const wire::CapturedFrame& frame, bool json) {
  if (json) {
    std::cout << wire::unread_json(frame) << '\n';
  } else {
    std::cout << fmt::format("#{} interface{} {} ns: {} bytes, {}\n", frame.number, frame.interface, frame.time_ns,
                             frame.bytes.size(),
                             wire::is_read(frame.link) ? "shorter than the header of its link"
                                                       : wire::link_name(frame.link) + ", which is not read");
  }
}

void decode_file(const Options& options) {
  StreamInput input(options.file, "capture");
  const std::unique_ptr<wire::PacketSource> reader = wire::read_capture(input.stream(), input.name());
  Preface preface(options);
  uint64_t packets = 0, wrong = 0, unread = 0;
  for (wire::CapturedFrame frame; reader->next(frame);) {
    if (!std::cout.good()) return;  // nobody reads on
    ++packets;
    options.wire.over(frame.wire);
    if (!options.json) {
      preface.settings(frame);
      preface.comments(reader->comments());
    }
    if (!wire::to_ethernet(frame)) {
      ++unread;
      print_unread(frame, options.json);
    } else if (options.json) {
      std::cout << wire::to_json(frame, frame.number) << '\n';
    } else {
      const wire::Packet packet = wire::decode(frame.bytes, frame.wire);
      wrong += packet.error.has_value();
      print_packet(*reader, frame, packet);
    }
  }
  input.refuse_damage();
  if (reader->error()) refuse(*reader->error());
  if (options.json) return;
  preface.comments(reader->comments());
  std::cout << fmt::format("{} packets, {} with an error{}\n", packets, wrong,
                           unread == 0 ? "" : fmt::format(", {} that are not read", unread));
}

}  // namespace
}  // namespace decode_command

void register_decode(Command& app, Context& context) {
  using namespace decode_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("decode", "show every header of packets");
  command.footer(
      "\nExamples:\n"
      "  mrc decode capture.pcapng                     every header of every packet\n"
      "  mrc decode capture.pcapng --json              one JSON object per packet\n"
      "  mrc encode packets.json | head -1 | xargs mrc decode --hex\n\n"
      "Malformed packets are shown up to the mistake, with its name and byte offset; that is exit code 0.\n"
      "Captures made by mrc say how to read them; an option given here wins over what they say (--icrc-outer=false).\n"
      "docs/reference/wire.md describes the JSON.");
  auto& file =
      command.text("FILE", options->file, "capture: pcapng or pcap, also packed (gzip, zstd); - is standard input");
  auto& hex = command.text("--hex", options->hex, "one frame, Ethernet header first, no FCS");
  file.excludes(hex);
  command.flag("--json", options->json, "one JSON object per packet and line");
  options->wire.add(command);
  command.action([options, &context] {
    const wire::WireConfig config = options->wire.checked();
    if (options->file.empty() && options->hex.empty()) {
      throw UsageError("nothing to decode.", "Name a capture, or give one frame with --hex.");
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
