// SPDX-License-Identifier: Apache-2.0
/// The memory that the bench and the process of a device share: pins, streams, one order at a time, one answer each.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include "api/mrc_dut.h"
#include "api/pins.h"
#include "gen/streams.hpp"
#include "tb/dut/device_call.hpp"

namespace mrc::tb {

/// How to wait for the other side: it usually takes microseconds, less than the kernel needs to wake anybody, so
/// looking again and again is best while it has a processor of its own. Where it has none, every look keeps it from
/// going on. Whether it has one shows: what did not come soon is not looked for in the next waits, in more and more of
/// them.
class Patience {
 public:
  static constexpr std::chrono::microseconds kSoon{40};

  bool looks() {
    if (skip_ == 0) return several_;
    --skip_;
    return false;
  }
  void came(bool soon) {
    strikes_ = soon ? strikes_ - (strikes_ > 0) : std::min(strikes_ + 2, 12u);
    if (!soon) skip_ = 1u << strikes_;
  }

 private:
  static bool several() {
    cpu_set_t set;
    return ::sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) > 1;
  }
  const bool several_ = several();
  unsigned skip_ = 0, strikes_ = 0;
};

/// A counter that one side counts up and the other waits for.
class Turn {
 public:
  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  void give() {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_seq_cst)) futex(FUTEX_WAKE, 1, nullptr);
  }
  /// Waits until count() is no longer `old`. Asks idle() every `slice_ms` milliseconds; false of that ends the wait.
  template <class Idle>
  bool await(uint32_t old, Patience& patience, unsigned slice_ms, Idle&& idle) {
    if (count() != old) return true;
    if (patience.looks()) {
      const bool soon = look(old);
      patience.came(soon);
      if (soon) return true;
    }
    const timespec slice{slice_ms / 1000, static_cast<long>(slice_ms % 1000) * 1'000'000};
    for (;;) {
      asleep_.store(1, std::memory_order_seq_cst);
      if (count_.load(std::memory_order_seq_cst) == old) futex(FUTEX_WAIT, old, &slice);
      asleep_.store(0, std::memory_order_relaxed);
      if (count() != old) return true;
      if (!idle()) return count() != old;
    }
  }

 private:
  bool look(uint32_t old) const {
    const auto until = std::chrono::steady_clock::now() + Patience::kSoon;
    do {
      for (unsigned i = 0; i < 16; ++i) {
        if (count() != old) return true;
        pause();
      }
    } while (std::chrono::steady_clock::now() < until);
    return false;
  }
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  void futex(int operation, uint32_t value, const timespec* timeout) {
    static_assert(sizeof count_ == sizeof(uint32_t));
    ::syscall(SYS_futex, &count_, operation, value, timeout, nullptr, 0);
  }

  alignas(64) std::atomic<uint32_t> count_{0};
  std::atomic<uint32_t> asleep_{0};
};

/// Copies what differs, so that lines that stay as they are stay in the caches of both sides.
inline void refresh(void* to, const void* from, std::size_t size) {
  constexpr std::size_t kLine = 64;
  auto* t = static_cast<char*>(to);
  const auto* f = static_cast<const char*>(from);
  for (; size >= kLine; t += kLine, f += kLine, size -= kLine) {
    if (std::memcmp(t, f, kLine) != 0) std::memcpy(t, f, kLine);
  }
  if (std::memcmp(t, f, size) != 0) std::memcpy(t, f, size);
}

/// A text in shared memory: it ends where it must, whatever stands there.
template <std::size_t kSize>
struct ChannelText {
  char bytes[kSize];
  /// False: it is longer than there is room.
  bool put(std::string_view text) {
    const std::size_t n = text.size() < kSize ? text.size() : kSize - 1;
    std::memcpy(bytes, text.data(), n);
    bytes[n] = 0;
    return n == text.size();
  }
  std::string get() const { return {bytes, ::strnlen(bytes, kSize)}; }
};

struct GuestChannel {
  enum class Order : uint32_t { Open, Step, Wave, Close };

  // the bench writes
  Turn requested;
  alignas(64) mrc_pins_in in;
  Order order;
  uint32_t wave_on, wave_has_path;
  ChannelText<4096> path;  ///< of the device; later of waves
  ChannelText<64> preset;
  uint64_t seed;
  int32_t bench;  ///< its process

  // the process of the device writes
  Turn answered;
  alignas(64) mrc_pins_out out;
  alignas(64) uint32_t core[kObsCoreWords];
  alignas(64) uint32_t lanes[kMaxPlanes * kObsLaneWords];
  alignas(64) mrc_inside_t inside;
  alignas(64) CallSite site;
  uint32_t has_inside;
  uint32_t open, has_streams, can_wave, wave_fine;
  uint32_t unsupported;  ///< with an error of opening: open_dut() says so
  uint32_t assertions, assertion_failed;
  uint64_t failed_cycle;
  ChannelText<1024> failed_name, failed_place, failed_text;
  ChannelText<1024> error;  ///< "" or why there is no device, or goes on no more
  ChannelText<32> call;     ///< in which it stopped
  ChannelText<1024> name, version;
};

}  // namespace mrc::tb
