// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/addresses.hpp"
#include "cli/capture_qps.hpp"
#include "cli/check_gains.hpp"
#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/failure_page.hpp"
#include "cli/live.hpp"
#include "cli/log_input.hpp"
#include "cli/output.hpp"
#include "cli/run_bins.hpp"
#include "cli/signals.hpp"
#include "cli/spool.hpp"
#include "cli/status_line.hpp"
#include "cli/trace_option.hpp"
#include "cli/version.hpp"
#include "cli/waiver_option.hpp"
#include "input/file.hpp"
#include "log/import.hpp"
#include "picture/check_page.hpp"
#include "picture/page.hpp"
#include "picture/trace.hpp"
#include "reference/run.hpp"
#include "util/printable.hpp"
#include "wire/capture.hpp"
#include "wire/pcapng.hpp"

namespace mrc::cli {
namespace check_command {
namespace {

struct Options {
  std::vector<std::string> files, devices, at, waive, live;
  std::string profile, json, html, annotate, trace, pages, coverage, bins, ring;
  bool strict = false, rules = false, replay = false, gains = false, qps = false;
  uint64_t slow = 1, learn = 3, ring_mb = 64;
  /// What is judged is called so.
  std::string name() const { return live.empty() ? files.front() : "--live"; }
};

/// What a profile may be.
constexpr input::FileKind kProfile{"profile", input::kJsonBytes, "Name an existing file that you may read."};

void list_rules() {
  std::cout << fmt::format("{:<18} {:<9} {:<9} {:<4} {}\n", "rule", "if broken", "held by", "mark", "what must hold");
  for (const ref::RuleInfo& rule : ref::kRules) {
    const char* verdict = rule.severity == ref::Severity::Fail       ? "fail"
                          : rule.severity == ref::Severity::Deviates ? "deviates"
                                                                     : "broken";
    std::cout << fmt::format("{:<18} {:<9} {:<9} {:<4} {}. [{}]\n", rule.id, verdict, rule.part, rule.mark, rule.text,
                             rule.cite);
  }
}

ref::RunOptions run_options(const Options& o) {
  ref::RunOptions run;
  run.devices = o.devices;
  if (!o.profile.empty()) {
    const std::string name = input::file_name(o.profile);
    run.profile = ref::read_profile(input::read_text(o.profile, kProfile), name);
  }
  run.waive = waivers_of(o.waive);
  run.versions = versions();
  run.every_way = o.qps;
  return run;
}

/// How far long work has come, on a terminal; and whether it was stopped.
class Progress {
 public:
  Progress(std::string command, const std::vector<std::string>& files) : command_(std::move(command)) {
    for (const std::string& file : files) {
      std::error_code error;
      const auto size = std::filesystem::file_size(file, error);
      if (!error) total_ += size;
    }
  }
  /// Call it now and then with the bytes that were read of this file, or of all. False: stop.
  bool go_on(uint64_t bytes, uint64_t packets) {
    if (g_stop) return false;
    newest_ = bytes;
    const Clock::time_point now = Clock::now();
    if (!line_.on() || now - shown_ < std::chrono::milliseconds(250)) return true;
    shown_ = now;
    const double done = total_ == 0 ? 0 : static_cast<double>(before_ + bytes) / static_cast<double>(total_);
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    line_.show(fmt::format("{}: {:.0f} %, {} packets, {:.0f} packets/s, {} left", command_, 100 * std::min(done, 1.0),
                           packets, static_cast<double>(packets) / std::max(seconds, 0.001), time_left(seconds, done)));
    return true;
  }
  void next_file() { before_ += std::exchange(newest_, 0); }
  void clear() { line_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  std::string command_;
  StatusLine line_;
  uint64_t total_ = 0, before_ = 0, newest_ = 0;
  Clock::time_point begin_ = Clock::now(), shown_ = begin_;
};

enum class Kind : uint8_t { Log, Capture };

Kind kind_of(LogInput& input) {
  using std::string_view_literals::operator""sv;
  const std::string_view ahead = input.buffer().ahead();
  if (wire::begins_like_a_capture(ahead)) return Kind::Capture;
  if (input.buffer().error() == 0 && ahead.empty() && !g_stop) {
    throw UsageError(input.name() + ": nothing stands in it.", "Name a log of mrc or a capture (pcapng or pcap).");
  }
  if (input.buffer().error() == 0 && !ahead.starts_with("MRCL"sv.substr(0, ahead.size()))) {
    throw UsageError(input.name() + ": neither a log of mrc nor a capture (pcapng or pcap).",
                     "Logs come from 'mrc cosim --record FILE', 'mrc fabric --record FILE' and 'mrc log import'; "
                     "Wireshark, dumpcap and tcpdump write captures.");
  }
  return Kind::Log;
}

/// Reads a log to its end, or until it is stopped.
void push_log(LogInput& input, Progress& progress, ref::Run& run, TraceOption& trace) {
  auto record = std::make_unique<log::Record>();
  for (uint64_t n = 1; input.reader().next(*record); ++n) {
    trace.add(*record);
    run.take(record);
    if (n % 4096 == 0 && !progress.go_on(input.reader().offset(), run.packets())) break;
  }
  progress.clear();
  if (g_stop) return;
  input.refuse_damage();
  if (input.reader().unfinished() != 0) run.stopped(input.name() + " was not finished");
}

/// std::cin reads from there while this lives.
class ReadFrom {
 public:
  ReadFrom(std::streambuf& buffer, bool wanted) : before_(wanted ? std::cin.rdbuf(&buffer) : nullptr) {}
  ReadFrom(const ReadFrom&) = delete;
  ReadFrom& operator=(const ReadFrom&) = delete;
  ~ReadFrom() {
    if (before_ != nullptr) std::cin.rdbuf(before_);
  }

