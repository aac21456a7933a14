// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "input/file.hpp"
#include "input/json.hpp"
#include "protocol/nscc.hpp"
#include "protocol/nscc_events.hpp"
#include "protocol/nscc_float.hpp"
#include "protocol/nscc_read.hpp"

namespace mrc::cli {
namespace nscc_command {
namespace {
using input::Json;

constexpr const char* kFooter = R"(
EVENTS.csv: the first line names the columns, in any order; then one event per line, sorted by time.
  time_ns   when                                 (needed)
  kind      ack, nack, loss or send              (needed)
  bytes     newly received, or the packet's size (needed)
  ecn       1: the acknowledged packet came with a mark; default 0
  rtt_ns    round trip of an ack or nack; empty: no sample
  penalty   rcv_cwnd_pen of an ack, 0..127; default 0
  restore   restore_cwnd of an ack; default 0
  reason    of a nack: trimmed (default), trimmed_lasthop, no_bitmap, ... or a number
Lines that start with # are skipped.

Example:
  printf 'time_ns,kind,bytes,rtt_ns,ecn\n0,send,4188,,\n12000,ack,4188,12000,0\n' > events.csv
  mrc nscc events.csv --rate-gbps 400 --base-rtt 10000
  mrc nscc events.csv --float --json         the floating-point reference instead, one object per line
  mrc nscc --show-config --config cc.toml    every default filled in, and the words of table CC_PROFILE

Times are rounded to ticks of 128 ns. docs/guide/nscc.md explains the output,
docs/design/blocks/cc/cc_nscc.md the arithmetic.)";

struct Options {
  std::string file, config;
  bool use_float = false, json = false, show_config = false;
  std::map<std::string, std::string> fields;  // by API name, as given
};

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

constexpr input::FileKind kEvents{"list of events", input::kCsvBytes, "Name a CSV file that you may read, or -."};
constexpr input::FileKind kToml{"configuration", input::kTomlBytes, "Name a file that you may read."};
constexpr input::FileKind kJson{"configuration", input::kJsonBytes, "Name a file that you may read."};

NsccParams params_of(const Options& options) {
  NsccParams params;
  if (!options.config.empty()) {
    const std::string_view name = options.config;
    if (name.ends_with(".json")) {
      nscc_read_json(params, input::read_text(options.config, kJson), options.config);
    } else if (name.ends_with(".toml")) {
      nscc_read_toml(params, input::read_text(options.config, kToml), options.config);
    } else {
      throw UsageError("the format of " + options.config + " is unknown.", "Name a file that ends in .json or .toml.");
    }
  }
  for (const NsccField& field : nscc_fields()) {
    const auto given = options.fields.find(field.name);
    if (given == options.fields.end()) continue;
    const std::string option = "--" + with_dashes(field.name);
    nscc_set(params, field, {given->second, option});
  }
  return params;
}

/// Every number with its default filled in, as the controller has it.
void show_config(const NsccReal& r, const NsccWords& w, bool json) {
  const double tick = kNsccTickNs;
  struct Row {
    const char* name;
    double value;
    const char* unit;
    uint64_t word;
    const char* format;
  };
  const Row rows[] = {
      {"mtu", r.mtu, "bytes", w.mtu, "14 bit"},
      {"base_rtt", r.base_rtt * tick, "ns", w.base_rtt, "16 bit, ticks"},
      {"target_delay", r.target * tick, "ns", w.target, "UQ16.8, ticks"},
      {"wnd_rate", r.wnd_rate, "bytes/tick", w.wnd_rate, "UQ16.16"},
      {"max_cwnd", r.max_cwnd, "bytes", w.max_cwnd, "28 bit"},
      {"alpha", r.alpha, "bytes/tick", w.alpha, "UQ18.18"},
      {"fi", r.fi, "bytes", w.fi, "UQ24.12"},
      {"fi_scale", r.fi_scale, "", w.fi_scale, "UQ8.24"},
      {"eta", r.eta, "bytes", w.eta, "UQ20.16"},
      {"gamma", r.gamma, "", w.gamma, "UQ1.24"},
      {"max_md_jump", r.max_md_jump, "", w.max_md_jump, "UQ1.24"},
      {"ewma_weight", r.ewma_weight, "", w.ewma_weight, "UQ0.28"},
      {"near_zero", r.near_zero * tick, "ns", w.near_zero, "16 bit, ticks"},
      {"qa_threshold", r.qa_threshold * tick, "ns", w.qa_threshold, "16 bit, ticks; 65535: off"},
      {"qa_gate", static_cast<double>(r.qa_gate), "", w.qa_gate, "5 bit"},
      {"ar_shift", static_cast<double>(r.ar_shift), "", w.ar_shift, "3 bit"},
      {"adjust_bytes_threshold", r.adjust_bytes, "bytes", w.adjust_bytes, "28 bit"},
      {"adjust_period_threshold", r.adjust_period * tick, "ns", w.adjust_period, "16 bit, ticks"},
      {"enable", r.enable ? 1.0 : 0.0, "", w.enable, "1 bit"},
      {"disable_qa", r.disable_qa ? 1.0 : 0.0, "", w.disable_qa, "1 bit"},
      {"md_resets_fast", r.md_resets_fast ? 1.0 : 0.0, "", w.md_resets_fast, "1 bit"},
      {"nack_any_reason", r.nack_any_reason ? 1.0 : 0.0, "", w.nack_any_reason, "1 bit"},
      {"nack_sample_cfg", r.nack_sample_cfg ? 1.0 : 0.0, "", w.nack_sample_cfg, "1 bit"},
      {"nack_rtt", r.nack_rtt ? 1.0 : 0.0, "", w.nack_rtt, "1 bit"},
  };
  const auto row_words = nscc_row(w);
  if (json) {
    Json out;
    for (const Row& row : rows) out[row.name] = {{"value", row.value}, {"word", row.word}, {"format", row.format}};
    out["cc_profile"] = Json::array();
    for (const uint32_t word : row_words) out["cc_profile"].push_back(fmt::format("0x{:08x}", word));
    std::cout << out.dump() << '\n';
    return;
  }
  for (const Row& row : rows) {
    std::cout << fmt::format("{:<24} {:>14.10g} {:<11} {:>12}  {}\n", row.name, row.value, row.unit, row.word,
                             row.format);
  }
  std::cout << "CC_PROFILE, words 0..15:";
  for (size_t i = 0; i < row_words.size(); ++i)
    std::cout << (i % 8 ? " " : "\n  ") << fmt::format("0x{:08x}", row_words[i]);
  std::cout << '\n';
}

constexpr const char* kBeyond = "more bytes answered than sent";

/// One line of output.
void print(const NsccLine& line, double cwnd, double inflight, NsccMode mode, double base_rtt, double max_wnd,
           double avg, bool json) {
  const bool off = mode == NsccMode::Off;
  const auto whole = static_cast<int64_t>(inflight);
  if (json) {
    Json out;
    out["line"] = line.line;
    out["time_ns"] = line.time_ns;
    out["kind"] = nscc_kind_name(line.event.kind);
    out["bytes"] = line.event.bytes;
    out["cwnd"] = off ? Json() : Json(cwnd);
    out["inflight"] = whole;
    out["mode"] = nscc_mode_name(mode);
    if (!off) {
      out["max_wnd"] = max_wnd;
      out["base_rtt_ns"] = base_rtt * kNsccTickNs;
      out["avg_delay_ns"] = avg * kNsccTickNs;
    }
    if (whole < 0) out["note"] = kBeyond;
    std::cout << out.dump() << '\n';
    return;
  }
  const std::string window = off ? "-" : fmt::format("{:.3f}", cwnd);
  std::cout << fmt::format("{:>12} {:<4} {:>9} {:>16} {:>10}  {}{}\n", line.time_ns, nscc_kind_name(line.event.kind),
                           line.event.bytes, window, whole, nscc_mode_name(mode),
                           whole < 0 ? std::string("  ") + kBeyond : "");
}

void run(const Options& options) {
  const auto real = nscc_resolve(params_of(options));
  if (!real) throw UsageError("configuration: " + real.error().what + ".", real.error().remedy);
  const NsccWords words = nscc_words(*real);
  if (options.show_config) {
    show_config(*real, words, options.json);
    return;
  }
  if (options.file.empty()) throw UsageError("no list of events given.", "Name a CSV file, or - for standard input.");
  const auto lines = nscc_read_events(input::read_text(options.file, kEvents), input::file_name(options.file));
  if (!lines) throw UsageError(with_full_stop(lines.error().sentence()), lines.error().remedy);

  const uint64_t start = lines->empty() ? 0 : lines->front().ticks;
  NsccState state = nscc_init(words, static_cast<uint32_t>(start));
  NsccFloat reference(*real, start);
  if (!options.json) {
    std::cout << fmt::format("{:>12} {:<4} {:>9} {:>16} {:>10}  {}\n", "time_ns", "kind", "bytes", "cwnd", "inflight",
                             "mode");
  }
  for (const NsccLine& line : *lines) {
    if (options.use_float) {
      reference.step(line.event, line.ticks);
      print(line, reference.cwnd(), reference.inflight(), reference.mode(), reference.base_rtt(), reference.max_wnd(),
            reference.avg(), options.json);
    } else {
      nscc_step(state, words, line.event);
      print(line, std::ldexp(static_cast<double>(state.cwnd), -16), state.inflight, state.mode, state.base_rtt,
            std::ldexp(static_cast<double>(state.max_wnd), -16), std::ldexp(static_cast<double>(state.avg), -24),
            options.json);
    }
  }
  std::cout.flush();
}

}  // namespace
}  // namespace nscc_command

void register_nscc(Command& app, Context& context) {
  using namespace nscc_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("nscc", "the congestion controller alone, on a list of events");
  command.footer(kFooter);
  command.text("EVENTS.csv", options->file, "events; - reads standard input");
  command.flag("--float", options->use_float, "the floating-point reference instead of the fixed-point controller");
  command.flag("--json", options->json, "one JSON object per line");
  command.text("--config", options->config, "fields from a file, .json or .toml; options below win over it")
      .called("FILE");
  command.flag("--show-config", options->show_config, "print the configuration instead, every default filled in");
  for (const NsccField& field : nscc_fields()) {
    const std::string unit = *field.unit ? field.unit : "number";
    command
        .value(
            "--" + with_dashes(field.name),
            [options, name = std::string(field.name)](const std::string& text) { options->fields[name] = text; },
            field.doc)
        .called(unit == "bool" ? "0|1" : unit)
        .under("Fields (in files with _ instead of -)");
  }
  command.action([options, &context] {
    run(*options);
    context.exit_code = kPass;
  });
}

}  // namespace mrc::cli
