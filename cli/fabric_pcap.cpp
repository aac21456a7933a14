// SPDX-License-Identifier: Apache-2.0
#include "cli/fabric_pcap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/engine/codec.hpp"

namespace mrc::cli {
namespace {}  // namespace

std::vector<LinkCapture::File> LinkCapture::open(const std::vector<std::string>& options, const sim::Topology& topology,
                                                 Outputs& outputs) {
  std::vector<File> files;
  for (const std::string& option : options) {
    const auto equals = option.find('=');
    const sim::LinkId link = equals == std::string::npos ? sim::kNone : topology.find_link(option.substr(0, equals));
    if (link == sim::kNone || equals + 1 == option.size()) {
      throw UsageError(
          fmt::format("--pcap {} names no link and file.", option),
          fmt::format("Write --pcap nic0/0=FILE{}.", topology.clos() ? " or --pcap T0-0-0:T1-0-0=FILE" : ""));
    }
    if (std::any_of(files.begin(), files.end(), [&](const File& f) { return f.link == link; })) {
      throw UsageError(fmt::format("--pcap {} names a link that another --pcap names already.", option),
                       "Give one file for each link.");
    }
    files.push_back({link, outputs.add("--pcap", option.substr(equals + 1))});
  }
  return files;
}

namespace {
sim::FrameContext context_of(const FabricProfile& profile) {
  sim::FrameContext context;
  context.wire.dscp = sim::dscp_of(profile);
  return context;
}
}  // namespace

LinkCapture::LinkCapture(const File& file, sim::Experiment& experiment, const std::string& run_id)
    : fabric_(experiment.fabric()),
      link_(file.link),
      plane_(experiment.topology().plane_of(link_)),
      context_(context_of(experiment.topology().profile())),
      writer_(file.output->stream(), context_.wire, experiment.topology().planes(),
              static_cast<unsigned>(link_ < experiment.topology().hosts() * experiment.topology().planes()
                                        ? experiment.topology().config().gbps
                                        : experiment.topology().uplink_gbps()),
              std::vector<std::string>{"run " + run_id}) {
  const auto [a, b] = fabric_.ends(link_);
  names_ = {fabric_.name(a.node) + " to " + fabric_.name(b.node), fabric_.name(b.node) + " to " + fabric_.name(a.node)};
  fabric_.set_tap(link_, true, this);
  fabric_.set_tap(link_, false, this);
}

LinkCapture::~LinkCapture() {
  fabric_.set_tap(link_, true, nullptr);
  fabric_.set_tap(link_, false, nullptr);
}

void LinkCapture::sent(sim::LinkId, bool from_a, sim::Time start, const sim::Packet& packet, bool lost) {
  std::vector<std::string> comments{names_[from_a ? 0 : 1]};
  if (lost) comments.emplace_back("lost on this link");
  const auto write = [&](const sim::Packet& whole) {
    writer_.write(plane_, start / sim::kNs, sim::frame_of(whole), comments);
  };
  if (sim::has_bytes(packet)) {
    write(packet);
    return;
  }
  // A copy of the fields gets the bytes; the packet itself goes on without.
  const sim::PacketPtr copy = sim::copy(pool_, packet);
  if (sim::give_frame(pool_, *copy, context_)) write(*copy);
}

}  // namespace mrc::cli
