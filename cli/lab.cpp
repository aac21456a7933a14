// SPDX-License-Identifier: Apache-2.0
#include "cli/lab.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "tb/ports/packet_ports.hpp"

namespace mrc::cli {
namespace {

constexpr int kCaptureSeconds = 20;  ///< until dumpcap has begun, or ended

[[noreturn]] void refused(const std::string& what) {
  throw UsageError(what,
                   "Namespaces of one's own need root, or a kernel that lets users have them "
                   "(sysctl kernel.unprivileged_userns_clone=1).");
}

bool write_file(const char* path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  return static_cast<bool>(out.flush());
}

/// A namespace of our own; without root, in a user namespace in which we are root.
void leave() {
  if (::unshare(CLONE_NEWNET) == 0) return;
  const auto user = ::getuid();
  const auto group = ::getgid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
    refused("the kernel gives this user no network namespace: " + std::string(std::strerror(errno)) + ".");
  write_file("/proc/self/setgroups", "deny");
  if (!write_file("/proc/self/uid_map", fmt::format("0 {} 1", user)) ||
      !write_file("/proc/self/gid_map", fmt::format("0 {} 1", group)))
    refused("the kernel lets this user not be root of a namespace of its own.");
}

/// No neighbours, routers and groups are asked for: all that is on the cables is the NICs'.
void be_quiet() {
  for (const char* which : {"default", "all"})
    write_file(fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", which).c_str(), "1");
}

/// A process that dies with this one.
pid_t fork_child() {
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) throw UsageError("cannot start a process: " + std::string(std::strerror(errno)) + ".", "Check limits.");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, SIG_DFL);
  }
  return pid;
}

void run(const std::string& script) {
  const pid_t pid = fork_child();
  if (pid == 0) {
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw UsageError("the command 'ip' is missing.", "apt-get install iproute2");
  throw UsageError("'ip' cannot lay the cables.", "Its reason stands above; the kernel needs veth.");
}

}  // namespace

Lab::Lab(unsigned planes) : planes_(planes) {
  leave();
  be_quiet();
  std::array<int, 2> ready{};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0)
    throw UsageError("cannot make a pipe: " + std::string(std::strerror(errno)) + ".", "Check limits.");
  holder_ = fork_child();
  if (holder_ == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
    char word = 'n';
    if (::unshare(CLONE_NEWNET) == 0) {
      be_quiet();
      word = 'y';
    }
    [[maybe_unused]] const auto reported = ::write(ready[1], &word, 1);
    for (;;) ::pause();
  }
  ::close(ready[1]);
  char word = 0;
  while (::read(ready[0], &word, 1) < 0 && errno == EINTR) {
  }
  ::close(ready[0]);
  if (word != 'y') refused("the kernel gives no second network namespace.");
  std::string script = "command -v ip >/dev/null && command -v nsenter >/dev/null || exit 127\n";
  for (unsigned p = 0; p < planes_; ++p) {
    script += fmt::format(
        "ip link add mrct{0} mtu 9000 type veth peer name mrcn{0} mtu 9000 netns {1} && ip link set mrct{0} up && "
        "{2} ip link set mrcn{0} up || exit 1\n",
        p, holder_, there());
  }
  run(script);
}

