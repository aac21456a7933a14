// SPDX-License-Identifier: Apache-2.0
/// --bins: which bins of coverage (docs/reference/generated/bins.md) the records of a run show.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cover/bins.hpp"
#include "cover/watcher.hpp"
#include "reference/run.hpp"

namespace mrc::cli {

/// Bins of one run: of this device, or of all.
class RunBins {
 public:
  explicit RunBins(std::optional<uint32_t> device) : device_(device), bins_(std::make_unique<cover::Bins>()) {}

  /// For a judge that is there anyway. It must not outlive this.
  void watch(ref::RunOptions& options) const {
    options.also = [bins = bins_.get(), only = device_](uint32_t device, const ref::Profile& profile,
                                                        const ref::Report& report) -> std::unique_ptr<ref::Checker> {
      if (only && *only != device) return nullptr;
      return cover::make_watcher(profile, report, *bins);
    };
  }
  /// Without one: begins anew, takes records, ends.
  void begin() {
    bins_->clear();
    ref::RunOptions options;
    watch(options);
    judge_ = std::make_unique<ref::Run>(std::move(options));
  }
  void push(const log::Record& record) {
    if (!device_ || record.device == *device_) judge_->push(record);
  }
  void end() {
    if (judge_) judge_->finish();
    judge_.reset();
  }

  const cover::Bins& shown() const { return *bins_; }
  std::string text() const { return bins_->to_text(); }

 private:
  std::optional<uint32_t> device_;
  std::unique_ptr<cover::Bins> bins_;  // where it is is known to watchers
  std::unique_ptr<ref::Run> judge_;
};

/// Help of --bins where it is a flag.
constexpr const char* kBinsHelp =
    "results also list the coverage bins that the device under test hit: docs/guide/coverage.md. It costs as much\n"
    "time as a judge";

}  // namespace mrc::cli
