// SPDX-License-Identifier: Apache-2.0
/// What stands behind the pointers that a program gets. Each Context is one open device; its mutex guards all that
/// belongs to it.
#pragma once

#include <infiniband/verbs.h>
#include <mrc.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
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
  ibv_context base{};
  Device* device = nullptr;
  std::mutex mutex;
  Connection connection;
  std::map<uint32_t, ::mrc_qp*> qps;  ///< by number
  std::set<::mrc_cq*> cqs;
  std::set<::mrc_context*> contexts;
  uint32_t pds = 0, regions = 0;

  void say(const std::string& sentence) { connection.say(sentence); }
};

struct Pd {
  ibv_pd base;
  uint32_t users;
};

struct Mr {
  ibv_mr base;
};

/// The open device behind a pointer; null: it is not ours.
Context* context_of(const ibv_context* context);
/// Sets errno; returns -1.
int fail(int error);
/// A call that the interface has and this library does not: errno says so, and so does a line in the host's log.
int not_there(Context* context, const char* name);
int not_there(const ::mrc_context* context, const char* name);

}  // namespace mrc::libmrc

struct mrc_context {
  mrc::libmrc::Context* device = nullptr;
  uint32_t version = 0;  ///< that the program uses
  unsigned objects = 0;  ///< that are there
};

struct mrc_cq {
  mrc_context* owner = nullptr;
  void* context = nullptr;
  std::size_t room = 0;
  bool overrun = false;
  unsigned qps = 0;
  struct Entry {
    ibv_wc wc;
    mrc_qp* qp;
    uint32_t retires;
  };
  std::deque<Entry> entries;
};

struct mrc_qp {
  mrc_context* owner = nullptr;
  uint32_t number = 0;
  mrc_qp_init_attr init{};
  mrc::libmrc::State state = mrc::libmrc::State::Reset;  ///< as far as is known here
  uint32_t send_used = 0, recv_used = 0;                 ///< until their completions are polled
  mrc_qp_attr kept{};                                    ///< attributes that the NIC knows nothing of
};
