// SPDX-License-Identifier: Apache-2.0
/// Where a device is: which function of mrc_dut.h has been called, in which cycle. Whoever watches it can say so when
/// it does not come back.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace mrc::tb {

/// Functions of mrc_dut.h, in the order in which a device sees them first.
enum class DeviceCall : uint32_t { None, Load, Open, Info, Outputs, Observe, Step, Assertions, Wave, Close, Exit };
/// "mrc_dut_step"; "dlopen" of Load, "" of None, "exit" of Exit.
const char* name_of(DeviceCall call);

/// Written by the thread that calls the device; may lie in memory that another process reads.
struct CallSite {
  std::atomic<uint32_t> call{0};
  std::atomic<uint64_t> cycle{0};  ///< steps that the device has made

  DeviceCall where() const;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// A call is under way while this lives.
class Calling {
 public:
  Calling(CallSite& site, DeviceCall call) : site_(site) {
    site_.call.store(static_cast<uint32_t>(call), std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;
  ~Calling() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    site_.call.store(static_cast<uint32_t>(DeviceCall::None), std::memory_order_relaxed);
  }

 private:
  CallSite& site_;
};

/// "mrc_dut_step of cycle 99", "mrc_dut_open".
std::string call_text(DeviceCall call, uint64_t cycle);
/// "in mrc_dut_step of cycle 99", "between two calls in cycle 7", "after mrc_dut_close".
std::string place_text(DeviceCall call, uint64_t cycle);

}  // namespace mrc::tb
