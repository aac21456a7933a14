// SPDX-License-Identifier: Apache-2.0
/// Options that `mrc decode` and `mrc encode` share, and reading of whole files.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "input/file.hpp"
#include "wire/choices.hpp"
#include "wire/packet.hpp"
#include "wire/result.hpp"

namespace mrc::cli {

/// What the user said about the open choices of the wire format.
class WireOptions {
 public:
  void add(CLI::App& command) {
    udp_port_ = number_option(command, "--udp-port", config_.udp_port, 1, 65535, "UDP destination port of MRC (A-01)");
    command
        .add_option("--dscp", dscp_,
                    "code point of a class as NAME=N; names: no_trim, trimmable, trimmable_retx, "
                    "trimmed, trimmed_lasthop, control (A-04), returned (A-80)")
        ->type_name("NAME=N")
        ->allow_extra_args(false);
    for (size_t i = 0; i < flags_.size(); ++i) {
      const wire::ChoiceFlag& flag = wire::kChoiceFlags[i];
      flags_[i] = command.add_flag(std::string("--") + flag.name, config_.*flag.value, flag.doc);
    }
  }

  /// Puts what the user said over `to`, the rest of which stays. Throws UsageError.
  void over(wire::WireConfig& to) const {
    if (udp_port_->count() > 0) to.udp_port = config_.udp_port;
    for (size_t i = 0; i < flags_.size(); ++i) {
      if (flags_[i]->count() > 0) to.*wire::kChoiceFlags[i].value = config_.*wire::kChoiceFlags[i].value;
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
  CLI::Option* udp_port_ = nullptr;
  std::array<CLI::Option*, wire::kChoiceFlags.size()> flags_{};
};

/// How a file is called in sentences.
inline std::string name_of_file(const std::string& path) { return input::file_name(path); }

/// An error of the wire library as the user sees it.
[[noreturn]] inline void refuse(const wire::Error& error) {
  throw UsageError(with_full_stop(error.sentence()), error.remedy);
}

}  // namespace mrc::cli
