// SPDX-License-Identifier: Apache-2.0
/// What stands behind the pointers that a program gets. Each Context is one open device; its mutex guards all that
/// belongs to it.
#pragma once

#include <infiniband/verbs.h>
#include <mrc.h>
#include <mrc_ctl.h>

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "libmrc/library/connection.hpp"

namespace mrc::libmrc {

struct Device {
  ibv_device base;  ///< first: a program has a pointer to it
  uint32_t index;
  DeviceRow row;
};

struct Context {
  verbs_context extended{};
  ibv_context& base = extended.context;  ///< a program has a pointer to it
  Device* device = nullptr;
  std::mutex mutex;
  Connection connection;
  std::map<uint32_t, ::mrc_qp*> qps;  ///< by number
  std::set<::mrc_cq*> ev_queues;
  std::set<::mrc_context*> contexts;
  std::condition_variable_any acknowledged;
  uint32_t pds = 0, hints = 0;
  std::mutex verbs_mutex;
  ::mrc_context* verbs = nullptr;  ///< of what the program made by libibverbs' calls
  int events = -1;                 ///< eventfd: some context has asynchronous events

  void say(const std::string& sentence) { connection.say(sentence); }
};

/// Sets what libibverbs' inline functions call.
void give_verbs(Context& c);
/// Of what it made nothing may be left; false: something is.
bool end_verbs(Context& c);
/// A value of C, which may be none of its enumeration's: it must not be read as one.
template <class Enum>
uint32_t plain(const Enum& value) {
  static_assert(sizeof value == sizeof(uint32_t));
  uint32_t number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}
/// The open device behind a pointer; null: it is not ours.
Context* context_of(const ibv_context* context);
/// A descriptor that is readable when one of both is; -1 with errno.
int either(int one, int other);
/// Waits until a descriptor of either() may be; false: it does not block, or a signal came. errno says which.
bool wait_for(int descriptor);
/// Something has come into a queue: whoever asked for it is told, once.
void notify(::mrc_cq& cq, bool solicited);
/// Sets errno; returns -1.
int fail(int error);
/// A call that the interface has and this library does not: errno says so, and so does a line in the host's log.
int not_there(Context* context, const char* name);

}  // namespace mrc::libmrc

struct mrc_context {
  mrc::libmrc::Context* device = nullptr;
  uint32_t version = 0;  ///< that the program uses
  unsigned objects = 0;  ///< that are there
  std::deque<mrc_async_event> events;
};

struct mrc_comp_channel {
  mrc_context* owner = nullptr;
  int descriptor = -1, signal = -1;  ///< the program's; an eventfd: there are events
  unsigned cqs = 0;
  std::deque<mrc_cq*> events;
};

struct mrc_qp_hint {
  mrc_context* owner = nullptr;
  mrc_qp_hint_attr attr{};
  unsigned qps = 0;
};

struct mrc_cq {
  mrc_context* owner = nullptr;
  void* context = nullptr;
  std::size_t room = 0;
  bool overrun = false;
  unsigned qps = 0;
  mrc_comp_channel* channel = nullptr;
  enum class Armed : uint8_t { No, Any, Solicited } armed = Armed::No;
  uint64_t open_events = 0;  ///< handed out, not acknowledged
  struct Entry {
    ibv_wc wc;
    mrc_qp* qp;
    uint32_t retires;
  };
  std::deque<Entry> entries;
  /// Of a queue for EV events, which loses some instead of failing; else absent.
  std::optional<std::deque<mrc_ctl_ev_event>> ev_events;
  uint32_t dropped = 0;
};

struct mrc_qp {
  mrc_context* owner = nullptr;
  uint32_t number = 0;
  mrc_qp_init_attr init{};
  mrc::libmrc::State state = mrc::libmrc::State::Reset;  ///< as far as is known here
  uint32_t send_used = 0, recv_used = 0;                 ///< until their completions are polled
  mrc_qp_hint* hint = nullptr;
  uint64_t open_events = 0;  ///< handed out, not acknowledged
};
