// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/addresses.hpp"
#include "cli/capture_qps.hpp"
#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/log_input.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/wire_options.hpp"
#include "input/file.hpp"
#include "input/json.hpp"
#include "input/number.hpp"
#include "log/format.hpp"
#include "log/import.hpp"
#include "log/merge.hpp"
#include "log/reader.hpp"
#include "log/redact.hpp"
#include "log/text.hpp"
#include "log/writer.hpp"
#include "reference/profile.hpp"
#include "tb/compare/report.hpp"
#include "util/printable.hpp"

namespace mrc::cli {
namespace log_command {
namespace {
using input::Json;

constexpr const char* kFooter = R"(
Examples:
  mrc cosim --preset tiny --record run.mrclog      a log of both NICs; mrc fabric has the same option
  mrc log info run.mrclog                          devices, counts, what is missing
  mrc log print run.mrclog --qp 0x100 | less       a line for each record of a QP
  mrc log import a.pcapng b.pcapng -o run.mrclog   captures; --at ADDR=FILE says whose ports
  mrc log redact run.mrclog -o out.mrclog          without payload, to be shown to others
  mrc log cat a.mrclog b.mrclog -o both.mrclog     in the order of time

docs/reference/log.md describes logs.)";

/// How a device's frames are to be read: as its profile says.
class Devices {
 public:
  /// Device records first.
  void see(const log::Record& record, const std::string& file) {
    const auto* device = std::get_if<log::Device>(&record.body);
    if (device == nullptr) return;
    names_[record.device] = device->name;
    if (!device->profile.empty()) {
      wires_[record.device] =
          ref::read_profile(device->profile, fmt::format("{}: profile of device {}", file, record.device)).wire();
    }
  }
  wire::WireConfig wire(uint32_t device) const {
    const auto found = wires_.find(device);
    return found == wires_.end() ? wire::WireConfig{} : found->second;
  }
  std::string name(uint32_t device) const {
    const auto found = names_.find(device);
    return found == names_.end() ? fmt::format("#{}", device) : printable(found->second, 40);
  }

 private:
  std::map<uint32_t, wire::WireConfig> wires_;
  std::map<uint32_t, std::string> names_;
};

// ---- info

/// What `info` knows of one device.
struct Seen {
  struct Port {
    uint64_t sent = 0, received = 0, bytes_sent = 0, bytes_received = 0;
  };
  std::string name, profile;
  std::array<uint64_t, log::kKinds> kinds{};
  log::Time first = log::kNever, last = 0;
  std::map<uint8_t, Port> ports;
  std::map<uint8_t, log::Time> newest;  // by source
  uint64_t backwards = 0;
  std::vector<log::Gap> gaps;
  uint64_t more_gaps = 0;
  std::optional<log::End> end;
  uint64_t bad_fcs = 0, cut = 0, maybe = 0, redacted = 0;
};

/// 255: of none.
uint8_t source_of(const log::Record& record) {
  return std::visit(
      [](const auto& body) -> uint8_t {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, log::Frame> || std::is_same_v<T, log::Port>) return body.plane;
        if constexpr (std::is_same_v<T, log::Host>) return static_cast<uint8_t>(log::Source::Host);
        if constexpr (std::is_same_v<T, log::Event>) return static_cast<uint8_t>(log::Source::Events);
        constexpr bool kVerbs = std::is_same_v<T, log::Qp> || std::is_same_v<T, log::Mr> ||
                                std::is_same_v<T, log::Post> || std::is_same_v<T, log::PostReceive> ||
                                std::is_same_v<T, log::Cqe>;
        return static_cast<uint8_t>(kVerbs ? log::Source::Verbs : log::Source::All);
      },
      record.body);
}

/// The QP that a record names.
std::optional<uint32_t> qp_of(const log::Record& record) {
  return std::visit(
      [](const auto& body) -> std::optional<uint32_t> {
        if constexpr (requires { body.qp; }) return body.qp;
        return std::nullopt;
      },
      record.body);
}

class Info {
 public:
  void add(const log::Record& record) {
    Seen& seen = devices_[record.device];
    ++seen.kinds[record.body.index()];
    if (!std::holds_alternative<log::Device>(record.body)) {
      seen.first = std::min(seen.first, record.time);
      seen.last = std::max(seen.last, record.time);
    }
    if (const uint8_t source = source_of(record); source != 255) {
      log::Time& newest = seen.newest[source];
      seen.backwards += record.time < newest;
      newest = std::max(newest, record.time);
    }
    if (const auto* device = std::get_if<log::Device>(&record.body)) {
      seen.name = device->name;
      seen.profile = device->profile;
    } else if (const auto* f = std::get_if<log::Frame>(&record.body)) {
      Seen::Port& port = seen.ports[f->plane];
      ++(f->sent ? port.sent : port.received);
      (f->sent ? port.bytes_sent : port.bytes_received) += f->length;
      seen.bad_fcs += (f->flags & log::kFcsBad) != 0;
      seen.cut += (f->flags & log::kCut) != 0;
      seen.maybe += (f->flags & log::kMaybe) != 0;
      seen.redacted += f->redacted.bytes != 0;
    } else if (const auto* gap = std::get_if<log::Gap>(&record.body)) {
      if (seen.gaps.size() < kMostGaps) {
        seen.gaps.push_back(*gap);
      } else {
        ++seen.more_gaps;
      }
    } else if (const auto* end = std::get_if<log::End>(&record.body)) {
      seen.end = *end;
    } else if (const auto* note = std::get_if<log::Note>(&record.body)) {
      if (notes_.size() < kMostGaps) notes_.push_back(note->text);
    }
  }

