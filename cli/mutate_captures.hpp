// SPDX-License-Identifier: Apache-2.0
/// Mutants of a log as a capture shows them: frames alone, without a profile.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "log/record.hpp"
#include "reference/mutation.hpp"
#include "reference/profile.hpp"

namespace mrc::cli {

/// What a capture has of a run.
struct CaptureView {
  const char* name;
  const char* about;
  bool at = false;        ///< it is known at whose ports it was taken
  bool both = false;      ///< two captures: of the other NIC's ports as well
  unsigned planes = ~0u;  ///< by bit
  std::size_t snap = 0;   ///< bytes of a frame that are there; 0: all
};

inline constexpr std::array<CaptureView, 5> kCaptureViews{{
    {.name = "both", .about = "both ends, each known (--at)", .at = true, .both = true},
    {.name = "end", .about = "one end, known (--at)", .at = true},
    {.name = "bare", .about = "one end, unknown"},
    {.name = "plane", .about = "one plane of two, unknown", .planes = 1},
    {.name = "cut", .about = "one end, unknown, cut after 128 bytes", .snap = 128},
}};

/// One end of a run.
struct CapturedEnd {
  const ref::Profile* profile = nullptr;
  const std::vector<log::Record>* records = nullptr;
};

/// The other end's records when the mutant befalls the frames on their way or at their sender, as far as frames of both
/// ends are the same.
std::vector<log::Record> other_end(const std::vector<log::Record>& mine, const ref::Mutant& mutant,
                                   const std::vector<log::Record>& other);

/// Rules that the captures break, each once. Throws UsageError: they cannot be written or read.
std::vector<std::string> broken_in_captures(const CaptureView& view, const std::vector<CapturedEnd>& ends);

/// Some frame that the view shows differs.
bool shows(const CaptureView& view, const std::vector<log::Record>& before, const std::vector<log::Record>& after);

}  // namespace mrc::cli