 private:
  std::streambuf* before_;
};

bool is_stream(const std::string& file) {
  std::error_code error;
  return file == "-" || (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error));
}

/// The first file that can be read once only; nothing: all can be read again.
std::optional<std::string> read_once(const Options& o) {
  const auto at = std::ranges::find_if(o.files, is_stream);
  return at == o.files.end() ? std::nullopt : std::optional(*at);
}

/// Which captures, at whose ports, of which devices, and how they are read.
log::ImportOptions import_options(const Options& o, const ref::RunOptions& how) {
  log::ImportOptions captures;
  captures.slow = o.slow;
  for (const std::string& file : o.files) captures.files.push_back({file, {}});
  if (!o.live.empty()) captures.files.push_back({"-", {}, "the live capture"});
  if (how.profile) captures.wire = how.profile->wire();
  if (how.profile) {
    std::vector<log::Ip> own = how.profile->addresses;
    for (const log::Qp& qp : how.profile->qps) {
      if (qp.own_ip != log::Ip{} && std::ranges::find(own, qp.own_ip) == own.end()) own.push_back(qp.own_ip);
    }
    if (!own.empty()) device_of(captures, own);
  }
  for (const std::string& text : o.devices) device_of(captures, addresses_of("--device", text));
  for (const std::string& text : o.at) {
    const auto equals = text.find('=');
    if (equals != std::string::npos && std::ranges::find(o.files, text.substr(equals + 1)) == o.files.end()) {
      throw UsageError("--at " + text + " names a capture that is not checked.", "Name one of those that are.");
    }
    const std::size_t index = device_of(captures, addresses_of("--at", text.substr(0, equals)));
    for (log::ImportFile& file : captures.files) {
      if (equals == std::string::npos || file.path == text.substr(equals + 1)) file.at = index;
    }
  }
  captures.profile = [&how](const wire::WireConfig& wire) {
    ref::Profile none;
    if (!how.profile) none.read_as(wire);
    return ref::to_json(how.profile.value_or(none));
  };
  return captures;
}

/// Frames have to tell of QPs.
bool infers(const ref::RunOptions& how) { return !how.profile || how.profile->qps.empty(); }

/// Judges captures. Which frames left or reached a device for certain is known of captures at its ports only. Returns
/// why they could not be read.
std::optional<wire::Error> judge_captures(log::ImportOptions& captures, const std::optional<CaptureQps>& reported,
                                          const std::vector<std::string>& names, ref::Run& run, TraceOption& trace) {
  if (reported) captures.qps = [&](const log::ImportDevice& d) { return reported->of(d); };
  auto own = std::make_unique<log::Record>();
  const auto imported = log::import_captures(captures, [&](log::Record& record) {
    trace.add(record);
    std::swap(*own, record);
    run.take(own);
  });
  if (!imported) return imported.error();
  ref::Evidence evidence{*imported, names};
  if (reported) {
    evidence.unreported = reported->unreported();
    evidence.facts = reported->facts();
    evidence.read_as = reported->trims();
  }
  run.evidence(std::move(evidence));
  return std::nullopt;
}

/// Captures become one log.
void push_captures(const Options& o, const ref::RunOptions& how, LogInput& first, Progress& progress, ref::Run& run,
                   TraceOption& trace) {
  log::ImportOptions captures = import_options(o, how);
  // What is no file can be opened once: it is open already.
  const ReadFrom from(first.buffer(), first.size() == 0);
  if (first.size() == 0) captures.files.front().path = "-";
  captures.progress = [&](uint64_t bytes) { return progress.go_on(bytes, run.packets()); };
  std::optional<CaptureQps> reported;
  std::vector<std::unique_ptr<Spool>> spools;
  if (infers(how)) {
    for (std::size_t i = 0; i < o.files.size(); ++i) {
      if (!is_stream(o.files[i])) continue;
      log::ImportFile& file = captures.files[i];
      file.name = input::file_name(file.path);
      std::optional<StreamInput> other;
      if (i != 0) other.emplace(o.files[i], "capture");
      std::istream in(i == 0 ? static_cast<std::streambuf*>(&first.buffer()) : &other->buffer());
      spools.push_back(std::make_unique<Spool>(in, file.name, [] { return !g_stop; }));
      file.path = spools.back()->path();
    }
    reported = how.profile ? CaptureQps(captures) : CaptureQps::as_they_read(captures);
  }
  const auto problem = judge_captures(captures, reported, o.files, run, trace);
  progress.clear();
  if (problem && !g_stop) refuse(*problem);
}

/// How a live capture goes on: a line each second, and each rule that is broken as soon as it is.
class LiveStatus {
 public:
  explicit LiveStatus(const ref::Run& run) : run_(run) {}
  void packet() { ++packets_; }
  uint64_t packets() const { return packets_; }
  /// Call it often.
  void tick() {
    const Clock::time_point now = Clock::now();
    if (now - shown_ < std::chrono::seconds(1)) return;
    uint64_t findings = 0;
    for (const ref::Run::Alike& group : run_.alike()) {
      findings += group.count;
      const ref::Finding& f = group.first;
      if (!known_.emplace(f.device, f.rule).second) continue;
      line_.clear();
      text_out() << printable(fmt::format("{} {}: {}\n  ", ref::time_text(f.time), run_.name_of_device(f.device),
                                          run_.head(f)) +
                              ref::to_text(f))
                 << std::flush;
    }
    const std::string line = fmt::format("mrc check: {} s, {} packets, {} packets/s, {} findings",
                                         std::chrono::duration_cast<std::chrono::seconds>(now - begin_).count(),
                                         packets_, packets_ - packets_shown_, findings);
    packets_shown_ = packets_;
    shown_ = now;
    if (line_.on()) {
      line_.show(line);
    } else {
      std::cerr << line << std::endl;
    }
  }
  void clear() { line_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  const ref::Run& run_;
  StatusLine line_;
  uint64_t packets_ = 0, packets_shown_ = 0;
  std::set<std::pair<uint32_t, ref::Rule>> known_;
  Clock::time_point begin_ = Clock::now(), shown_ = begin_;
};

/// Judges what dumpcap captures until Ctrl-C. It cannot be read twice: QPs are those of its first seconds.
void push_live(const Options& o, const ref::RunOptions& how, PacketRing& ring, ref::Run& run, TraceOption& trace) {
  log::ImportOptions captures = import_options(o, how);
  LiveStatus status(run);
  LiveCapture live(o.live);
  live.each([&] { status.tick(); });
  std::optional<CaptureQps> reported;
  if (infers(how)) {
    if (o.learn != 0) live.keep(std::chrono::seconds(o.learn));
    std::istringstream kept{std::string(live.kept())};
    const ReadFrom from(*kept.rdbuf(), true);
    reported.emplace(captures, true);
  }
  const ReadFrom from(live, true);
  captures.each = 64;
  captures.captured = [&](const wire::CapturedFrame& frame, const wire::PacketSource& source) {
    status.packet();
    if (!o.ring.empty()) ring.add(frame, source);
  };
  captures.progress = [&](uint64_t) {
    status.tick();
    const auto devices = run.judged();
    if (std::ranges::any_of(devices, [&](const auto& one) { return !run.found(one.first).empty(); })) ring.found();
    return true;
  };
  const auto problem = judge_captures(captures, reported, {}, run, trace);
  status.clear();
  if (const std::string why = live.failure(); !why.empty()) {
    if (status.packets() == 0) {
      throw UsageError(fmt::format("dumpcap cannot capture on {}: {}.", fmt::join(o.live, ", "), why), live.remedy());
    }
    run.stopped("dumpcap ended: " + why);
  } else if (problem) {
    refuse(*problem);
  }
  g_stop = false;  // it was the end of the capture, not of the judging
}

/// Comment of a packet: what it broke.
std::string comment_of(const ref::Finding& f) {
  return fmt::format("{} {}: {}; came {}; right {}", ref::name_of(f.verdict), ref::info(f.rule).id,
                     ref::info(f.rule).text, f.came, f.right);
}

/// Comments of the packets that broke a rule, by capture or (of a log) device and their numbers.
class Comments {
 public:
  Comments(const ref::Run& run, Kind kind) {
    for (const ref::Finding& f : run.findings()) {
      if (f.frame != 0) of_[{kind == Kind::Log ? f.device : f.capture, f.frame}].push_back(comment_of(f));
    }
  }
  std::vector<std::string> of(uint32_t which, uint64_t number) const {
    const auto at = of_.find({which, number});
    return at == of_.end() ? std::vector<std::string>{} : at->second;
  }

