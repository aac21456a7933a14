// SPDX-License-Identifier: Apache-2.0
#include "cli/live.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>

#include "cli/context.hpp"
#include "cli/program_path.hpp"
#include "cli/signals.hpp"
#include "wire/pcapng.hpp"

namespace mrc::cli {
namespace {

constexpr int kTickMs = 200;
constexpr std::chrono::seconds kEnds{5};  ///< dumpcap ends within this time, or is ended
constexpr const char* kInstall = "As root: apt-get install --no-install-recommends wireshark-common";

/// Bytes of pcapng up to the first packet's block; nothing: no packet has come.
bool has_packet(std::string_view bytes) {
  constexpr uint32_t kSection = 0x0A0D0D0A, kPacket = 6;
  for (std::size_t at = 0; at + 8 <= bytes.size();) {
    std::array<uint32_t, 2> head{};
    std::memcpy(head.data(), bytes.data() + at, sizeof head);
    if (head[0] == kPacket || (head[0] > 16 && head[0] != kSection) || head[1] < 12) return true;
    at += head[1];
  }
  return false;
}

}  // namespace

LiveCapture::LiveCapture(std::vector<std::string> interfaces) : interfaces_(std::move(interfaces)), buffer_(1 << 18) {
  const std::string program = program_path("dumpcap");
  if (program.empty()) {
    throw UsageError("--live needs dumpcap, which is not installed or which you may not run.",
                     std::string(kInstall) + "; it lets root and the group wireshark capture.");
  }
  std::vector<std::string> words{program, "-q", "-w", "-"};
  for (const std::string& interface : interfaces_) words.insert(words.end(), {"-i", interface});
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int out[2] = {-1, -1}, error[2] = {-1, -1};
  if (::pipe2(out, O_CLOEXEC) == 0 && ::pipe2(error, O_CLOEXEC) == 0) child_ = ::fork();
  if (child_ == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(error[1], STDERR_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  const int why = errno;
  ::close(out[1]);
  ::close(error[1]);
  out_ = out[0];
  error_ = error[0];
  if (child_ < 0) {
    ::close(out_);
    ::close(error_);
    throw UsageError(fmt::format("{} cannot be started: {}.", program, std::strerror(why)), "End other programs.");
  }
}

LiveCapture::~LiveCapture() {
  ::close(out_);
  ::close(error_);
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::size_t LiveCapture::read(char* to, std::size_t most, Clock::time_point until) {
  for (;;) {
    if (tick_) tick_();
    const Clock::time_point now = Clock::now();
    if (g_stop && !stopped_) {
      stopped_ = true;
      stopped_at_ = now;
      ::kill(child_, SIGINT);
    }
    if (now >= until) return 0;
    if (stopped_ && now - stopped_at_ > kEnds) ::kill(child_, SIGKILL);
    pollfd waiting{out_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kTickMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t n = ::read(out_, to, most);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR && errno != EAGAIN) return 0;
  }
}

void LiveCapture::keep(std::chrono::milliseconds time) {
  Clock::time_point until = Clock::time_point::max();
  while (kept_.size() < kMostKept && !stopped_) {
    const std::size_t n = read(buffer_.data(), buffer_.size(), until);
    if (n == 0) return;
    kept_.append(buffer_.data(), n);
    if (until == Clock::time_point::max() && has_packet(kept_)) until = Clock::now() + time;
  }
}

LiveCapture::int_type LiveCapture::underflow() {
  if (!kept_is_read_) {
    kept_is_read_ = true;
    setg(kept_.data(), kept_.data(), kept_.data() + kept_.size());
    if (!kept_.empty()) return traits_type::to_int_type(*gptr());
  } else {
    kept_ = {};
  }
  const std::size_t n = read(buffer_.data(), buffer_.size(), Clock::time_point::max());
  setg(buffer_.data(), buffer_.data(), buffer_.data() + n);
  return n == 0 ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

std::string LiveCapture::failure() {
  if (child_ <= 0) return {};
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  if (stopped_ || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return {};
  std::string said;
  std::array<char, 4096> part;
  for (ssize_t n; said.size() < (1 << 16) && (n = ::read(error_, part.data(), part.size())) > 0;) {
    said.append(part.data(), static_cast<std::size_t>(n));
  }
  // It says first what it is about to do.
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("Capturing on") || line.starts_with("File:")) continue;
    constexpr std::string_view kItself = "dumpcap: ";
    if (line.starts_with(kItself)) line.erase(0, kItself.size());
    if (line.ends_with('.')) line.pop_back();
    return line;
  }
  return WIFSIGNALED(status) ? fmt::format("it was ended by signal {}", WTERMSIG(status))
                             : fmt::format("it ended with code {}", WEXITSTATUS(status));
}

std::string LiveCapture::remedy() const {
  return "Name interfaces that 'dumpcap -D' lists. Capturing needs rights: run mrc as root, or join the group that may "
         "run dumpcap (Debian: dpkg-reconfigure wireshark-common, then usermod -aG wireshark USER).";
}

void PacketRing::add(const wire::CapturedFrame& frame, const wire::PacketSource& from) {
  if (behind_ > most_ / 2) return;
  for (std::size_t i = interfaces_.size(); i < from.interfaces().size(); ++i) {
    interfaces_.push_back(from.interfaces()[i]);
  }
  const auto size = [](const wire::CapturedFrame& one) { return one.bytes.size() + sizeof one; };
  frames_.push_back(frame);
  bytes_ += size(frame);
  if (found_) behind_ += size(frame);
  for (; bytes_ > most_ && frames_.size() > 1; frames_.pop_front()) bytes_ -= size(frames_.front());
}

void PacketRing::write(std::ostream& out,
                       const std::function<std::vector<std::string>(uint64_t number)>& comments_of) const {
  wire::PcapngWriter writer(out, frames_.empty() ? wire::WireConfig{} : frames_.front().wire, 0);
  for (const wire::CaptureInterface& interface : interfaces_) writer.add_interface(interface);
  for (wire::CapturedFrame frame : frames_) {
    for (std::string& text : comments_of(frame.number)) frame.comments.push_back(std::move(text));
    writer.write(frame);
  }
  if (!frames_.empty()) writer.note(fmt::format("packet 1 is number {} of the live capture", first()));
}

}  // namespace mrc::cli
