// SPDX-License-Identifier: Apache-2.0
#include "libmrc/library/connection.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "libmrc/socket_path.hpp"

namespace mrc::libmrc {

Connection::~Connection() {
  if (fd_ >= 0) close(fd_);
}

int Connection::lost() {
  lost_ = true;
  shutdown(fd_, SHUT_RDWR);
  return EIO;
}

int Connection::attach(uint32_t& devices) {
  const std::string path = socket_path();
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path) return ENAMETOOLONG;
  path.copy(to.sun_path, path.size());
  fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return errno;
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    const int error = errno;
    lost();
    return error;
  }
  pid_ = getpid();
  // Where Yama lets parents alone look at a process, the host may, too.
  ucred host{};
  socklen_t size = sizeof host;
  if (getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &host, &size) == 0) prctl(PR_SET_PTRACER, host.pid, 0, 0, 0);
  const volatile uint64_t value = 0x6d7263206d726321;
  Number answer{};
  const int error = query(Hello{kMagic, kVersion, reinterpret_cast<uint64_t>(&value), value}, answer);
  devices = answer.value;
  return error;
}

int Connection::send(Kind kind, const void* body, std::size_t bytes) {
  if (fd_ < 0 || lost_) return EIO;
  if (pid_ != getpid()) return EINVAL;
  uint8_t message[sizeof(Head) + kMaxMessage];
  const Head head{static_cast<uint32_t>(bytes), kind};
  std::memcpy(message, &head, sizeof head);
  std::memcpy(message + sizeof head, body, bytes);
  for (std::size_t done = 0; done < sizeof head + bytes;) {
    const ssize_t n = ::send(fd_, message + done, sizeof head + bytes - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return lost();
    done += static_cast<std::size_t>(n);
  }
  return 0;
}

void Connection::say(const std::string& sentence) {
  Say message{};
  sentence.copy(message.text, sizeof message.text - 1);
  report(message);
}

int Connection::receive(bool waits) {
  if (fd_ < 0 || lost_) return EIO;
  if (pid_ != getpid()) return EINVAL;
  if (at_ == in_.size()) {
    in_.clear();
    at_ = 0;
  }
  const std::size_t had = in_.size();
  in_.resize(had + 4096);
  for (;;) {
    const ssize_t n = recv(fd_, in_.data() + had, 4096, waits ? 0 : MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    in_.resize(had + static_cast<std::size_t>(n > 0 ? n : 0));
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))) return 0;
    return lost();
  }
}

bool Connection::next(Head& head, std::vector<uint8_t>& body) {
  if (in_.size() - at_ < sizeof head) return false;
  std::memcpy(&head, in_.data() + at_, sizeof head);
  if (in_.size() - at_ < sizeof head + head.bytes) return false;
  const auto from = in_.begin() + static_cast<std::ptrdiff_t>(at_ + sizeof head);
  body.assign(from, from + head.bytes);
  at_ += sizeof head + head.bytes;
  return true;
}

bool Connection::unqueried(const Head& head, const std::vector<uint8_t>& body) {
  const auto hand_out = [&](auto message, const auto& to) {
    if (body.size() != sizeof message) return false;
    std::memcpy(&message, body.data(), sizeof message);
    if (to) to(message);
    return true;
  };
  if (head.kind == Kind::Completion) return hand_out(Completion{}, on_completion);
  if (head.kind == Kind::PortChange) return hand_out(PortChange{}, on_port);
  if (head.kind == Kind::EvEvent) return hand_out(EvEvent{}, on_ev_event);
  if (head.kind == Kind::EpAnswer) return hand_out(EpAnswer{}, on_ep_answer);
  return head.kind == Kind::Failure && hand_out(Failure{}, on_failure);
}

int Connection::wait(void* answer, std::size_t bytes) {
  Head head{};
  std::vector<uint8_t> body;
  for (;;) {
    while (next(head, body)) {
      if (head.kind == Kind::Answer) {
        if (body.size() != bytes) return lost();
        std::memcpy(answer, body.data(), bytes);
        return 0;
      }
      if (!unqueried(head, body)) return lost();
    }
    if (const int error = receive(true); error != 0) return error;
  }
}

int Connection::poll() {
  if (const int error = receive(false); error != 0) return error;
  Head head{};
  std::vector<uint8_t> body;
  while (next(head, body)) {
    if (!unqueried(head, body)) return lost();
  }
  return 0;
}

}  // namespace mrc::libmrc
