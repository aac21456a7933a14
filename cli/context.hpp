// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "input/error.hpp"

namespace mrc::cli {

/// Exit codes of every command, the same for people, scripts and CI; those of the scripts are in tools/rtl.py.
enum ExitCode : int {
  kPass = 0,
  kFail = 1,
  kHang = 2,
  kUsage = 3,         ///< wrong use, or the environment: a missing piece, a full disk, a device that ended
  kUnsupported = 4,   ///< the device has not what was asked for
  kInconclusive = 5,  ///< nothing is wrong and nothing is proved: stopped, or nothing to judge
};

/// What --help says of them, in order.
inline constexpr const char* kExitCodes[] = {
    "pass",
    "fail: device and model differ, data are wrong, a check does not hold",
    "hang",
    "wrong use or environment",
    "unsupported: the device lacks what was requested",
    "inconclusive: stopped before the end, or nothing to judge",
};

/// Wrong use, told to the user as one sentence and what to do about it. A command throws it from
/// its callback; `main` prints both on stderr and exits with kUsage.
using UsageError = mrc::InputError;

/// The device lacks what was asked for: a preset, waves, injected bugs. `main` exits with kUnsupported.
class Unsupported : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A sentence ends with a full stop or a question mark.
inline std::string with_full_stop(std::string sentence) {
  if (!sentence.ends_with('.') && !sentence.ends_with('?')) sentence += '.';
  return sentence;
}

/// A reason to end that the user has been told already: `main` exits with kUsage without another word.
class ReportedAlready : public std::exception {};

/// What a command gets from `main` and hands back to it.
struct Context {
  std::filesystem::path root;     ///< the source tree (rtl/, tools/, scenarios)
  std::filesystem::path lib_dir;  ///< where libmrc_dut_rtl_<preset>.so live
  std::string program;            ///< how the user called us, for repro lines
  std::string run_id;             ///< in every file of this run
  std::filesystem::path builder;  ///< builds the RTL that a command asks for (tools/build.sh); empty without ./mrc
  mutable std::set<std::pair<std::string, std::string>> built;  ///< flavours and presets it was called for
  int exit_code = kPass;                                        ///< set by the command's callback
};

/// Replaces this process by a script of the source tree, which prints and exits for itself. It finds this executable in
/// MRC_EXE.
void become_script(const Context& context, const std::string& script, const std::vector<std::string>& arguments);

}  // namespace mrc::cli