Lab::~Lab() {
  if (dumpcap_ != 0) ::kill(dumpcap_, SIGINT);
  if (holder_ != 0) {
    ::kill(holder_, SIGKILL);
    while (::waitpid(holder_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (words_ >= 0) ::close(words_);
}

std::vector<std::string> Lab::tester_interfaces() const {
  std::vector<std::string> names;
  for (unsigned p = 0; p < planes_; ++p) names.push_back(fmt::format("mrct{}", p));
  return names;
}

std::vector<std::string> Lab::tester_ports() const {
  std::vector<std::string> ports = tester_interfaces();
  for (unsigned p = 0; p < planes_; ++p) ports[p] = fmt::format("{}={}", p, ports[p]);
  return ports;
}

std::string Lab::nic_ports() const {
  std::string words;
  for (unsigned p = 0; p < planes_; ++p) words += fmt::format(" --port {0}=mrcn{0}", p);
  return words;
}

std::string Lab::there() const { return fmt::format("nsenter --net=/proc/{}/ns/net", holder_); }

void Lab::capture(const std::filesystem::path& file) {
  capture_ = file;
  {
    std::ofstream probe(file);
    if (!probe)
      throw UsageError("cannot write " + file.string() + ".", "Name a file in a folder that you may write to.");
  }
  std::array<int, 2> words{};
  if (::pipe2(words.data(), O_CLOEXEC) != 0)
    throw UsageError("cannot make a pipe: " + std::string(std::strerror(errno)) + ".", "Check limits.");
  std::string command = "exec " + there() + " dumpcap -q -B 64 -w \"$1\"";
  for (unsigned p = 0; p < planes_; ++p) command += fmt::format(" -i mrcn{}", p);
  dumpcap_ = fork_child();
  if (dumpcap_ == 0) {
    ::dup2(words[1], STDERR_FILENO);
    ::dup2(words[1], STDOUT_FILENO);
    // Whoever ends this process, even by force: dumpcap ends its file by itself.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGINT);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), "sh", file.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(words[1]);
  words_ = words[0];
  std::string said;
  pollfd readable{words_, POLLIN, 0};
  while (said.find("File:") == std::string::npos) {
    char text[512];
    const ssize_t n = ::poll(&readable, 1, kCaptureSeconds * 1000) > 0 ? ::read(words_, text, sizeof text) : 0;
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      throw UsageError("dumpcap does not begin: " + said, "apt-get install tshark; it needs the right to capture.");
    said.append(text, static_cast<size_t>(n));
  }
}

void Lab::wait_until_written() {
  constexpr unsigned kAddresses = 12, kPollMs = 20;
  std::string up;
  for (const std::string& port : tester_interfaces()) up += "ip link set " + port + " up || exit 1\n";
  run(up);
  tb::PacketPorts ports(tester_interfaces());
  const std::string mark = fmt::format("mrc ports: the capture ends here, {} {} ", ::getpid(), tb::monotonic_ns());
  for (unsigned p = 0; p < planes_; ++p) {
    std::vector<uint8_t> frame(kAddresses, 0xff);
    frame.insert(frame.end(), {0x88, 0xb5});  // IEEE 802: for local experiments
    frame.insert(frame.end(), mark.begin(), mark.end());
    frame.push_back(static_cast<uint8_t>('0' + p));
    ports.send(p, std::move(frame));
  }
  const auto enough = std::chrono::steady_clock::now() + std::chrono::seconds(kCaptureSeconds);
  std::set<char> seen;
  std::string text;
  std::ifstream in(capture_, std::ios::binary);
  in.seekg(0, std::ios::end);  // the marks come behind what the file has now
  while (seen.size() < planes_ && std::chrono::steady_clock::now() < enough) {
    ports.flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
    in.clear();
    std::array<char, 65536> more{};
    do {
      in.read(more.data(), more.size());
      text.append(more.data(), static_cast<size_t>(in.gcount()));
      for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos && at + mark.size() < text.size(); ++at)
        seen.insert(text[at + mark.size()]);
      // A mark may be cut by the end of what has been read.
      text.erase(0, text.size() - std::min(text.size(), mark.size()));
    } while (in.gcount() > 0);
  }
  if (seen.size() < planes_)
    throw UsageError(fmt::format("dumpcap has not written the last packets of {} ports for {} s.",
                                 planes_ - seen.size(), kCaptureSeconds),
                     "The capture is no evidence: is the disk full, the machine too busy?");
}

void Lab::end_capture() {
  if (dumpcap_ == 0) return;
  wait_until_written();
  ::kill(dumpcap_, SIGINT);
  std::string said;
  char text[512];
  for (ssize_t n = 0; (n = ::read(words_, text, sizeof text)) != 0;) {
    if (n > 0) said.append(text, static_cast<size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  int status = 0;
  while (::waitpid(dumpcap_, &status, 0) < 0 && errno == EINTR) {
  }
  dumpcap_ = 0;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw UsageError("dumpcap ended badly: " + said, "The capture is no evidence.");
}

}  // namespace mrc::cli
