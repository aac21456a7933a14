// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/host_options.hpp"
#include "cli/names_of.hpp"
#include "cli/output.hpp"
#include "cli/rtl_device.hpp"
#include "gen/presets.hpp"

namespace mrc::cli {
namespace host_command {
namespace {

/// A program of its own has the NICs: mrc-host beside the libraries, which is built first where somebody builds.
void become_host(const HostOptions& options, const Context& context) {
  const std::filesystem::path program = own_program("mrc_host", "mrc-host", context);
  std::vector<std::string> words{program.string()};
  for (std::string& word : options.words()) words.push_back(std::move(word));
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  hand_back_stdout();
  ::execv(argv[0], argv.data());
  throw UsageError("cannot run " + program.string() + ".", "Build it: ninja mrc_host, or call ./mrc, which does.");
}

}  // namespace
}  // namespace host_command

void register_host(Command& app, Context& context) {
  using namespace host_command;
  auto options = std::make_shared<HostOptions>();
  Command& command = app.command("host", "NICs for programs that are written for mrc.h");
  command.footer(R"(
Simulates NICs and the network between them until it is stopped. Programs that are linked with lib_mrc.so, or start with
it in LD_PRELOAD, find them as devices mrc0, mrc1, ... of libibverbs, if MRC_HOST names the socket. The NICs read and
write the programs' own memory. Simulated time advances while a program waits for it (docs/guide/api.md).

Examples:
  mrc host                                     two NICs: the cycle-accurate model
  mrc host --endpoint fast                     the protocol alone, without a clock: faster, and accepts calls that a NIC refuses
  mrc host --endpoint rtl --preset tiny        our RTL
  mrc host --pcap run.pcapng                   and a capture of their frames, for Wireshark and mrc check
  mrc host --record run.mrclog                 and a log of all calls and events, for mrc check and mrc log
  mrc host --loss 0.01                         one frame of a hundred is lost
  mrc host net.toml                            NICs in a fabric; links fail as the file says (docs/guide/fabric.md)
  mrc host --pace real/10000                   a simulated second takes 10 000, whether a program waits or not
  mrc host --nics 8 --socket ~/.mrc/host       eight, for a small cluster of processes)");
  Option& fabric = command.text("fabric", options->fabric,
                                "a scenario of mrc fabric: its topology and events; all of its NICs are there");
  command.text("--endpoint", options->endpoint, "model, rtl, or fast").one_of({"model", "rtl", "fast"});
  command.text("--preset", options->preset, "sizes of the NICs: asic800, fpga100, tiny").such_as(names_of(kPresets));
  command.number("--nics", options->nics, 1, 64, "number of NICs").excludes(fabric);
  command.text("--socket", options->socket, "where programs attach").called("PATH");
  command.text("--pcap", options->pcap, "write every frame that a NIC sends to this pcapng file").called("FILE");
  command
      .text("--record", options->record, "record calls and events of the NICs in this log, for mrc check and mrc log")
      .called("FILE");
  command.text("--evs", options->evs, "write EVs of profiles that a controller puts ONLINE to this CSV file")
      .called("FILE");
  command.number("--min-active", options->min_active, 0, 511,
                 "EVs of a queue pair that stay in use, whatever they lose: what NICs have for ev_min_active");
  command.real("--loss", options->loss, 0, 0.5, "share of frames that the network loses");
  command.text("--pace", options->pace, "free, or real/N: N seconds for each simulated one").called("PACE");
  command.number("--seed", options->seed, 0, kAnySeed, "entropy values and losses are drawn from it");
  command.action([options, &context] {
    if (!options->slowness())
      throw UsageError("--pace " + options->pace + " is no pace.", "Use free, or real/N with N from 1 to 1e9.");
    become_host(*options, context);
  });
}

}  // namespace mrc::cli
