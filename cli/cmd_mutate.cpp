// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/mutate_captures.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/status_line.hpp"
#include "cli/version.hpp"
#include "input/json.hpp"
#include "log/reader.hpp"
#include "reference/judge.hpp"
#include "reference/load.hpp"
#include "reference/mutation.hpp"
#include "tb/compare/report.hpp"

namespace mrc::cli {
namespace mutate_command {
namespace {
using input::Json;

constexpr const char* kFooter = R"(
Examples:
  mrc cosim --preset tiny --packets 2000 --scenario mixed --record run.mrclog
  mrc mutate --log run.mrclog --count 5000                    5000 mutants of the log, each wrong in one place
  mrc mutate --log run.mrclog --blur 1000 --skew-ns 300       the reverse: logs that show less, ports apart; all must pass
  mrc mutate --log run.mrclog --as cut                        the same in captures that are cut after 128 bytes
  mrc mutate --rules --help                                   one operator of cmodel/protocol changed, in model and peer alike
  mrc mutate --rtl --help                                     one bit of a block of the RTL changed

docs/reference/judge.md says how the judge checks a log.)";

struct Options {
  std::vector<std::string> logs;
  std::string json, as;
  double least = 98;
  uint64_t count = 1000, blur = 0, seed = 1, skew_ns = 300, threads = 0;
  bool list = false;
};

constexpr std::size_t kMostRecords = 4'000'000;

struct Device {
  uint32_t number;
  std::string log;
  ref::Profile profile;
  std::shared_ptr<const std::vector<log::Record>> records;  ///< its own
};

/// The devices of a log, each with its records in the order of time.
std::vector<Device> read_devices(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UsageError("cannot read " + file + ".", "Name a log that 'mrc cosim --record' wrote.");
  log::Reader reader(in, file);
  std::map<uint32_t, std::vector<log::Record>> records;
  std::map<uint32_t, ref::Profile> profiles;
  log::Record record;
  std::size_t count = 0;
  ref::Load load;  // of a judge that hears all of it
  while (reader.next(record)) {
    load.named(record);
    load.weigh(record);
    if (++count > kMostRecords) {
      throw UsageError(fmt::format("{} has more than {} records.", file, kMostRecords), "Record a shorter run.");
    }
    if (const auto* device = std::get_if<log::Device>(&record.body))
      profiles[record.device] = ref::read_profile(device->profile, file);
    records[record.device].push_back(record);
  }
  if (reader.error()) throw UsageError(with_full_stop(reader.error()->sentence()), reader.error()->remedy);
  std::vector<Device> devices;
  for (auto& [number, list] : records) {
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
    devices.push_back({number, file, profiles[number], std::make_shared<std::vector<log::Record>>(std::move(list))});
  }
  return devices;
}

/// The rules that it breaks, without what is merely unknown.
std::vector<std::string> broken_rules(const Device& device, const std::vector<log::Record>& records,
                                      const ref::Profile& profile, std::string* first = nullptr) {
  ref::Judge judge(device.number, profile);
  for (const log::Record& record : records) judge.push(record);
  judge.finish();
  std::vector<std::string> rules;
  for (const ref::Finding& f : judge.report().findings()) {
    const std::string id = ref::info(f.rule).id;
    if (first != nullptr && rules.empty())
      *first = fmt::format("frame {}, {} ns: {}; right would be {}", f.frame, f.time / 1000, f.came, f.right);
    if (std::find(rules.begin(), rules.end(), id) == rules.end()) rules.push_back(id);
  }
  return rules;
}

/// The view of --as; null: logs are judged.
const CaptureView* view_of(const Options& o) {
  const auto at = std::ranges::find(kCaptureViews, o.as, &CaptureView::name);
  return at == kCaptureViews.end() ? nullptr : &*at;
}

/// The other device of the same log; null: it has no other one.
const Device* other_of(const Device& device, const std::vector<Device>& devices) {
  const auto at =
      std::ranges::find_if(devices, [&](const Device& d) { return d.log == device.log && d.number != device.number; });
  return at == devices.end() ? nullptr : &*at;
}

/// As broken_rules(), of captures. Nothing: the view does not show what is broken.
std::optional<std::vector<std::string>> broken_rules(const CaptureView& view, const Device& device,
                                                     const std::vector<Device>& devices, const ref::Mutant& mutant) {
  const auto records = ref::apply(*device.records, mutant);
  if (*mutant.kind != '\0' && !shows(view, *device.records, records)) return {};
  std::vector<CapturedEnd> ends{CapturedEnd{&device.profile, &records}};
  std::vector<log::Record> theirs;
  if (const Device* const other = view.both ? other_of(device, devices) : nullptr) {
    theirs = other_end(*device.records, mutant, *other->records);
    ends.push_back({&other->profile, &theirs});
  }
  return broken_in_captures(view, ends);
}

struct Kind {
  uint64_t mutants = 0, seen = 0;
  std::map<std::string, uint64_t> rules;
  std::vector<std::string> missed;
};

struct Result {
  std::map<std::string, Kind> kinds;
  uint64_t mutants = 0, seen = 0, not_shown = 0;
  uint64_t blurred = 0;
  std::vector<std::string> alarms;
  bool stopped = false;
};

/// Calls `one(n)` for n below count on all threads, until somebody stops it.
template <class One>
bool on_threads(uint64_t count, unsigned threads, const std::string& what, One one) {
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  StatusLine line;
  const auto work = [&](bool shows) {
    for (uint64_t n = next++; n < count && !g_stop; n = next++) {
      try {
        one(n);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = count;
      }
      if (shows && line.on()) line.show(fmt::format("{} of {} {}", n, count, what));
    }
  };
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t) others.emplace_back(work, false);
  work(true);
  for (std::thread& t : others) t.join();
  if (failure) std::rethrow_exception(failure);
  return next >= count && !g_stop;
}

Result mutate(const Options& o, const std::vector<Device>& devices) {
  Result result;
  std::vector<ref::Mutator> mutators;
  mutators.reserve(devices.size());
  for (const Device& d : devices) mutators.emplace_back(*d.records, d.number, d.profile);
  const CaptureView* const view = view_of(o);
  std::mutex mutex;
  const unsigned threads =
      o.threads != 0 ? static_cast<unsigned>(o.threads) : std::max(1u, std::thread::hardware_concurrency());
  const bool all = on_threads(o.blur != 0 ? 0 : o.count, threads, "mutants", [&](uint64_t n) {
    Rng rng(o.seed * 0x9e3779b97f4a7c15u + n, "mutant");
    const std::size_t which = rng.below(devices.size());
    const auto mutant = mutators[which].draw(rng.below(ref::Mutator::num_kinds()), rng);
    if (!mutant) return;
    const Device& device = devices[which];
    std::vector<std::string> rules;
    if (view != nullptr) {
      const auto broken = broken_rules(*view, device, devices, *mutant);
      if (!broken) {
        const std::lock_guard lock(mutex);
        ++result.not_shown;
        return;
      }
      rules = *broken;
    } else {
      rules = broken_rules(device, ref::apply(*device.records, *mutant), device.profile);
    }
    const std::lock_guard lock(mutex);
    Kind& kind = result.kinds[mutant->kind];
    ++kind.mutants;
    ++result.mutants;
    kind.seen += !rules.empty();
    result.seen += !rules.empty();
    for (const std::string& rule : rules) ++kind.rules[rule];
    if (rules.empty() && kind.missed.size() < 5)
      kind.missed.push_back(fmt::format("{}, device {}: {}", device.log, device.number, mutant->what));
  });
  const bool blurred = on_threads(o.blur, threads, "blurred logs", [&](uint64_t n) {
    Rng rng(o.seed * 0x9e3779b97f4a7c15u + n, "blur");
    const Device& device = devices[n % devices.size()];
    ref::Profile profile = device.profile;
    profile.shows = 0;
    profile.skew = std::max<ref::Time>(profile.skew, o.skew_ns * 1000);
    std::string first;
    const auto rules = broken_rules(device, ref::blur(*device.records, o.skew_ns * 1000, rng), profile, &first);
    const std::lock_guard lock(mutex);
    ++result.blurred;
    for (const std::string& rule : rules)
      result.alarms.push_back(fmt::format("{}, device {}, blur {}: {}: {}", device.log, device.number, n, rule, first));
  });
  result.stopped = !all || !blurred;
  return result;
}

int run(const Options& o) {
  if (o.list) {
    for (std::size_t k = 0; k < ref::Mutator::num_kinds(); ++k) text_out() << ref::Mutator::kind_name(k) << '\n';
    return kPass;
  }
  if (o.logs.empty())
    throw UsageError("mrc mutate needs --log, --rules or --rtl.", "'mrc mutate --help' shows examples.");
  const StopOnSignal stop;
  Outputs outputs("mrc mutate");
  std::vector<Device> devices;
  for (const std::string& file : o.logs) {
    outputs.reads(file);
    for (Device& d : read_devices(file)) devices.push_back(std::move(d));
  }
  if (devices.empty())
    throw UsageError(o.logs.front() + " holds no device.", "Record a run with 'mrc cosim --record'.");
  Output* const json = outputs.add("--json", o.json);
  const CaptureView* const view = view_of(o);
  for (const Device& d : devices) {
    const auto rules =
        view != nullptr ? broken_rules(*view, d, devices, {}).value() : broken_rules(d, *d.records, d.profile);
    if (!rules.empty()) {
      throw UsageError(fmt::format("{}, device {}: the {} breaks {} as it is.", d.log, d.number,
                                   view != nullptr ? "capture" : "log", rules.front()),
                       "'mrc check' says more; mutants want a log without findings.");
    }
  }
  const Result r = mutate(o, devices);
  std::ostream& out = text_out();
  for (const auto& [name, kind] : r.kinds) {
    std::string rules;
    for (const auto& [rule, n] : kind.rules) rules += fmt::format(" {} {}", rule, n);
    out << fmt::format("{:<22} {:>6} of {:<6} seen{}\n", name, kind.seen, kind.mutants, rules);
    for (const std::string& missed : kind.missed) out << "  not seen: " << missed << '\n';
  }
  for (const std::string& alarm : r.alarms) out << "false alarm: " << alarm << '\n';
  const double share = r.mutants == 0 ? 0 : 100.0 * static_cast<double>(r.seen) / static_cast<double>(r.mutants);
  if (o.blur == 0) out << fmt::format("{} of {} mutants seen ({:.2f} %)\n", r.seen, r.mutants, share);
  if (r.not_shown != 0) out << fmt::format("{} more leave what the captures show as it was\n", r.not_shown);
  if (o.blur != 0) out << fmt::format("{} blurred logs, {} false alarms\n", r.blurred, r.alarms.size());
  outputs.write(json, [&](std::ostream& to) {
    Json j{{"mutants", r.mutants},  {"seen", r.seen},       {"not_shown", r.not_shown},
           {"share", share},        {"blurred", r.blurred}, {"false_alarms", r.alarms.size()},
           {"versions", versions()}};
    for (const auto& [name, kind] : r.kinds)
      j["kinds"].push_back({{"kind", name}, {"mutants", kind.mutants}, {"seen", kind.seen}, {"rules", kind.rules}});
    to << j.dump(1) << '\n';
  });
  if (r.stopped) return outputs.finish(kInconclusive);
  if (o.blur == 0 && r.mutants == 0) throw UsageError("no place of these logs can be broken.", "Record a longer run.");
  return outputs.finish(!r.alarms.empty() || (o.blur == 0 && share < o.least) ? kFail : kPass);
}

}  // namespace
}  // namespace mutate_command