  std::string text(const log::Reader& reader) const {
    std::string out =
        fmt::format("{} records in {}, {} devices{}\n", tb::grouped(reader.records()),
                    reader.parts() == 1 ? "one part" : fmt::format("{} parts", reader.parts()), devices_.size(),
                    reader.unfinished() == 0 ? "" : ", NOT FINISHED: records are missing");
    for (const auto& [number, seen] : devices_) text_of(out, number, seen);
    for (const std::string& note : notes_) out += fmt::format("note: {}\n", printable(note));
    if (reader.skipped() != 0) out += fmt::format("{} records of kinds that are not known\n", reader.skipped());
    return out;
  }

  std::string json(const log::Reader& reader) const {
    Json j;
    j["records"] = reader.records();
    j["parts"] = reader.parts();
    j["finished"] = reader.unfinished() == 0;
    j["skipped"] = reader.skipped();
    j["devices"] = Json::array();
    for (const auto& [number, seen] : devices_) j["devices"].push_back(json_of(number, seen));
    j["notes"] = notes_;
    return j.dump(2) + "\n";
  }

 private:
  static constexpr std::size_t kMostGaps = 100;

  static void text_of(std::string& out, uint32_t number, const Seen& s) {
    out += fmt::format("\ndevice {} {}\n", number, printable(s.name, 80));
    if (s.first != log::kNever)
      out += fmt::format("  time         {} to {} ns\n", log::time_text(s.first), log::time_text(s.last));
    std::string kinds;
    for (std::size_t k = 0; k < log::kKinds; ++k) {
      if (s.kinds[k] != 0)
        kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", tb::grouped(s.kinds[k]), log::kind_name(k));
    }
    out += fmt::format("  records      {}\n", kinds);
    for (const auto& [plane, p] : s.ports) {
      out += fmt::format("  port {:<7} {} frames sent, {} bytes; {} received, {} bytes\n", plane, tb::grouped(p.sent),
                         tb::grouped(p.bytes_sent), tb::grouped(p.received), tb::grouped(p.bytes_received));
    }
    const auto share = [&](uint64_t n, const char* what) {
      if (n != 0) out += fmt::format("  {:<12} {} frames\n", what, tb::grouped(n));
    };
    share(s.bad_fcs, "wrong FCS");
    share(s.cut, "cut");
    share(s.maybe, "under way");
    share(s.redacted, "redacted");
    if (!s.profile.empty()) out += fmt::format("  profile      {}\n", printable(s.profile, 400));
    if (s.backwards != 0)
      out += fmt::format("  BACKWARDS    {} records are older than the one before of their source\n",
                         tb::grouped(s.backwards));
    for (const log::Gap& gap : s.gaps) {
      out += fmt::format("  GAP          {}\n", log::to_text({number, 0, gap}));
    }
    if (s.more_gaps != 0) out += fmt::format("  GAP          and {} more\n", tb::grouped(s.more_gaps));
    out += s.end
               ? fmt::format("  end          {}{}\n", printable(s.end->reason, 200), s.end->cut ? ", from outside" : "")
               : "  end          none: what was still to come is not known\n";
  }