 private:
  std::map<std::pair<uint32_t, uint64_t>, std::vector<std::string>> of_;
};

/// Copies are pcapng, whatever the capture is, and not packed.
std::string annotated_name(const std::string& file) {
  std::filesystem::path name = std::filesystem::path(file).filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name.replace_extension();
  if (name.extension() == ".pcap" || name.extension() == ".cap") name.replace_extension(".pcapng");
  return name.string();
}

/// A capture once more, packet by packet, with comments on packets by their numbers.
template <class CommentsOf>
void copy(const std::string& file, std::ostream& to, CommentsOf&& comments_of) {
  StreamInput input(file, "capture");
  const std::unique_ptr<wire::PacketSource> reader = wire::read_capture(input.stream(), input.name());
  std::optional<wire::PcapngWriter> writer;
  std::size_t reported = 0;
  const auto describe = [&](const wire::WireConfig& how) {
    if (!writer) {
      writer.emplace(to, how, 0, 0, reader->comments());
      reported = reader->comments().size();
    }
    while (writer->interfaces() < reader->interfaces().size()) {
      writer->add_interface(reader->interfaces()[writer->interfaces()]);
    }
    for (; reported < reader->comments().size(); ++reported) writer->note(reader->comments()[reported]);
  };
  for (wire::CapturedFrame frame; !g_stop && reader->next(frame);) {
    describe(frame.wire);
    for (std::string& text : comments_of(frame.number)) frame.comments.push_back(std::move(text));
    writer->write(frame);
  }
  describe({});
  if (reader->error() && !g_stop) refuse(*reader->error());
}

/// Copies of the captures, or of what a log holds of each device, with a comment on each packet that broke a rule.
void annotate(const Options& o, const ref::Run& run, Kind kind, const OutputFolder& folder, Outputs& outputs) {
  const auto refuse_stop = [] {
    if (g_stop) throw UsageError("--annotate was not written: the check was stopped.", "Let it come to its end.");
  };
  refuse_stop();
  const Comments comments(run, kind);
  const auto path_of = [&](const std::string& name) { return (folder.path() / name).string(); };
  if (kind == Kind::Capture) {
    for (uint32_t i = 0; i < o.files.size(); ++i) {
      const std::string& file = o.files[i];
      Output* const out = outputs.add("--annotate", path_of(annotated_name(file)));
      outputs.write(out, [&](std::ostream& stream) {
        copy(file, stream, [&](uint64_t number) { return comments.of(i, number); });
        refuse_stop();
      });
    }
    return;
  }
  for (const auto& judged : run.judged()) {
    const uint32_t number = judged.first;
    const ref::Profile* const profile = judged.second;
    Output* const out = outputs.add("--annotate", path_of(fmt::format("device{}.pcapng", number)));
    outputs.write(out, [&](std::ostream& stream) {
      wire::PcapngWriter writer(stream, profile->wire(), log::kMaxPlanes, static_cast<unsigned>(profile->port_gbps));
      for (const std::string& file : o.files) {
        LogInput input(file);
        for (log::Record record; !g_stop && input.reader().next(record);) {
          const auto* frame = std::get_if<log::Frame>(&record.body);
          if (frame == nullptr || record.device != number) continue;
          writer.write(frame->plane, record.time / 1000, frame->bytes, comments.of(number, frame->number),
                       frame->length);
        }
        refuse_stop();
      }
    });
  }
}

int exit_code(ref::Verdict verdict, bool strict) {
  switch (verdict) {
    case ref::Verdict::Pass:
      return kPass;
    case ref::Verdict::Deviates:
      return strict ? kFail : kPass;
    case ref::Verdict::Inconclusive:
      return kInconclusive;
    case ref::Verdict::Fail:
      return kFail;
    case ref::Verdict::Broken:
      break;
  }
  return kUsage;
}

std::string repro(const Options& o, const Context& context) {
  std::string text = context.program + (o.replay ? " replay" : " check");
  for (const std::string& file : o.files) text += " " + file;
  for (const std::string& interface : o.live) text += " --live " + interface;
  if (!o.profile.empty()) text += " --profile " + o.profile;
  for (const std::string& device : o.devices) text += " --device " + device;
  return text;
}

/// A page for the first finding of each rule and device, what their links name, and a page that lists them.
void pages(const Options& o, const ref::Run& run, Kind kind, const OutputFolder& folder, const picture::Story& story,
           const std::string& repro, Outputs& outputs) {
  const auto path_of = [&](const std::string& name) { return (folder.path() / name).string(); };
  const std::vector<ref::Finding> all = run.findings();
  picture::Page index("Findings: " + o.files.front());
  index.verdict(fmt::format("{}, {} packets of {} devices, {} findings", ref::name_of(run.verdict()), run.packets(),
                            run.devices(), all.size()),
                run.verdict() == ref::Verdict::Pass);
  index.lines(repro);
  std::vector<std::pair<std::string, std::string>> files;
  if (!all.empty()) {
    Output* const file = outputs.add("--pages", path_of("trace.pftrace"));
    outputs.write(file, [&](std::ostream& out) { picture::write_trace(story, out); });
    files.emplace_back("trace.pftrace", "all of the log as a trace (ui.perfetto.dev)");
    annotate(o, run, kind, folder, outputs);
  }
  std::set<std::pair<uint32_t, ref::Rule>> done;
  std::vector<std::pair<std::string, std::string>> links;
  for (const ref::Finding& f : all) {
    if (run.waived(f.rule) || !done.emplace(f.device, f.rule).second) continue;
    const std::string name = fmt::format("{}-{}.html", f.device, ref::info(f.rule).id);
    auto beside = files;
    const std::string capture = kind == Kind::Log            ? fmt::format("device{}.pcapng", f.device)
                                : f.capture < o.files.size() ? annotated_name(o.files[f.capture])
                                                             : std::string();
    if (!capture.empty())
      beside.emplace_back(capture, f.frame == 0 ? "frames, with comments on those that broke a rule (Wireshark)"
                                                : fmt::format("frames; number {} has a comment (Wireshark)", f.frame));
    beside.emplace_back("index.html", "all findings");
    Output* const page = outputs.add("--pages", path_of(name));
    outputs.write(
        page, [&](std::ostream& out) { out << finding_page(f, run.name_of_device(f.device), repro, story, beside); });
    const uint64_t times = std::ranges::count_if(
        all, [&](const ref::Finding& other) { return other.rule == f.rule && other.device == f.device; });
    links.emplace_back(
        name, fmt::format("{}, {}, {} us: {}{}", ref::name_of(f.verdict), run.name_of_device(f.device),
                          picture::us_text(f.time), f.came, times > 1 ? fmt::format(" ({} findings)", times) : ""));
  }
  if (links.empty()) index.paragraph("No rule was broken that counts.");
  index.links(links);
  index.paragraph(versions_line());
  Output* const list = outputs.add("--pages", path_of("index.html"));
  outputs.write(list, [&](std::ostream& out) { out << index.html(); });
}

/// What does not go together with a live capture, and what needs one.
void refuse_live(const Options& o) {
  if (o.live.empty()) {
    if (!o.ring.empty()) throw UsageError("--ring keeps packets of a live capture.", "Add --live INTERFACE.");
    return;
  }
  const auto refuse_with = [](bool given, const std::string& option, const char* remedy) {
    if (given) throw UsageError("--live and " + option + " do not go together.", remedy);
  };
  refuse_with(!o.files.empty(), o.files.empty() ? "" : o.files.front(), "Leave out the file: --live reads interfaces.");
  constexpr const char* kTwice = "A live capture cannot be read twice: --ring DIR keeps the packets around a finding.";
  refuse_with(!o.annotate.empty(), "--annotate", kTwice);
  refuse_with(!o.pages.empty(), "--pages", kTwice);
  refuse_with(!o.trace.empty(), "--trace", "A trace is held in memory: --ring DIR keeps the packets around a finding.");
  refuse_with(o.gains, "--gains", "It is for logs.");
}

/// What a log says itself.
void refuse_of_log(const Options& o, const LogInput& log) {
  if (!o.at.empty()) {
    throw UsageError("--at is for captures, and " + log.name() + " is a log.", "Leave it out: a log says it itself.");
  }
  if (o.slow != 1) {
    throw UsageError("--slow is for captures, and " + log.name() + " is a log.",
                     "Leave it out: a log has NICs' times.");
  }
}

/// The packets around the first finding, if there is one.
void write_ring(const ref::Run& run, PacketRing& ring, const OutputFolder& folder, Outputs& outputs) {
  const Comments comments(run, Kind::Capture);
  if (run.findings().empty() || ring.empty()) {
    text_out() << "nothing was found: " << folder.path().string() << " gets no capture\n";
    return;
  }
  Output* const file = outputs.add("--ring", (folder.path() / "finding.pcapng").string());
  ring.write(file->stream(), [&](uint64_t number) { return comments.of(0, number); });
  file->commit();
  text_out() << fmt::format("{} has packets {} to {}\n", file->path(), ring.first(), ring.last());
}

int check(const Options& o, const Context& context) {
  if (o.rules) {
    list_rules();
    return kPass;
  }
  refuse_live(o);
  if (o.files.empty() && o.live.empty())
    throw UsageError("no log or capture is named.",
                     o.replay ? "Name one, or see 'mrc replay --help'." : "Name one, or see 'mrc check --help'.");
  Outputs outputs(o.replay ? "mrc replay" : "mrc check");
  for (const std::string& file : o.files) outputs.reads(file);
  if (!o.profile.empty()) outputs.reads(o.profile);
  ref::RunOptions how = run_options(o);
  const RunBins bins({});
  if (!o.bins.empty()) bins.watch(how);
  std::optional<OutputFolder> folder;
  if (!o.annotate.empty()) {
    if (const auto file = read_once(o))
      throw UsageError("--annotate reads its input twice, and " + *file + " can be read only once.", "Name a file.");
    folder.emplace("--annotate", o.annotate);
  }
  std::optional<OutputFolder> ring_folder;
  if (!o.ring.empty()) ring_folder.emplace("--ring", o.ring);
  std::optional<OutputFolder> page_folder;
  if (!o.pages.empty()) {
    if (const auto file = read_once(o))
      throw UsageError("--pages reads its input twice, and " + *file + " can be read only once.", "Name a file.");
    page_folder.emplace("--pages", o.pages);
  }
  Output* const json = outputs.add("--json", o.json);
  Output* const html = outputs.add("--html", o.html);
  Output* const coverage = outputs.add("--coverage", o.coverage);
  Output* const bins_file = outputs.add("--bins", o.bins);
  TraceOption trace(outputs.add("--trace", o.trace), page_folder.has_value());
  const StopOnSignal stop;
  Progress progress(o.replay ? "mrc replay" : "mrc check", o.files);
  std::optional<LogInput> first;
  if (o.live.empty()) first.emplace(o.files.front());
  const Kind kind = first ? kind_of(*first) : Kind::Capture;
  if (kind == Kind::Log) refuse_of_log(o, *first);
  if (o.gains) {
    if (kind == Kind::Capture)
      throw UsageError("--gains is for logs, and " + first->name() + " is a capture.", "Captures show no events.");
    if (first->size() == 0) throw UsageError("--gains reads its input several times.", "Name a file.");
    text_out() << gains(o.files, how);
    return kPass;
  }
  // What a profile tells is a promise; else what a device does is its choice.
  how.readings = kind == Kind::Capture && !how.profile;
  ref::Run run(how);
  PacketRing ring(o.ring_mb << 20);
  if (!o.live.empty()) {
    push_live(o, how, ring, run, trace);
  } else if (kind == Kind::Capture) {
    push_captures(o, how, *first, progress, run, trace);
  } else {
    push_log(*first, progress, run, trace);
    for (std::size_t i = 1; i < o.files.size() && !g_stop; ++i) {
      progress.next_file();
      LogInput input(o.files[i]);
      push_log(input, progress, run, trace);
    }
  }
  if (g_stop) run.stopped("stopped");
  run.finish();
  // Of a capture without MRC the result says what it has instead.
  if (run.devices() == 0 && !g_stop && (kind == Kind::Log || !o.devices.empty())) {
    throw UsageError(
        o.devices.empty() ? "the log has no device." : "the log has no device '" + o.devices.front() + "'.",
        "Look into it with 'mrc log info'.");
  }
  if (json == nullptr || !json->is_stdout()) {
    std::istringstream text(run.to_text(repro(o, context)));
    for (std::string line; std::getline(text, line);) text_out() << printable(line) << '\n';
  }
  outputs.write(json, [&](std::ostream& out) { out << run.to_json(); });
  outputs.write(coverage, [&](std::ostream& out) {
    ref::Coverage applied;
    run.add_to(applied);
    out << applied.to_json();
  });
  outputs.write(bins_file, [&](std::ostream& out) {
    for (std::size_t bin = 0; bin < cover::kNumBins; ++bin) {
      if (bins.shown().has(bin)) out << cover::kBins[bin] << '\n';
    }
  });
  trace.write(outputs);
  if (page_folder)
    outputs.attempt([&] { pages(o, run, kind, *page_folder, *trace.story(), repro(o, context), outputs); });
  if (folder) outputs.attempt([&] { annotate(o, run, kind, *folder, outputs); });
  if (ring_folder) outputs.attempt([&] { write_ring(run, ring, *ring_folder, outputs); });
  outputs.write(html,
                [&](std::ostream& out) { out << picture::check_page(run, "mrc check " + o.name(), versions_line()); });
  return outputs.finish(exit_code(run.verdict(), o.strict));
}

void common_options(Command& command, Options& options) {
  command.words("file", options.files, "logs (mrc cosim --record), captures (pcapng, pcap; gzip, zstd)").called("FILE");
  command.text("--profile", options.profile,
               "profiles of the devices (JSON, docs/reference/log.md), instead of those in the log");
  command.words("--device", options.devices, "check only this device: its name, or an address of its own")
      .called("NAME");
  command.text("--json", options.json, "the result as JSON, to a file or -").optional("-").called("FILE");
  command
      .words("--at", options.at,
             "all captures (or only FILE) were taken at the ports of the device with these addresses")
      .called("ADDR[,ADDR...][=FILE]");
  command.number("--slow", options.slow, 1, 1'000'000, "ns of the captures' clock for one ns of the devices");
  command.text("--annotate", options.annotate,
               "folder for copies of the captures, with comments on packets of findings");
  command.text("--html", options.html, "the result as a page");
  command.text("--bins", options.bins,
               "file for the names of the coverage bins that the devices hit: docs/guide/coverage.md");
  command.text(
      "--pages", options.pages,
      "folder for a page with pictures of the first finding of each rule, trace and captures: docs/guide/pictures.md");
  command.text("--trace", options.trace, kTraceHelp);
  command.flag("--qps", options.qps, "list all ways of data between QPs, also when there are many");
  command.flag("--strict", options.strict, "exit code 1 also if a broken rule is marked U, C or A");
  waiver_option(command, options.waive);
  command.text("--coverage", options.coverage,
               "file for the rules that were applied, and in which situations: docs/reference/judge.md");
}

}  // namespace
}  // namespace check_command

void register_check(Command& app, Context& context) {
  using namespace check_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("check", "check any NIC against the rules of MRC, from a log or a capture");
  command.footer(R"(
Examples:
  mrc check run.mrclog                          a log of a run
  mrc check port.pcapng --profile nic.json --at fd00::1   a capture taken at the ports of a NIC
  mrc check --live eth0 --ring kept             the packets of an interface, until Ctrl-C
  mrc check --rules                             all rules
  mrc check run.mrclog --pages found            a page with pictures for each broken rule
  mrc check run.mrclog --gains --device dut     which rules need the events take, answer, path, cc of the device
Exit codes: 0 pass or deviates, 1 fail (--strict: deviates too), 3 the evidence is broken, 5 nothing to check.)");
  common_options(command, *options);
  command.words("--live", options->live, "check what dumpcap captures on this interface, until Ctrl-C").called("IFACE");
  command.text("--ring", options->ring, "folder for the packets of a live capture around the first finding");
  command.number("--ring-mb", options->ring_mb, 1, 4096, "how many megabytes --ring keeps");
  command.number(
      "--learn", options->learn, 0, 60,
      "seconds of a live capture, from its first packet on, from which check learns the QPs before it checks anything");
  command.flag("--rules", options->rules, "list the rules");
  command.flag("--gains", options->gains, "which rules each kind of event that the devices report enables");
  command.action([options, &context] { context.exit_code = check(*options, context); });

  auto again = std::make_shared<Options>();
  again->replay = true;
  Command& replay = app.command("replay", "run the checkers over a log, without RTL or Verilator");
  replay.footer(R"(
Examples:
  mrc cosim --preset tiny --scenario loss --record run.mrclog
  mrc replay run.mrclog)");
  common_options(replay, *again);
  replay.action([again, &context] { context.exit_code = check(*again, context); });
}

}  // namespace mrc::cli
