// SPDX-License-Identifier: Apache-2.0
/// usage: mrc-host ENDPOINT PRESET NICS SEED SOCKET PCAP EVS LOSS FABRIC PACE RECORD MIN_ACTIVE
/// What `mrc host` becomes, with its options in this order, empty ones included: a program of its own, so that nobody
/// compiles its sockets for anything else.
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/host_options.hpp"
#include "cli/nic_device.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "libmrc/host/host.hpp"
#include "log/writer.hpp"
#include "wire/pcapng.hpp"

namespace mrc::cli {
namespace {

int run(const HostOptions& o, const Context& context) {
  const StopOnSignal stop;
  libmrc::HostOptions host;
  host.preset = &*find_preset(o.preset);
  host.nics = o.nics;
  host.seed = o.seed;
  host.loss = o.loss;
  host.min_active = o.min_active;
  host.socket = o.socket;
  host.pace = *o.slowness();
  std::optional<sim::Scenario> fabric;
  if (!o.fabric.empty()) host.fabric = &fabric.emplace(sim::load_fabric_scenario(o.fabric, false));
  const unsigned nics = host.fabric == nullptr ? o.nics : sim::Topology(fabric->topology).hosts();
  host.open = [&] { return nic_device(o.endpoint, *host.preset, "", context, true); };
  host.say = [](const std::string& sentence) { std::cerr << sentence << '\n'; };
  host.ready = [&] {
    const std::filesystem::path libraries = std::filesystem::weakly_canonical(context.lib_dir);
    std::cout << fmt::format("{} NICs, mrc0 to mrc{}: {}, {}; programs attach at {}\n", nics, nics - 1, o.endpoint,
                             o.preset, o.socket)
              << fmt::format("  export MRC_HOST={} LD_PRELOAD={}\n", o.socket, (libraries / "lib_mrc.so").string())
              << fmt::format("  or, instead of LD_PRELOAD, LD_LIBRARY_PATH={}\n", (libraries / "verbs").string())
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
  Output* const evs = outputs.add("--evs", o.evs);
  if (evs != nullptr) {
    evs->stream() << "device,profile,entry,port,ev,in_packets\n";
    host.show = [evs](const std::string& line) { evs->stream() << line << '\n'; };
  }
  std::optional<log::Writer> writer;
  Output* const record = outputs.add("--record", o.record);
  if (record != nullptr) {
    writer.emplace(record->stream());
    host.record = [&writer](tb::Monitor::Record& reported) { writer->write(*reported); };
  }
  host.stop = &g_stop;
  try {
    const libmrc::HostResult result = libmrc::run_host(host);
    std::cout << fmt::format("devices were opened {} times, {:.3f} ms of simulated time\n", result.opened,
                             static_cast<double>(result.time) * 1e-9);
    for (const std::string& line : result.summary) std::cout << "  " << line << '\n';
    outputs.write(file, [](std::ostream&) {});
    outputs.write(evs, [](std::ostream&) {});
    outputs.write(record, [&writer](std::ostream&) { writer->finish(); });
    return outputs.finish(kPass);
  } catch (const libmrc::HostError& error) {
    throw UsageError(error.what(), "Name another place with --socket, in a folder of your own.");
  } catch (const tb::Refusal& refusal) {
    throw UsageError(refusal.what(), "docs/reference/device.md says what each --endpoint can.");
  } catch (const tb::DeviceGone& gone) {
    throw UsageError(gone.what(), "docs/reference/device.md says what a NIC has to answer.");
  }
}

/// Of who called us, and of the folder of the libraries, where this program stands.
Context context_of(const char* program) {
  Context context;
  if (const char* root = std::getenv("MRC_ROOT")) context.root = root;
  if (const char* builder = std::getenv("MRC_BUILD")) context.builder = builder;
  std::error_code ignored;
  context.lib_dir = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  context.program = program;
  std::random_device random;
  context.run_id = fmt::format("{:08x}", random());
  return context;
}

int main_of(std::span<char*> words) {
  const std::optional<HostOptions> options = HostOptions::of({words.begin() + 1, words.end()});
  if (!options || find_preset(options->preset) == nullptr) {
    std::cerr << "mrc-host: call mrc host.\n";
    return kUsage;
  }
  try {
    return run(*options, context_of(words[0]));
  } catch (const ReportedAlready&) {
    return kUsage;
  } catch (const Unsupported& error) {
    std::cerr << "mrc host: " << error.what() << "\n  " << error.remedy << '\n';
    return kUnsupported;
  } catch (const UsageError& error) {
    std::cerr << "mrc host: " << error.what() << "\n  " << error.remedy << '\n';
    return kUsage;
  }
}

}  // namespace
}  // namespace mrc::cli

int main(int argc, char** argv) {
  mrc::cli::install_signals();
  mrc::cli::install_stdout();
  const int code = mrc::cli::main_of({argv, static_cast<std::size_t>(argc)});
  const int why = mrc::cli::flush_stdout();
  if (why == 0 || why == EPIPE) return code;
  std::cerr << "mrc host: cannot write standard output: " << std::strerror(why) << ".\n"
            << "  Free some space, or send it elsewhere.\n";
  return code == mrc::cli::kPass ? mrc::cli::kUsage : code;
}