  static Json json_of(uint32_t number, const Seen& s) {
    Json d;
    d["device"] = number;
    d["name"] = s.name;
    d["profile"] = s.profile;
    if (s.first != log::kNever) {
      d["first"] = s.first;
      d["last"] = s.last;
    }
    for (std::size_t k = 0; k < log::kKinds; ++k) d["records"][std::string(log::kind_name(k))] = s.kinds[k];
    d["ports"] = Json::array();
    for (const auto& [plane, p] : s.ports) {
      d["ports"].push_back({{"plane", plane},
                            {"sent", p.sent},
                            {"bytes_sent", p.bytes_sent},
                            {"received", p.received},
                            {"bytes_received", p.bytes_received}});
    }
    d["sources"] = Json::array();
    for (const auto& [source, time] : s.newest) d["sources"].push_back(log::source_name(source));
    d["fcs_bad"] = s.bad_fcs;
    d["cut"] = s.cut;
    d["maybe"] = s.maybe;
    d["redacted"] = s.redacted;
    d["backwards"] = s.backwards;
    d["gaps"] = Json::array();
    for (const log::Gap& gap : s.gaps) {
      d["gaps"].push_back({{"source", log::source_name(gap.source)}, {"lost", gap.lost}, {"reason", gap.reason}});
    }
    d["more_gaps"] = s.more_gaps;
    if (s.end) d["end"] = {{"cut", s.end->cut}, {"reason", s.end->reason}};
    return d;
  }

  std::map<uint32_t, Seen> devices_;
  std::vector<std::string> notes_;
};

/// What a log that cannot be read to its end, or has none, is for a script: the evidence has a hole.
int verdict_of(const log::Reader& reader) { return reader.unfinished() == 0 ? kPass : kInconclusive; }

int info(const std::string& file, bool json) {
  LogInput input(file);
  Info info;
  for (log::Record record; input.reader().next(record);) info.add(record);
  input.refuse_damage();
  std::cout << (json ? info.json(input.reader()) : info.text(input.reader()));
  return verdict_of(input.reader());
}

// ---- print

/// Which records belong to a QP: its own number, or that of its peer in frames that it sends.
class OfQp {
 public:
  explicit OfQp(std::optional<uint64_t> qp) : qp_(qp) {}
  bool operator()(const log::Record& record, const wire::Packet* packet) {
    if (!qp_) return true;
    if (const auto number = qp_of(record)) {
      const auto* qp = std::get_if<log::Qp>(&record.body);
      if (qp != nullptr && *number == *qp_) peers_[record.device] = qp->peer_qp;
      return *number == *qp_;
    }
    const auto* frame = std::get_if<log::Frame>(&record.body);
    if (frame == nullptr || packet == nullptr || !packet->bth) return false;
    const auto peer = peers_.find(record.device);
    if (!frame->sent || peer == peers_.end()) return packet->bth->dqp == *qp_;
    return packet->bth->dqp == peer->second;
  }

