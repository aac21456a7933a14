// SPDX-License-Identifier: Apache-2.0
#include "tb/device/line_channel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "tb/device/lines.hpp"
#include "tb/spawn.hpp"

namespace mrc::tb {
namespace {

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void not_blocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

LineChannel::~LineChannel() { close_down(); }

void LineChannel::gone(const std::string& what) {
  close_down();
  throw DeviceGone(fmt::format("the device {}{}.", name_, what));
}

void LineChannel::start(const std::string& command, const RemoteOptions& options) {
  options_ = options;
  name_ = fmt::format("'{}' ", command);
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
    const int why = errno;
    for (const int fd : {in[0], in[1], out[0], out[1]}) {
      if (fd >= 0) ::close(fd);
    }
    gone(fmt::format("cannot be started: {}", std::strerror(why)));
  }
  const int failed = spawn({"/bin/sh", "-c", command}, in[0], out[1], pid_);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (failed != 0) {
    pid_ = 0;
    gone(fmt::format("cannot be started: {}", std::strerror(failed)));
  }
  not_blocking(to_);
  not_blocking(from_);
}

void LineChannel::connect(const std::string& address, const RemoteOptions& options) {
  options_ = options;
  name_ = fmt::format("at {} ", address);
  if (address.starts_with("unix:")) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    const std::string path = address.substr(5);
    if (path.empty() || path.size() >= sizeof to.sun_path) gone("cannot be reached: the path is empty or too long");
    path.copy(to.sun_path, path.size());
    to_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (to_ < 0 || ::connect(to_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      gone(fmt::format("cannot be reached: {}", std::strerror(errno)));
  } else {
    const std::string rest = address.substr(4);
    const auto colon = rest.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == rest.size())
      gone("has no address: it is written as tcp:HOST:PORT");
    std::string host = rest.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    addrinfo hints{}, *list = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (const int error = ::getaddrinfo(host.c_str(), rest.substr(colon + 1).c_str(), &hints, &list); error != 0)
      gone(fmt::format("cannot be reached: {}", ::gai_strerror(error)));
    int why = 0;
    for (const addrinfo* a = list; a != nullptr && to_ < 0; a = a->ai_next) {
      to_ = ::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
      if (to_ >= 0 && ::connect(to_, a->ai_addr, a->ai_addrlen) == 0) break;
      why = errno;
      if (to_ >= 0) ::close(std::exchange(to_, -1));
    }
    ::freeaddrinfo(list);
    if (to_ < 0) gone(fmt::format("cannot be reached: {}", std::strerror(why)));
    const int one = 1;
    ::setsockopt(to_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  }
  from_ = to_;
  not_blocking(to_);
}

/// "" or how the process has ended.
std::string LineChannel::ended(bool wait) {
  if (pid_ <= 0) return end_;
  int status = 0;
  pid_t got;
  do got = ::waitpid(pid_, &status, wait ? 0 : WNOHANG);
  while (got < 0 && errno == EINTR);
  if (got == 0) return {};
  pid_ = 0;
  if (got < 0) return end_ = "has ended";
  if (WIFSIGNALED(status)) {
    const char* name = ::sigdescr_np(WTERMSIG(status));
    return end_ = fmt::format("was ended by signal {} ({})", WTERMSIG(status), name ? name : "unknown");
  }
  return end_ = fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

void LineChannel::close_down() {
  if (to_ >= 0 && to_ != from_) ::close(to_);
  if (from_ >= 0) ::close(from_);
  to_ = from_ = -1;
  if (pid_ <= 0) return;
  // The end of its stdin ends it; who does not go is ended, with what it has started.
  const pid_t group = pid_;
  for (int i = 0; i < 100 && ended(false).empty(); ++i) ::usleep(10'000);
  ::kill(-group, SIGKILL);
  ended(true);
}

void LineChannel::wait_for(bool to_write, double begin, const std::string& call) {
  pollfd fds[2] = {{from_, POLLIN, 0}, {to_, static_cast<short>(to_write ? POLLOUT : 0), 0}};
  ::poll(fds, to_write ? 2 : 1, 100);
  const double waited = now_s() - begin;
  if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed) && waited > 1)
    gone(fmt::format("had not answered the call {} for {:.1f} s when the run was stopped", call, waited));
  if (options_.limit_s > 0 && waited > options_.limit_s)
    gone(fmt::format("has not answered the call {} for {:g} s", call, options_.limit_s));
}

std::string_view LineChannel::exchange(std::string_view line, const std::string& call) {
  if (to_ < 0) throw DeviceGone(fmt::format("the device {}is not there any more.", name_));
  buffer_.erase(0, taken_);
  taken_ = 0;
  if (!buffer_.empty()) gone(fmt::format("says something before the call {}", call));
  std::string text(line);
  text += '\n';
  const double begin = now_s();
  std::size_t sent = 0, looked = 0;
  for (;;) {
    if (sent < text.size()) {
      const ssize_t n = to_ == from_ ? ::send(to_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL)
                                     : ::write(to_, text.data() + sent, text.size() - sent);
      if (n > 0) sent += static_cast<std::size_t>(n);
      if (n < 0 && errno != EAGAIN && errno != EINTR) {
        const std::string why = pid_ > 0 ? ended(true) : "has closed the connection";
        gone(fmt::format("{} in the call {}", why, call));
      }
    }
    char chunk[1 << 16];
    const ssize_t n = ::read(from_, chunk, sizeof chunk);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
      std::string why = "has closed its output";
      if (pid_ > 0) {
        for (int i = 0; i < 50 && ended(false).empty(); ++i) ::usleep(10'000);
        if (!end_.empty()) why = end_;
      }
      gone(fmt::format("{} in the call {}", why, call));
    }
    if (n > 0) buffer_.append(chunk, static_cast<std::size_t>(n));
    const std::size_t end = buffer_.find('\n', looked);
    if (end != std::string::npos && sent == text.size()) {
      if (end > kMaxLine) gone(fmt::format("answers the call {} with a line of more than {} bytes", call, kMaxLine));
      taken_ = end + 1;
      return std::string_view(buffer_).substr(0, end);
    }
    if (end != std::string::npos) gone(fmt::format("answers the call {} before it has read it", call));
    looked = buffer_.size();
    if (buffer_.size() > kMaxLine)
      gone(fmt::format("answers the call {} with a line of more than {} bytes", call, kMaxLine));
    if (n < 0) wait_for(sent < text.size(), begin, call);
  }
}

}  // namespace mrc::tb
