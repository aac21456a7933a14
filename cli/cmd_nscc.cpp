// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/wire_options.hpp"
#include "protocol/nscc.hpp"
#include "protocol/nscc_events.hpp"
#include "protocol/nscc_float.hpp"

namespace mrc::cli {
namespace {

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

Times are rounded to ticks of 128 ns. docs/nscc.md explains the output, docs/blocks/cc_nscc.md the arithmetic.)";

struct Options {
  std::string file, config;
  bool use_float = false, json = false, show_config = false;
  std::map<std::string, std::string> fields;  // by API name, as given
};

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string text_of(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  const std::vector<uint8_t> bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

void set(NsccParams& params, const std::string& where, std::string_view key, double value) {
  if (const auto error = nscc_set(params, key, value))
    throw UsageError(where + ": " + error->what + ".", error->remedy);
}

void read_toml(NsccParams& params, const std::string& path, const std::string& text) {
  toml::table table;
  try {
    table = toml::parse(text, path);
  } catch (const toml::parse_error& e) {
    throw UsageError(fmt::format("{}:{}: unreadable TOML: {}.", path, e.source().begin.line, e.description()),
                     "Write one field per line, like base_rtt = 12000.");
  }
  for (const auto& [key, node] : table) {
    const std::string where = fmt::format("{}:{}", path, key.source().begin.line);
    std::optional<double> value;
    if (const auto b = node.value_exact<bool>()) {
      value = *b ? 1.0 : 0.0;
    } else if (node.is_number()) {
      value = node.value<double>();
    }
    if (!value) {
      throw UsageError(fmt::format("{}: {} is not a number.", where, std::string_view(key.str())),
                       "Write a number, true or false.");
    }
    set(params, where, key.str(), *value);
  }
}

void read_json(NsccParams& params, const std::string& path, const std::string& text) {
  nlohmann::json root;
  try {
    root = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(e.byte, text.size()));
    throw UsageError(fmt::format("{}:{}: unreadable JSON.", path, 1 + std::count(text.begin(), end, '\n')),
                     "Write an object of fields, like {\"base_rtt\": 12000}.");
  }
  if (!root.is_object()) {
    throw UsageError(path + ":1: the configuration is no object.",
                     "Write an object of fields, like {\"base_rtt\": 12000}.");
  }
  for (const auto& [key, value] : root.items()) {
    const size_t at = text.find('"' + key + '"');  // keys of the API need no escapes
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(at == std::string::npos ? 0 : at);
    const std::string where = fmt::format("{}:{}", path, 1 + std::count(text.begin(), end, '\n'));
    if (!value.is_number() && !value.is_boolean()) {
      throw UsageError(fmt::format("{}: {} is not a number.", where, key), "Write a number, true or false.");
    }
    set(params, where, key, value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>());
  }
}

NsccParams params_of(const Options& options) {
  NsccParams params;
  if (!options.config.empty()) {
    const std::string text = text_of(options.config);
    const auto ends_with = [&](std::string_view end) { return std::string_view(options.config).ends_with(end); };
    if (ends_with(".json")) {
      read_json(params, options.config, text);
    } else if (ends_with(".toml")) {
      read_toml(params, options.config, text);
    } else {
      throw UsageError("the format of " + options.config + " is unknown.", "Name a file that ends in .json or .toml.");
    }
  }
  for (const auto& [name, text] : options.fields) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value);
    if (text == "true" || text == "false") {
      value = text == "true" ? 1 : 0;
    } else if (problem != std::errc() || stop != end) {
      throw UsageError("--" + with_dashes(name) + " '" + text + "' is not a number.", "Give a number.");
    }
    set(params, "--" + with_dashes(name), name, value);
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
    nlohmann::ordered_json out;
    for (const Row& row : rows) out[row.name] = {{"value", row.value}, {"word", row.word}, {"format", row.format}};
    out["cc_profile"] = nlohmann::ordered_json::array();
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

/// One line of output.
void print(const NsccLine& line, double cwnd, double inflight, NsccMode mode, double base_rtt, double max_wnd,
           double avg, bool json) {
  const bool off = mode == NsccMode::Off;
  const auto whole = static_cast<int64_t>(inflight);
  if (json) {
    nlohmann::ordered_json out;
    out["line"] = line.line;
    out["time_ns"] = line.time_ns;
    out["kind"] = nscc_kind_name(line.event.kind);
    out["bytes"] = line.event.bytes;
    out["cwnd"] = off ? nlohmann::ordered_json() : nlohmann::ordered_json(cwnd);
    out["inflight"] = whole;
    out["mode"] = nscc_mode_name(mode);
    if (!off) {
      out["max_wnd"] = max_wnd;
      out["base_rtt_ns"] = base_rtt * kNsccTickNs;
      out["avg_delay_ns"] = avg * kNsccTickNs;
    }
    std::cout << out.dump() << '\n';
    return;
  }
  const std::string window = off ? "-" : fmt::format("{:.3f}", cwnd);
  std::cout << fmt::format("{:>12} {:<4} {:>9} {:>16} {:>10}  {}\n", line.time_ns, nscc_kind_name(line.event.kind),
                           line.event.bytes, window, whole, nscc_mode_name(mode));
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
  const auto lines = nscc_read_events(text_of(options.file), options.file == "-" ? "stdin" : options.file);
  if (!lines) throw UsageError(lines.error().input + ": " + lines.error().what + ".", lines.error().remedy);

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

void register_nscc(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("nscc", "the congestion controller alone, on a list of events");
  command->footer(kFooter);
  command->add_option("EVENTS.csv", options->file, "events; - reads standard input");
  command->add_flag("--float", options->use_float,
                    "the floating-point reference instead of the fixed-point controller");
  command->add_flag("--json", options->json, "one JSON object per line");
  command->add_option("--config", options->config, "fields from a file, .json or .toml; options below win over it")
      ->type_name("FILE");
  command->add_flag("--show-config", options->show_config, "print the configuration instead, every default filled in");
  for (const NsccField& field : nscc_fields()) {
    const std::string unit = *field.unit ? field.unit : "number";
    command
        ->add_option_function<std::string>(
            "--" + with_dashes(field.name),
            [options, name = std::string(field.name)](const std::string& text) { options->fields[name] = text; },
            field.doc)
        ->type_name(unit == "bool" ? "0|1" : unit)
        ->group("Fields (in files with _ instead of -)");
  }
  command->callback([options, &context] {
    run(*options);
    context.exit_code = kPass;
  });
}

}  // namespace mrc::cli
