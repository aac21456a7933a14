// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/dut_options.hpp"
#include "cli/fd_input.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/status_line.hpp"
#include "cli/version.hpp"
#include "cli/wire_options.hpp"
#include "input/json.hpp"
#include "tb/board/replay.hpp"
#include "tb/compare/report.hpp"
#include "wire/pcapng.hpp"

namespace mrc::cli {
namespace replay_pins_command {
namespace {
using input::Json;

constexpr const char* kFooter = R"(
Examples:
  mrc replay-pins dump.bin --preset fpga100          the model gets the board's inputs; digests are compared
  mrc replay-pins dump.bin --preset tiny --json -    the result as JSON
  mrc replay-pins dump.bin --preset tiny --pcap ports.pcapng    frames at the ports, in and out
  mrc replay-pins dump.bin --preset tiny --dut rtl   the RTL in the place of the model

dump.bin is what mrc_fpga_record has left in a board's memory: docs/design/boards/record.md says how to record.
Exit codes: 0 equal, 1 a window differs, 3 the file is damaged, cut or another board's, 5 nothing to compare.)";

struct Options {
  std::string file, preset = "fpga100", dut = "model", json, pcap;
  bool cut = false;
  DutProcess dut_process;
};

std::unique_ptr<FdInput> open_input(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(name_of_file(path) + ": cannot read the record: " + why + ".",
                     "Name an existing file that you may read, or -.");
  };
  if (path == "-") return std::make_unique<FdInput>(STDIN_FILENO);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) refuse("it is a folder");
  auto buffer = std::make_unique<FdInput>(path);
  if (const int why = buffer->error(); why != 0) refuse(why == ENOENT ? "it does not exist" : std::strerror(why));
  return buffer;
}

/// Frames at the ports, put together from beats.
class Frames {
 public:
  Frames(std::ostream& out, const Preset& preset)
      : preset_(preset), writer_(out, wire::WireConfig{}, preset.num_planes, preset.port_gbps) {}

  void cycle(uint64_t cycle, const mrc_pins_in& in, const mrc_pins_out& out) {
    for (unsigned p = 0; p < preset_.num_planes; ++p) {
      if ((in.rx_tvalid >> p & 1) != 0) beat(in_[p], cycle, p, in.rx_tdata[p], in.rx_tkeep[p], in.rx_tlast >> p & 1);
      if ((out.tx_tvalid & in.tx_tready) >> p & 1)
        beat(out_[p], cycle, p, out.tx_tdata[p], out.tx_tkeep[p], out.tx_tlast >> p & 1);
    }
  }

