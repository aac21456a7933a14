// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/kernel.hpp"

#include <systemc>
#include <utility>

#include "sim/engine/systemc.hpp"

// Debian's libsystemc wants one. Nobody calls it where the program has a main() of its own; programs built of modules
// (sim/systemc) bring theirs.
__attribute__((weak)) int sc_main(int, char**) { return 0; }

namespace mrc::sim {

struct Kernel::Module : sc_core::sc_module {
  SC_CTOR(Module) {
    SC_METHOD(step);
    sensitive << event;
    dont_initialize();
  }
  void step() {
    ++activations;
    kernel->step();
  }
  Kernel* kernel = nullptr;
  sc_core::sc_event event;
  uint64_t activations = 0;
};

namespace {
sc_core::sc_time picoseconds(uint64_t ps) { return sc_core::sc_time::from_value(ps); }
}  // namespace

Kernel::Kernel() {
  // Resolution is SystemC's default, 1 ps: from_value() and value() count picoseconds.
  module_ = std::make_unique<Module>("packets");
  module_->kernel = this;
}
Kernel::~Kernel() = default;

Kernel& Kernel::instance() {
  // Never destroyed: SystemC's context outlives every static object.
  static Kernel* const kernel = new Kernel;
  return *kernel;
}

uint64_t Kernel::time_ps() { return sc_core::sc_time_stamp().value(); }
uint64_t Kernel::activations() const { return module_->activations; }

RunEnd Kernel::run(Fabric& fabric, Time until) {
  fabric.stop_.store(false, std::memory_order_relaxed);
  fabric_ = &fabric;
  until_ = until;
  fabric.kernel_base_ = time_ps() - fabric.now();
  module_->event.notify(sc_core::SC_ZERO_TIME);
  // Far ends of time would not fit SystemC's clock.
  const Time far = std::min(until, fabric.now() + 1'000'000 * kSecond);
  until_ = far;
  sc_core::sc_start(picoseconds(far - fabric.now()));
  module_->event.cancel();
  fabric_ = nullptr;
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (fabric.stopped()) return RunEnd::Stopped;
  if (fabric.next_event() == kNever) return RunEnd::Idle;
  fabric.set_now(far);
  return RunEnd::Reached;
}

void Kernel::step() {
  if (fabric_ == nullptr) return;
  Fabric& fabric = *fabric_;
  sc_core::sc_simcontext* context = sc_core::sc_get_curr_simcontext();
  const Time here = time_ps() - fabric.kernel_base_;
  if (sc_core::sc_pending_activity_at_current_time(context)) {  // others first
    module_->event.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  const bool alone = !sc_core::sc_pending_activity_at_future_time(context);
  if (!fabric.stopped()) {
    Time limit = until_;
    // sc_start's own end is no activity.
    if (!alone) limit = std::min<Time>(limit, here + sc_core::sc_time_to_pending_activity(context).value());
    inside_ = true;
    try {
      fabric.process(limit);
    } catch (...) {
      thrown_ = std::current_exception();
      inside_ = false;
      sc_core::sc_pause();  // this fabric is over: SystemC's time need not catch up with it
      return;
    }
    inside_ = false;
  }
  const Time next = fabric.next_event();
  const bool over = fabric.stopped() || (next == kNever && !sc_core::sc_pending_activity_at_future_time(context));
  if (over) {
    // SystemC's time catches up before run() returns.
    if (fabric.now() > here)
      module_->event.notify(picoseconds(fabric.now() - here));
    else
      sc_core::sc_pause();
  } else if (next < until_) {
    module_->event.notify(picoseconds(std::max(next, here) - here));
  }
}

void Kernel::notify(Fabric& fabric, sc_core::sc_event& event, Time time) {
  const Time here = time_ps() - fabric.kernel_base_;
  event.notify(picoseconds(std::max(time, here) - here));
  if (inside_) fabric.limit_ = std::min(fabric.limit_, std::max(time, fabric.now() + 1));
}

void Kernel::enter(Fabric& fabric) {
  if (&fabric != fabric_) return;  // its time stands still
  const Time here = time_ps() - fabric.kernel_base_;
  fabric.process(here);
  if (fabric.now() < here) fabric.set_now(here);
}
void Kernel::leave(Fabric& fabric) {
  if (&fabric != fabric_) return;
  const Time here = time_ps() - fabric.kernel_base_;
  const Time next = fabric.next_event();
  if (next < until_) module_->event.notify(picoseconds(std::max(next, here) - here));
}

FromProcess::FromProcess(Fabric& fabric) : fabric_(fabric) { Kernel::instance().enter(fabric); }
FromProcess::~FromProcess() { Kernel::instance().leave(fabric_); }

}  // namespace mrc::sim
