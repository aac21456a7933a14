// SPDX-License-Identifier: Apache-2.0
/// Assertions of the model: MRC_CHECK(count_ < depth_, "a word is pushed into a full FIFO").
#pragma once

#include <stdexcept>
#include <string>

namespace mrc {

/// A check of the model failed: the model itself is wrong, or whoever drives it.
struct CheckFailed : std::logic_error {
  CheckFailed(const char* file, int line, const char* condition, const char* text)
      : std::logic_error(std::string(text) + " (not: " + condition + ")"),
        place(std::string(file) + ":" + std::to_string(line)) {}
  std::string place;  ///< "stream.hpp:40"
};

/// MRC_CHECKS is 1 in Debug and sanitizer builds (cmake/toolchain.cmake), and for the tests of cmodel/pipeline
/// (mrcnic_pipeline_checked). All of cmodel/pipeline that is linked together has the same; nothing else has checks.
#ifndef MRC_CHECKS
#define MRC_CHECKS 0
#endif
inline constexpr bool kChecks = MRC_CHECKS != 0;

/// Out of line and cold, so that a check costs its condition only.
[[noreturn, gnu::cold, gnu::noinline]] inline void check_failed(const char* file, int line, const char* condition,
                                                                const char* text) {
  throw CheckFailed(file, line, condition, text);
}

}  // namespace mrc

/// Throws CheckFailed with the sentence when the condition does not hold. Where checks are off, neither is evaluated.
#if MRC_CHECKS
#define MRC_CHECK(condition, text) \
  (static_cast<bool>(condition) ? void() : ::mrc::check_failed(__FILE_NAME__, __LINE__, #condition, text))
#else
#define MRC_CHECK(condition, text) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
