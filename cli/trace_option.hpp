// SPDX-License-Identifier: Apache-2.0
/// --trace: a run, or a log, as a trace of Perfetto.
#pragma once

#include <functional>
#include <optional>
#include <ostream>

#include "cli/output.hpp"
#include "picture/story.hpp"
#include "picture/trace.hpp"

namespace mrc::cli {

inline constexpr const char* kTraceHelp =
    "packets, work requests, windows as a trace for ui.perfetto.dev: docs/guide/pictures.md";

/// What is told of a run for its trace; nothing when nobody asked.
class TraceOption {
 public:
  /// `keep`: the story is wanted for more than the trace.
  explicit TraceOption(Output* output, bool keep = false) : output_(output) {
    if (output != nullptr || keep) story_.emplace();
  }
  bool on() const { return output_ != nullptr; }
  void add(const log::Record& record) {
    if (story_) story_->add(record);
  }
  /// What was told, after write(); null when nobody asked.
  const picture::Story* story() const { return story_ ? &*story_ : nullptr; }
  /// Writes the trace, at the end of the run. `more` puts in what the log does not have.
  void write(Outputs& outputs, const std::function<void(picture::Story&)>& more = {}) {
    if (!story_) return;
    outputs.attempt([&] {
      story_->finish();
      if (more) more(*story_);
    });
    outputs.write(output_, [&](std::ostream& out) { picture::write_trace(*story_, out); });
    if (story_->full()) {
      outputs.complain("--trace holds the first 2^24 frames alone.",
                       "Use fewer packets, or --record-nics, to have all of it.");
    }
  }

 private:
  Output* output_;
  std::optional<picture::Story> story_;
};

}  // namespace mrc::cli
