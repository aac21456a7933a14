// SPDX-License-Identifier: Apache-2.0
/// Requests of a controller to endpoints, without a queue pair. No NIC of ours takes them from software one by one and
/// tells each answer: the driver sends and receives them itself, in the NIC's name, through its ports.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libmrc/host/network.hpp"
#include "libmrc/host/program.hpp"
#include "wire/packet.hpp"

namespace mrc::libmrc {

class Endpoints {
 public:
  /// `known`: the NIC has a queue pair to that address, so that it answers requests from there itself.
  Endpoints(uint64_t mac, log::Ip ip, Network& network, std::function<bool(const log::Ip&)> known)
      : mac_(mac), ip_(ip), network_(network), known_(std::move(known)) {}

  /// Sends it at `now`; an address that no NIC has answers never.
  void request(Program& program, const EpRequest& wanted, Time now);
  /// One whose port is down: nobody hears of it.
  void lose(Program& program, const EpRequest& wanted, Time now);
  /// `reply` is called when all that the program has asked are answered, or at `until`.
  using Reply = std::function<void(int error, uint32_t count)>;
  void wait(Program& program, Time until, Reply reply);
  /// True: the frame, whose last byte arrived at `last`, is an answer to one of them, or a request of a driver that the
  /// NIC would not answer; it is not the NIC's.
  bool take(unsigned plane, Time last, std::span<const uint8_t> frame);
  void leave(const Program& program);

  /// Somebody waits for time to pass.
  bool busy() const { return !waits_.empty(); }
  void tick(Time now);

 private:
  struct Open {
    Program* program;
    uint32_t id;
    Time sent;
  };
  struct Wait {
    Time until;
    Reply reply;
  };
  void settle(Program* program, int error);
  void answer(const wire::Packet& request, unsigned plane, Time last);

  const uint64_t mac_;
  const log::Ip ip_;
  Network& network_;
  const std::function<bool(const log::Ip&)> known_;
  std::map<uint32_t, Open> open_;  ///< by PSN
  std::map<Program*, Wait> waits_;
  std::map<Program*, uint32_t> answered_;
  uint32_t next_ = 0;
};

}  // namespace mrc::libmrc