void register_mutate(Command& app, Context& context) {
  using namespace mutate_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("mutate", "mutate logs, rules or RTL, and count the mutants that are detected");
  command.footer(kFooter);
  command.words("--log", options->logs, "logs to mutate").called("LOG");
  command.number("--count", options->count, 1, 100'000'000, "mutants to draw");
  std::string views = "check captures of the frames instead of the log:";
  for (const CaptureView& v : kCaptureViews) views += fmt::format(" {} ({}),", v.name, v.about);
  views.pop_back();
  std::vector<std::string> names;
  names.reserve(std::size(kCaptureViews));
  for (const CaptureView& v : kCaptureViews) names.emplace_back(v.name);
  command.text("--as", options->as, views).one_of(names);
  command.real("--least", options->least, 0.0, 100.0, "percent of the mutants that must be seen");
  command.number("--blur", options->blur, 0, 100'000'000,
                 "instead of mutants: so many logs that show less; all must pass");
  command.number("--skew-ns", options->skew_ns, 0, 1'000'000, "how far the clocks of ports are apart in blurred logs");
  command.number("--seed", options->seed, 0, kAnySeed, "mutants are drawn from it");
  command.number("--threads", options->threads, 0, 1024, "0: as many as the machine has");
  command.text("--json", options->json, "result as JSON");
  command.flag("--list", options->list, "list the kinds of mutants");
  command.first([&context](const std::vector<std::string>& words) {  // three programs, each with options of its own
    for (const std::string& word : words) {
      if (word == "--rules") become_script(context, "tools/mutate.py", words);
      if (word == "--rtl") become_script(context, "tools/mutate_rtl.py", words);
    }
  });
  command.action([options, &context] { context.exit_code = run(*options); });
}

}  // namespace mrc::cli
