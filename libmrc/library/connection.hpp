// SPDX-License-Identifier: Apache-2.0
/// A program's way to its host. Everything that returns an int returns an errno, 0: done.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libmrc/messages.hpp"

namespace mrc::libmrc {

class Connection {
 public:
  Connection() = default;
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Attaches to the host at MRC_HOST.
  int attach(uint32_t& devices);
  /// Asks, and waits. What comes meanwhile unasked goes to the functions below.
  template <class Request>
  int query(const Request& request, typename Request::Answer& answer) {
    if (const int error = send(Request::kKind, &request, sizeof request); error != 0) return error;
    if (const int error = wait(&answer, sizeof answer); error != 0) return error;
    return answer.error;
  }
  template <class Message>
  int report(const Message& message) {
    return send(Message::kKind, &message, sizeof message);
  }
  /// A line for the host's log.
  void say(const std::string& sentence);
  /// Takes what has come, without waiting.
  int poll();

  /// Readable when poll() has something to take; -1 before attach().
  int socket() const { return fd_; }

  std::function<void(const Completion&)> on_completion;
  std::function<void(const Failure&)> on_failure;
  std::function<void(const PortChange&)> on_port;
  std::function<void(const EvEvent&)> on_ev_event;
  std::function<void(const EpAnswer&)> on_ep_answer;

 private:
  int send(Kind kind, const void* body, std::size_t bytes);
  int wait(void* answer, std::size_t bytes);
  int receive(bool waits);
  bool next(Head& head, std::vector<uint8_t>& body);
  bool unqueried(const Head& head, const std::vector<uint8_t>& body);
  int lost();

  int fd_ = -1;  ///< stays open to the end: another thread may wait for it
  bool lost_ = false;
  pid_t pid_ = 0;  ///< who attached; a child that inherits the socket has no part in it
  std::vector<uint8_t> in_;
  std::size_t at_ = 0;
};

}  // namespace mrc::libmrc