 private:
  void beat(std::vector<uint8_t>& frame, uint64_t cycle, unsigned plane, const uint8_t* data, uint32_t keep,
            bool last) {
    for (unsigned b = 0; b < preset_.port_bytes && frame.size() < wire::kMaxFrameBytes; ++b) {
      if ((keep >> b & 1) != 0) frame.push_back(data[b]);
    }
    if (!last) return;
    writer_.write(plane, cycle * preset_.clock_ps / 1000, frame);
    frame.clear();
  }
  const Preset& preset_;
  wire::PcapngWriter writer_;
  std::array<std::vector<uint8_t>, MRC_PLANES> in_, out_;
};

const char* verdict_of(const tb::ReplayResult& r) {
  return r.first ? "different" : r.windows == 0 || r.stopped ? "inconclusive" : "equal";
}

std::string text(const tb::ReplayResult& r, const tb::RecordReader& record) {
  std::string text;
  if (r.first) {
    text = fmt::format("DIFFERENT  the board's output pins in cycles {} to {} are not the device's\n",
                       tb::grouped(r.first->from), tb::grouped(r.first->to - 1));
    text += fmt::format("  digest of the board {:08x}, of the device {:08x}; {} of {} windows differ\n", r.first->board,
                        r.first->device, r.unequal, r.windows);
  } else if (r.windows == 0) {
    text = "nothing to compare: no window of the record is whole\n";
  } else {
    text = fmt::format("{} cycles, equal\n", tb::grouped(r.compared));
  }
  if (r.stopped) {
    text += "  stopped before the end of the record\n";
  } else {
    text += fmt::format("  build {:08x}; the record has {} cycles and ends there: {}\n", record.header().build_id,
                        tb::grouped(record.cycles()), tb::text_of(r.end));
  }
  if (r.compared != r.cycles)
    text += fmt::format("  the last {} cycles have no digest\n", tb::grouped(r.cycles - r.compared));
  return text;
}

std::string json(const tb::ReplayResult& r, const tb::RecordReader& record, const Options& o, const Context& context) {
  Json j;
  j["schema"] = 1;
  j["run_id"] = context.run_id;
  j["versions"] = versions();
  j["preset"] = o.preset;
  j["build_id"] = record.header().build_id;
  j["verdict"] = verdict_of(r);
  j["cycles"] = r.cycles;
  j["compared"] = r.compared;
  j["window"] = record.header().window;
  j["windows"] = r.windows;
  j["unequal"] = r.unequal;
  if (r.first) {
    j["first"] = {{"from", r.first->from}, {"to", r.first->to}, {"board", r.first->board}, {"device", r.first->device}};
  } else {
    j["first"] = nullptr;
  }
  j["end"] = static_cast<unsigned>(r.end);
  j["end_text"] = r.stopped ? "the replay was stopped" : tb::text_of(r.end);
  return j.dump(2) + "\n";
}

int replay_pins(const Options& o, const Context& context) {
  const Preset& preset = preset_from(o.preset);
  Outputs outputs("mrc replay-pins");
  outputs.reads(o.file);
  Output* const to_json = outputs.add("--json", o.json);
  Output* const to_pcap = outputs.add("--pcap", o.pcap);
  const auto input = open_input(o.file);
  std::istream stream(input.get());
  tb::RecordReader record(stream, name_of_file(o.file), preset);
  std::string error;
  const auto device = dut_opener(o.dut, preset, 1, context, o.dut_process)(error);
  if (!device) throw UsageError("no device: " + error + ".", dut_remedy(o.dut, context));

  const StopOnSignal stop;
  StatusLine status;
  std::optional<Frames> frames;
  if (to_pcap != nullptr) frames.emplace(to_pcap->stream(), preset);
  tb::ReplayOptions options;
  options.cut = o.cut;
  options.stop = &g_stop;
  if (frames) options.watch = [&](auto cycle, const auto& in, const auto& out) { frames->cycle(cycle, in, out); };
  options.progress = [&](uint64_t cycle) {
    if (status.on() && cycle % (1u << 16) == 0) status.show(tb::grouped(cycle) + " cycles");
  };
  // A device that is as before its reset.
  device->step(mrc_pins_in{});
  device->step(mrc_pins_in{});
  const tb::ReplayResult result = tb::replay(record, *device, preset, options);
  status.clear();
  if (const auto* fault = device->fault()) {
    throw UsageError("the device has failed: " + fault->text + ".", "Run it under the bench: 'mrc cosim --dut'.");
  }
  if (to_json == nullptr || !to_json->is_stdout()) text_out() << text(result, record);
  outputs.write(to_json, [&](std::ostream& out) { out << json(result, record, o, context); });
  outputs.write(to_pcap, [](std::ostream&) {});
  return outputs.finish(result.first ? kFail : result.windows == 0 || result.stopped ? kInconclusive : kPass);
}

}  // namespace
}  // namespace replay_pins_command

void register_replay_pins(Command& app, Context& context) {
  using namespace replay_pins_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("replay-pins", "drive the model with recorded inputs of a board's core");
  command.footer(kFooter);
  command.text("FILE", options->file, "a record of a board's pins; - is standard input").required();
  command.text("--preset", options->preset, "preset of the board").such_as(names_of(kPresets));
  command.text("--dut", options->dut, "the device that gets the inputs: model, rtl, or a shared object");
  add_dut_process(command, options->dut_process);
  command.text("--json", options->json, "the result as JSON, to a file or -").optional("-").called("FILE");
  command.text("--pcap", options->pcap, "frames at the ports, received by the board and sent by the device");
  command.flag("--cut", options->cut, "a record that ends early is replayed up to its last check");
  command.action([options, &context] { context.exit_code = replay_pins(*options, context); });
}

}  // namespace mrc::cli
