// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/dut_options.hpp"
#include "cli/nic_device.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "libmrc/host/host.hpp"
#include "libmrc/socket_path.hpp"
#include "wire/pcapng.hpp"

namespace mrc::cli {
namespace host_command {
namespace {

struct Options {
  std::string endpoint = "model", preset = "asic800", socket = libmrc::socket_path(), pcap;
  unsigned nics = 2;
  uint64_t seed = 1;
};

int run(const Options& o, const Context& context) {
  const StopOnSignal stop;
  libmrc::HostOptions host;
  host.preset = &preset_from(o.preset);
  host.nics = o.nics;
  host.seed = o.seed;
  host.socket = o.socket;
  host.open = [&] { return nic_device(o.endpoint, *host.preset, "", context); };
  host.say = [](const std::string& sentence) { std::cerr << sentence << '\n'; };
  host.ready = [&] {
    std::cout << fmt::format("{} NICs, mrc0 to mrc{}: {}, {}; programs attach at {}\n", o.nics, o.nics - 1, o.endpoint,
                             o.preset, o.socket)
              << fmt::format("  export MRC_HOST={} LD_PRELOAD={}\n", o.socket,
                             std::filesystem::weakly_canonical(context.lib_dir / "lib_mrc.so").string())
              << std::flush;
  };
  Outputs outputs("mrc host");
  std::optional<wire::PcapngWriter> capture;
  Output* const file = outputs.add("--pcap", o.pcap);
  if (file != nullptr) {
    const std::string comments[] = {"run " + context.run_id};
    capture.emplace(file->stream(), wire::WireConfig{}, host.preset->num_planes, host.preset->port_gbps, comments);
    host.watch = [&capture](unsigned plane, tb::Time first, std::span<const uint8_t> bytes) {
      capture->write(plane, first / 1000, bytes);
    };
  }
  host.stop = &g_stop;
  try {
    const libmrc::HostResult result = libmrc::run_host(host);
    std::cout << fmt::format("devices were opened {} times, {:.3f} ms of simulated time\n", result.opened,
                             static_cast<double>(result.time) * 1e-9);
    outputs.write(file, [](std::ostream&) {});
    return outputs.finish(kPass);
  } catch (const libmrc::HostError& error) {
    throw UsageError(error.what(), "Name another place with --socket, in a folder of your own.");
  } catch (const tb::Refusal& refusal) {
    throw UsageError(refusal.what(), "docs/device.md says what each --endpoint can.");
  } catch (const tb::DeviceGone& gone) {
    throw UsageError(gone.what(), "docs/device.md says what a NIC has to answer.");
  }
}

}  // namespace
}  // namespace host_command

void register_host(Command& app, Context& context) {
  using namespace host_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("host", "NICs for programs that are written for mrc.h");
  command.footer(R"(
Has NICs and the network between them until it is stopped. Programs that are linked with lib_mrc.so, or start with it in
LD_PRELOAD, find them as devices mrc0, mrc1, ... of libibverbs, if MRC_HOST names the socket. The NICs read and write
the memory of programs where it lies. Simulated time passes while somebody waits for it (docs/api.md).

Examples:
  mrc host                                     two NICs: the cycle-accurate model
  mrc host --endpoint fast                     the protocol alone, without a clock: faster, and says yes too often
  mrc host --endpoint rtl --preset tiny        our RTL
  mrc host --pcap run.pcapng                   and what they send each other, for Wireshark and mrc check
  mrc host --nics 8 --socket ~/.mrc/host       eight, for a small cluster of processes)");
  command.text("--endpoint", options->endpoint, "model, rtl, or fast").one_of({"model", "rtl", "fast"});
  command.text("--preset", options->preset, "sizes of the NICs: asic800, fpga100, tiny").such_as(names_of(kPresets));
  command.number("--nics", options->nics, 1, 64, "how many");
  command.text("--socket", options->socket, "where programs attach").called("PATH");
  command.text("--pcap", options->pcap, "write every frame that a NIC sends to this pcapng file").called("FILE");
  command.number("--seed", options->seed, 0, kAnySeed, "entropy values are drawn from it");
  command.action([options, &context] { context.exit_code = run(*options, context); });
}

}  // namespace mrc::cli
