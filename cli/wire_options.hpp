// SPDX-License-Identifier: Apache-2.0
/// Options that `mrc decode` and `mrc encode` share, and reading of whole files.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "input/file.hpp"
#include "wire/choices.hpp"
#include "wire/packet.hpp"
#include "wire/result.hpp"

namespace mrc::cli {

/// What the user said about the open choices of the wire format.
class WireOptions {
 public:
  void add(Command& command) {
    udp_port_ = &command.number("--udp-port", config_.udp_port, 1, 65535, "UDP destination port of MRC (A-01)");
    command
        .words("--dscp", dscp_,
               "code point of a class as NAME=N; names: no_trim, trimmable, trimmable_retx, "
               "trimmed, trimmed_lasthop, control (A-04), returned (A-80)")
        .called("NAME=N")
        .one_each();
    for (size_t i = 0; i < flags_.size(); ++i) {
      const wire::ChoiceFlag& flag = wire::kChoiceFlags[i];
      flags_[i] = &command.flag(std::string("--") + flag.name, config_.*flag.value, flag.doc);
    }
  }

  /// Puts what the user said over `to`, the rest of which stays. Throws UsageError.
  void over(wire::WireConfig& to) const {
    if (udp_port_->count > 0) to.udp_port = config_.udp_port;
    for (size_t i = 0; i < flags_.size(); ++i) {
      if (flags_[i]->count > 0) to.*wire::kChoiceFlags[i].value = config_.*wire::kChoiceFlags[i].value;
    }
    for (const std::string& text : dscp_) {
      if (const auto problem = wire::read_dscp(text, to.dscp)) throw UsageError(problem->what + ".", problem->remedy);
    }
  }

  /// The choices where nothing else is said. Throws UsageError.
  wire::WireConfig checked() const {
    wire::WireConfig out;
    over(out);
    return out;
  }

 private:
  wire::WireConfig config_;
  std::vector<std::string> dscp_;
  Option* udp_port_ = nullptr;
  std::array<Option*, wire::kChoiceFlags.size()> flags_{};
};

/// How a file is called in sentences.
inline std::string name_of_file(const std::string& path) { return input::file_name(path); }

/// An error of the wire library as the user sees it.
[[noreturn]] inline void refuse(const wire::Error& error) {
  throw UsageError(with_full_stop(error.sentence()), error.remedy);
}

}  // namespace mrc::cli
