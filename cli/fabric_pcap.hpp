// SPDX-License-Identifier: Apache-2.0
/// A link of the fabric as pcapng.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "sim/engine/codec.hpp"
#include "sim/experiment/experiment.hpp"
#include "wire/pcapng.hpp"

namespace mrc::cli {

/// Writes every frame of a link, both directions, as interface of its plane. Lost ones carry a comment.
class LinkCapture final : public sim::Tap {
 public:
  struct File {
    sim::LinkId link;
    Output* output;
  };
  /// Opens the files of "nic3/1=FILE" and others. Throws UsageError: no such link, a link twice, as Outputs::add().
  static std::vector<File> open(const std::vector<std::string>& options, const sim::Topology& topology,
                                Outputs& outputs);
  LinkCapture(const File& file, sim::Experiment& experiment, const std::string& run_id);
  ~LinkCapture() override;
  LinkCapture(const LinkCapture&) = delete;
  LinkCapture& operator=(const LinkCapture&) = delete;

  /// About the capture as a whole, at its end.
  void note(const std::string& text) { writer_.note(text); }

  void sent(sim::LinkId link, bool from_a, sim::Time start, const sim::Packet& packet, bool lost) override;

 private:
  sim::Fabric& fabric_;
  sim::LinkId link_;
  unsigned plane_;
  sim::FrameContext context_;
  wire::PcapngWriter writer_;
  std::array<std::string, 2> names_;
  sim::PacketPool pool_;
};

}  // namespace mrc::cli