 private:
  const std::optional<uint64_t> qp_;
  std::map<uint32_t, uint32_t> peers_;
};

int print(const std::string& file, std::optional<uint64_t> qp, bool json) {
  LogInput input(file);
  Devices devices;
  OfQp of_qp(qp);
  for (log::Record record; input.reader().next(record);) {
    if (!std::cout.good()) return kPass;  // nobody reads on
    devices.see(record, input.name());
    const wire::WireConfig wire = devices.wire(record.device);
    const auto* frame = std::get_if<log::Frame>(&record.body);
    std::optional<wire::Packet> packet;
    if (qp && frame != nullptr) packet = log::packet_of(*frame, wire);
    if (!of_qp(record, packet ? &*packet : nullptr)) continue;
    if (json) {
      std::cout << log::to_json(record) << '\n';
    } else {
      std::cout << fmt::format("{:>16} {:<6} {}\n", log::time_text(record.time), devices.name(record.device),
                               log::to_text(record, wire));
    }
  }
  input.refuse_damage();
  if (input.reader().unfinished() != 0) std::cerr << "mrc log print: " << input.name() << " was not finished.\n";
  return verdict_of(input.reader());
}

// ---- redact, cat

/// A log under construction that is written only if its input was whole.
class LogOutput {
 public:
  LogOutput(const std::string& command, const std::string& path, const std::vector<std::string>& inputs)
      : outputs_(command) {
    for (const std::string& input : inputs) outputs_.reads(input);
    output_ = outputs_.add("-o", path);
    writer_.emplace(output_->stream());
  }
  void write(const log::Record& record) {
    if (writer_->write(record)) return;
    throw UsageError("a record is larger than a log may have it.", "Please report this with the log.");
  }
  int commit(int verdict) {
    outputs_.write(output_, [&](std::ostream&) { writer_->finish(); });
    return outputs_.finish(verdict);
  }
  /// As if its input had not been finished.
  int commit_unfinished() {
    outputs_.write(output_, [&](std::ostream&) { writer_->flush(); });
    return outputs_.finish(kInconclusive);
  }
  uint64_t records() const { return writer_->records(); }

