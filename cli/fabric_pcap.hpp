// SPDX-License-Identifier: Apache-2.0
/// A link of the fabric as pcapng.
#pragma once

#include <array>
#include <string>

#include "cli/output_file.hpp"
#include "sim/experiment.hpp"
#include "wire/pcapng.hpp"

namespace mrc::cli {

/// Writes every frame of a link, both directions, as interface of its plane. Lost ones carry a comment.
class LinkCapture final : public sim::Tap {
 public:
  /// "nic3/1=FILE". Throws UsageError.
  LinkCapture(const std::string& option, sim::Experiment& experiment);
  ~LinkCapture() override;
  LinkCapture(const LinkCapture&) = delete;
  LinkCapture& operator=(const LinkCapture&) = delete;

  void sent(sim::LinkId link, bool from_a, sim::Time start, const sim::Packet& packet, bool lost) override;
  void commit() { file_.commit(); }

 private:
  static std::string file_of(const std::string& option);
  sim::Fabric& fabric_;
  sim::LinkId link_;
  unsigned plane_;
  OutputFile file_;
  wire::PcapngWriter writer_;
  std::array<std::string, 2> names_;
  sim::PacketPool pool_;
};

}  // namespace mrc::cli
