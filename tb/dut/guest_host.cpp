// SPDX-License-Identifier: Apache-2.0
/// mrc_device_host: the process that a device under test runs in. The bench starts it (tb/dut/guest.cpp) and gives it
/// the number of the memory that they share; it opens the device and does there what it is asked for.
#include <sys/prctl.h>
#include <sys/shm.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "gen/presets.hpp"
#include "tb/dut/guest_channel.hpp"
#include "tb/dut/shared_dut.hpp"

namespace {

using namespace mrc;
using namespace mrc::tb;
using Order = GuestChannel::Order;

/// What the bench sees of the device in this cycle.
void show(Dut& dut, mrc_pins_out& out, GuestChannel& c, const Preset& preset) {
  dut.outputs(out);
  refresh(&c.out, &out, sizeof out);
  const uint32_t *core = nullptr, *lanes = nullptr;
  if (dut.observe(core, lanes)) {
    const Calling reading(c.site, DeviceCall::Observe);  // the addresses are the device's
    c.has_streams = 1;
    refresh(c.core, core, sizeof c.core);
    refresh(c.lanes, lanes, size_t{preset.num_planes} * kObsLaneWords * sizeof *lanes);
  }
  mrc_inside_t inside{};
  if (dut.inside(inside)) {
    c.has_inside = 1;
    refresh(&c.inside, &inside, sizeof inside);
  }
}

void report(const Dut& dut, GuestChannel& c) {
  if (const FailedAssertion* failed = dut.failed_assertion(); failed && !c.assertion_failed) {
    c.failed_name.put(failed->name);
    c.failed_place.put(failed->place);
    c.failed_text.put(failed->text);
    c.failed_cycle = failed->cycle;
    c.assertion_failed = 1;
  }
  const DeviceFault* fault = dut.fault();
  if (!fault) return;
  c.error.put(fault->text);
  c.call.put(fault->call);
}

int serve(GuestChannel& c) {
  const Preset* preset = find_preset(c.preset.get());
  if (!preset) return 3;
  uint32_t orders = c.requested.count();
  Patience patience;
  std::string error;
  bool unsupported = false;
  const std::unique_ptr<Dut> dut = open_dut(c.path.get(), *preset, c.seed, error, c.site, &unsupported);
  c.unsupported = unsupported;
  mrc_pins_out out{};
  if (dut) {
    c.name.put(dut->name());
    c.version.put(dut->version());
    c.can_wave = dut->can_wave();
    c.assertions = dut->assertions();
    show(*dut, out, c, *preset);
    if (dut->fault()) c.error.put(c.path.get() + ": " + dut->fault()->text);
  } else {
    c.error.put(error.empty() ? "no device" : error);
  }
  c.answered.give();
  while (dut) {
    constexpr unsigned kSliceMs = 1000;
    if (!c.requested.await(orders, patience, kSliceMs, [&] { return ::getppid() == c.bench; })) break;
    ++orders;
    const Order order = c.order;  // once it is answered the bench may write the next one
    switch (order) {
      case Order::Step:
        dut->step(c.in);
        show(*dut, out, c, *preset);
        break;
      case Order::Wave:
        c.wave_fine = dut->wave(c.wave_has_path ? c.path.bytes : nullptr, c.wave_on != 0);
        break;
      default:
        dut->close();
    }
    report(*dut, c);
    c.answered.give();
    if (order == Order::Close) return 0;
  }
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  void* memory = argc == 2 ? ::shmat(static_cast<int>(std::strtol(argv[1], nullptr, 10)), nullptr, 0) : nullptr;
  shmid_ds about{};
  if (!memory || reinterpret_cast<intptr_t>(memory) == -1 ||
      ::shmctl(static_cast<int>(std::strtol(argv[1], nullptr, 10)), IPC_STAT, &about) != 0 ||
      about.shm_segsz != sizeof(GuestChannel)) {
    std::fputs(
        "mrc_device_host: this program is started by mrc, for a device under test.\n  Use mrc cosim --dut FILE.\n",
        stderr);
    return 3;
  }
  auto& channel = *static_cast<GuestChannel*>(memory);
  // Nothing of a bench that is gone goes on.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != channel.bench) return 3;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return serve(channel);
}
