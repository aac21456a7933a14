// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/snapshots.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace mrc::tb {
namespace {

constexpr double kFaultSeconds = 4e-6;  // a page that is written after fork() is copied: with what that does to caches
constexpr double kShare = 0.01;         // of this thread's processor time, for copies

double processor_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

bool read_all(int pipe, void* to, std::size_t size) {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::read(pipe, at, size);
    if (n < 0 && errno == EINTR) continue;  // Ctrl-C is for the process that we are a copy of
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool write_all(int pipe, const void* from, std::size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t n = ::write(pipe, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

Snapshots::~Snapshots() {
  while (!copies_.empty()) drop(0);
  reap(true);
}

bool Snapshots::due(uint64_t cycle) {
  if (copies_.empty()) return taken_ == 0;  // none, once it was refused
  if (cycle - copies_.back().cycle < spacing_) return false;
  const double cost = fork_seconds_ + static_cast<double>(page_faults() - faults_) * kFaultSeconds;
  return (processor_seconds() - last_) * kShare >= cost;
}

std::optional<Snapshots::Order> Snapshots::take(uint64_t cycle) {
  ++taken_;
  reap(false);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const double begin = processor_seconds();
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid == 0) {
    // However the parent ends, this ends too: by the signal, or because nobody holds the other end of the pipe.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::close(ends[1]);
    for (const Copy& c : copies_) ::close(c.order);
    copies_.clear();
    leaving_.clear();
    std::optional<Order> order = sleep(ends[0]);
    if (!order) ::_exit(0);
    return order;
  }
  ::close(ends[0]);
  if (pid < 0) {  // no memory, no process: then without
    ::close(ends[1]);
    return {};
  }
  last_ = processor_seconds();
  fork_seconds_ = last_ - begin;
  faults_ = page_faults();
  copies_.push_back({pid, ends[1], cycle});
  if (copies_.size() > 2) drop(0);
  return {};
}

std::optional<Snapshots::Order> Snapshots::sleep(int pipe) {
  Order order;
  uint64_t numbers[3];  // from, to, length of the path
  if (!read_all(pipe, numbers, sizeof numbers)) return {};
  order.from = numbers[0];
  order.to = numbers[1];
  order.path.resize(numbers[2]);
  if (!read_all(pipe, order.path.data(), order.path.size())) return {};
  ::close(pipe);
  return order;
}

bool Snapshots::run(const Order& order) {
  if (copies_.empty()) return false;
  std::size_t index = copies_.size() - 1;
  while (index > 0 && copies_[index].cycle > order.from) --index;
  if (copies_[index].cycle > order.from) return false;
  const Copy copy = copies_[index];
  const uint64_t numbers[3] = {order.from, order.to, order.path.size()};
  struct sigaction ignore {
  }, old{};
  ignore.sa_handler = SIG_IGN;  // a copy that is gone is no reason to go as well
  sigaction(SIGPIPE, &ignore, &old);
  const bool reported =
      write_all(copy.order, numbers, sizeof numbers) && write_all(copy.order, order.path.data(), order.path.size());
  sigaction(SIGPIPE, &old, nullptr);
  if (!reported) {
    drop(index);
    return false;
  }
  int status = 0;
  while (::waitpid(copy.pid, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(copy.order);
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(index));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void Snapshots::drop(std::size_t index) {
  ::kill(copies_[index].pid, SIGKILL);
  ::close(copies_[index].order);
  leaving_.push_back(copies_[index].pid);
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(index));
}

/// Copies that were told to leave take their time; nobody waits for them before the end.
void Snapshots::reap(bool wait) {
  std::erase_if(leaving_, [wait](pid_t pid) {
    pid_t got;
    do got = ::waitpid(pid, nullptr, wait ? 0 : WNOHANG);
    while (got < 0 && errno == EINTR);
    return got != 0;
  });
}

}  // namespace mrc::tb
