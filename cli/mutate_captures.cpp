// SPDX-License-Identifier: Apache-2.0
#include "cli/mutate_captures.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/capture_qps.hpp"
#include "cli/context.hpp"
#include "cli/wire_options.hpp"
#include "log/import.hpp"
#include "reference/run.hpp"
#include "wire/pcapng.hpp"

namespace mrc::cli {
namespace {

constexpr log::Time kPsPerNs = 1000;

const log::Frame* frame_of(const CaptureView& view, const log::Record& record) {
  const auto* const frame = std::get_if<log::Frame>(&record.body);
  return frame != nullptr && (view.planes >> frame->plane & 1) != 0 ? frame : nullptr;
}

/// A capture in the folder for temporary files; it goes away with this.
class File {
 public:
  File(const CaptureView& view, const CapturedEnd& end) {
    static std::atomic<unsigned> number{0};
    path_ = std::filesystem::temp_directory_path() /
            ("mrc-mutant-" + std::to_string(::getpid()) + "-" + std::to_string(number++) + ".pcapng");
    std::ofstream out(path_, std::ios::binary);
    wire::PcapngWriter writer(out, end.profile->wire(), log::kMaxPlanes);
    for (const log::Record& record : *end.records) {
      const log::Frame* const frame = frame_of(view, record);
      if (frame == nullptr) continue;
      const std::size_t there = view.snap == 0 ? frame->bytes.size() : std::min(frame->bytes.size(), view.snap);
      const auto length = std::max<uint32_t>(frame->length, static_cast<uint32_t>(frame->bytes.size()));
      writer.write(frame->plane, record.time / kPsPerNs, std::span(frame->bytes).first(there), {}, length);
    }
    if (!out.flush())
      throw UsageError("cannot write " + path_.string() + ".", "Make room there, or name another folder: TMPDIR.");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

std::vector<log::Record> other_end(const std::vector<log::Record>& mine, const ref::Mutant& mutant,
                                   const std::vector<log::Record>& other) {
  std::vector<log::Record> there;
  std::vector<const log::Record*> before;  // frames of mine that are others now, or gone
  std::vector<const std::vector<log::Record>*> instead;
  for (const ref::Mutant::Change& change : mutant.changes) {
    const log::Record& record = mine[change.index];
    const auto* const frame = std::get_if<log::Frame>(&record.body);
    // What did not come to this NIC may have been at the other one; what it did not send was not.
    if (frame == nullptr || (change.instead.empty() && !frame->sent)) continue;
    before.push_back(&record);
    instead.push_back(&change.instead);
  }
  for (const log::Record& record : other) {
    const auto* const frame = std::get_if<log::Frame>(&record.body);
    const auto same = std::ranges::find_if(before, [&](const log::Record* one) {
      if (frame == nullptr || one == nullptr) return false;
      const auto& was = std::get<log::Frame>(one->body);
      return was.sent != frame->sent && was.plane == frame->plane && was.bytes == frame->bytes;
    });
    if (same == before.end()) {
      there.push_back(record);
      continue;
    }
    *same = nullptr;
    for (const log::Record& one : *instead[static_cast<std::size_t>(same - before.begin())]) {
      const auto* const now = std::get_if<log::Frame>(&one.body);
      if (now == nullptr) continue;
      log::Record changed = record;
      auto& to = std::get<log::Frame>(changed.body);
      to.bytes = now->bytes;
      to.length = now->length;
      there.push_back(std::move(changed));
    }
  }
  return there;
}

std::vector<std::string> broken_in_captures(const CaptureView& view, const std::vector<CapturedEnd>& ends) {
  std::vector<std::unique_ptr<File>> files;
  log::ImportOptions captures;
  for (const CapturedEnd& end : ends) {
    files.push_back(std::make_unique<File>(view, end));
    captures.files.push_back({files.back()->path(), {}});
    if (!view.at) continue;
    captures.files.back().at = captures.devices.size();
    captures.devices.push_back({end.profile->addresses, {}, {}});
  }
  captures.profile = [](const wire::WireConfig& wire) {
    ref::Profile none;
    none.read_as(wire);
    return ref::to_json(none);
  };
  const CaptureQps qps(captures);
  captures.qps = [&](const log::ImportDevice& device) { return qps.of(device); };
  ref::Run run({});
  const auto imported = log::import_captures(captures, [&](log::Record& record) {
    auto own = std::make_unique<log::Record>(std::move(record));
    run.take(own);
  });
  if (!imported) refuse(imported.error());
  run.evidence({*imported, {}, qps.unreported()});
  run.finish();
  std::vector<std::string> rules;
  for (const ref::Finding& f : run.findings()) {
    const std::string id = ref::info(f.rule).id;
    if (std::ranges::find(rules, id) == rules.end()) rules.push_back(id);
  }
  return rules;
}

bool shows(const CaptureView& view, const std::vector<log::Record>& before, const std::vector<log::Record>& after) {
  const auto next = [&](auto at, const auto& of) {
    return std::find_if(at, of.end(), [&](const log::Record& r) { return frame_of(view, r) != nullptr; });
  };
  auto a = next(before.begin(), before), b = next(after.begin(), after);
  for (; a != before.end() && b != after.end(); a = next(a + 1, before), b = next(b + 1, after)) {
    const auto &one = std::get<log::Frame>(a->body), &other = std::get<log::Frame>(b->body);
    if (a->time / kPsPerNs != b->time / kPsPerNs || one.plane != other.plane || one.bytes != other.bytes) return true;
  }
  return a != before.end() || b != after.end();
}

}  // namespace mrc::cli