 private:
  Outputs outputs_;
  Output* output_ = nullptr;
  std::optional<log::Writer> writer_;
};

struct RedactArguments {
  std::string in, out;
  bool keep_payload = false, addresses = false;
};

std::string map_profile(const std::string& json, uint32_t device, log::Redactor& by) {
  ref::Profile profile = ref::read_profile(json, "the profile");
  for (log::Ip& ip : profile.addresses) ip = by.map(ip);
  for (log::Qp& qp : profile.qps) {
    qp.own_ip = by.map(qp.own_ip);
    qp.peer_ip = by.map(qp.peer_ip);
  }
  for (log::Mr& region : profile.regions) by.map(region, device);
  return ref::to_json(profile);
}

int redact(const RedactArguments& o) {
  if (o.keep_payload && !o.addresses) {
    throw UsageError("--keep-payload without --addresses leaves everything as it is.",
                     "Leave it out, or add --addresses.");
  }
  LogInput input(o.in);
  LogOutput output("mrc log redact", o.out, {o.in});
  Devices devices;
  log::Redactor redactor({.payload = !o.keep_payload, .addresses = o.addresses}, map_profile);
  for (log::Record record; input.reader().next(record);) {
    devices.see(record, input.name());
    redactor.redact(record, devices.wire(record.device));
    output.write(record);
  }
  input.refuse_damage();
  text_out() << fmt::format("{} records{}\n", tb::grouped(output.records()),
                            o.addresses ? "; addresses are others, so ICRCs cannot be checked" : "");
  return input.reader().unfinished() == 0 ? output.commit(kPass) : output.commit_unfinished();
}

int concatenate(const std::vector<std::string>& files, const std::string& out, bool apart) {
  std::vector<std::unique_ptr<LogInput>> inputs;
  std::vector<log::Reader*> readers;
  for (const std::string& file : files) {
    inputs.push_back(std::make_unique<LogInput>(file));
    readers.push_back(&inputs.back()->reader());
  }
  LogOutput output("mrc log cat", out, files);
  log::merge(readers, apart, [&](const log::Record& record) { output.write(record); });
  uint64_t unfinished = 0;
  for (const auto& input : inputs) {
    input->refuse_damage();
    unfinished += input->reader().unfinished();
  }
  text_out() << fmt::format("{} records of {} logs\n", tb::grouped(output.records()), files.size());
  return unfinished == 0 ? output.commit(kPass) : output.commit_unfinished();
}

// ---- import

struct ImportArguments {
  std::vector<std::string> files, devices, at, clock_errors;
  std::string out, profile;
  bool qps = false;
};

/// "3=50", or "50" for all planes: nanoseconds.
void read_clock_error(const std::string& text, log::ImportOptions& to) {
  constexpr uint64_t kMostNs = 1'000'000'000;
  const auto equals = text.find('=');
  const std::string number = equals == std::string::npos ? text : text.substr(equals + 1);
  const log::Time ps =
      1000 * input::whole({number, "--clock-error", {}, 0, 0}, 0, kMostNs, "how far times may be wrong, in ns");
  if (equals == std::string::npos) {
    to.clock_error.fill(ps);
    return;
  }
  const std::string plane = text.substr(0, equals);
  to.clock_error[input::whole({plane, "--clock-error", {}, 0, 0}, 0, log::kMaxPlanes - 1, "a plane")] = ps;
}

int import(const ImportArguments& o) {
  log::ImportOptions options;
  for (const std::string& text : o.devices) device_of(options, addresses_of("--device", text));
  std::vector<std::string> inputs;
  for (const std::string& file : o.files) options.files.push_back({file, {}});
  for (const std::string& text : o.at) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw UsageError(fmt::format("--at {} names no address and capture.", input::shown(text)),
                       "Write --at ADDR=FILE: the capture was taken at the ports of that device.");
    }
    const std::size_t device = device_of(options, addresses_of("--at", text.substr(0, equals)));
    const std::string file = text.substr(equals + 1);
    const auto known = std::ranges::find(options.files, file, &log::ImportFile::path);
    if (known == options.files.end()) {
      options.files.push_back({file, device});
    } else if (known->at) {
      throw UsageError(fmt::format("--at names {} twice.", file), "A capture is taken at the ports of one device.");
    } else {
      known->at = device;
    }
  }
  if (options.files.empty()) throw UsageError("nothing to import.", "Name captures (pcapng or pcap).");
  for (const log::ImportFile& file : options.files) inputs.push_back(file.path);
  for (const std::string& text : o.clock_errors) read_clock_error(text, options);
  ref::Profile profile;
  if (!o.profile.empty()) {
    constexpr input::FileKind kProfile{"profile", input::kJsonBytes, "Name an existing file that you may read, or -."};
    profile = ref::read_profile(input::read_text(o.profile, kProfile), name_of_file(o.profile));
    options.wire = profile.wire();
  }
  options.profile = [&](const wire::WireConfig& wire) {
    if (o.profile.empty()) profile.read_as(wire);
    return ref::to_json(profile);
  };
  if (!o.profile.empty()) inputs.push_back(o.profile);
  std::optional<CaptureQps> qps;
  if (o.qps) {
    if (std::ranges::find(options.files, "-", &log::ImportFile::path) != options.files.end()) {
      throw UsageError("--qps reads captures twice, and standard input can be read once.", "Name files, or no --qps.");
    }
    qps.emplace(options);
    options.qps = [&](const log::ImportDevice& device) { return qps->of(device); };
  }
  LogOutput output("mrc log import", o.out, inputs);
  const auto imported = log::import_captures(options, [&](const log::Record& record) { output.write(record); });
  if (!imported) refuse(imported.error());
  text_out() << fmt::format("{} packets; {} devices, {} frames in the log\n", tb::grouped(imported->counts.packets),
                            imported->devices.size(), tb::grouped(imported->records));
  const auto report = [](uint64_t n, const char* what) {
    if (n != 0) text_out() << fmt::format("  {} {}\n", tb::grouped(n), what);
  };
  for (const std::string& line : log::words(imported->counts)) text_out() << "  " << line << '\n';
  report(imported->cut, "were cut by the capture: their ICRC cannot be checked");
  report(imported->trimmed_under_way, "were trimmed before they were captured");
  report(imported->lost, "were dropped by the capturing host: the evidence has gaps");
  report(imported->backwards, "are older than the one before on their interface: clocks or order are wrong");
  return output.commit(imported->records == 0 ? kInconclusive : kPass);
}

}  // namespace
}  // namespace log_command

void register_log(Command& app, Context& context) {
  using namespace log_command;
  Command& command = app.command("log", "logs of what NICs did: look into them, import captures, join, redact");
  command.footer(kFooter);

  struct Arguments {
    std::string file;
    bool json = false;
    std::optional<uint64_t> qp;
  };
  {
    auto o = std::make_shared<ImportArguments>();
    Command& sub = command.command("import", "captures as a log");
    sub.words("CAPTURE", o->files, "captures, taken under way; - is standard input");
    sub.text("-o", o->out, "the log").required();
    sub.flag("--qps", o->qps, "infer QPs from frames too, as mrc check does; reads the captures twice");
    sub.text("--profile", o->profile, "what the devices are (JSON, docs/reference/log.md); default: what captures say");
    sub.words("--device", o->devices, "a device, by its own IP addresses; default: every address that is seen")
        .called("ADDR[,ADDR]")
        .one_each();
    sub.words("--at", o->at, "a capture taken at the ports of this device").called("ADDR=FILE").one_each();
    sub.words("--clock-error", o->clock_errors, "how far times of a plane may be wrong, in ns; without =: all")
        .called("[PLANE=]NS")
        .one_each();
    sub.action([o, &context] { context.exit_code = import(*o); });
  }
  {
    auto o = std::make_shared<Arguments>();
    Command& sub = command.command("info", "devices, how many records of each kind, gaps");
    sub.text("LOG", o->file, "a log; - is standard input").required();
    sub.flag("--json", o->json, "as JSON");
    sub.action([o, &context] { context.exit_code = info(o->file, o->json); });
  }
  {
    auto o = std::make_shared<Arguments>();
    Command& sub = command.command("print", "a line for each record");
    sub.text("LOG", o->file, "a log; - is standard input").required();
    sub.number("--qp", o->qp, 0, 0xffffff, "records of this QP alone");
    sub.flag("--json", o->json, "a JSON object for each record");
    sub.action([o, &context] { context.exit_code = print(o->file, o->qp, o->json); });
  }
  {
    auto o = std::make_shared<RedactArguments>();
    Command& sub = command.command("redact", "payload becomes digests; addresses others");
    sub.text("LOG", o->in, "a log; - is standard input").required();
    sub.text("-o", o->out, "the log without").required();
    sub.flag("--addresses", o->addresses, "MAC and IP addresses, R_Keys, VAs and host addresses become others");
    sub.flag("--keep-payload", o->keep_payload, "payload and host data stay");
    sub.action([o, &context] { context.exit_code = redact(*o); });
  }
  {
    struct Cat {
      std::vector<std::string> files;
      std::string out;
      bool apart = false;
    };
    auto o = std::make_shared<Cat>();
    Command& sub = command.command("cat", "several logs as one, in the order of time");
    sub.words("LOG", o->files, "logs").required();
    sub.text("-o", o->out, "the joined log").required();
    sub.flag("--apart", o->apart, "devices of two logs are never the same, whatever their names");
    sub.action([o, &context] { context.exit_code = concatenate(o->files, o->out, o->apart); });
  }
}

}  // namespace mrc::cli
