// SPDX-License-Identifier: Apache-2.0
/// Captures that are judged while they are made: dumpcap of the system is asked for them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "wire/captured.hpp"

namespace mrc::cli {

/// What dumpcap captures, as bytes of pcapng. Ctrl-C ends dumpcap, and with it the stream: nothing that it has
/// captured is lost.
class LiveCapture final : public std::streambuf {
 public:
  /// Starts dumpcap. Throws UsageError: it is not installed, or cannot be started.
  explicit LiveCapture(std::vector<std::string> interfaces);
  LiveCapture(const LiveCapture&) = delete;
  LiveCapture& operator=(const LiveCapture&) = delete;
  ~LiveCapture() override;

  /// Called at least five times a second while bytes are waited for.
  void each(std::function<void()> tick) { tick_ = std::move(tick); }
  /// Reads until so long after the first packet, or kMostKept bytes. They are kept, and come first when it is read.
  void keep(std::chrono::milliseconds time);
  std::string_view kept() const { return kept_; }
  static constexpr std::size_t kMostKept = 64u << 20;

  /// When the stream is over: why dumpcap ended by itself with an error, in its words; "": it did not.
  std::string failure();
  /// What helps against failure().
  std::string remedy() const;

 protected:
  int_type underflow() override;

 private:
  using Clock = std::chrono::steady_clock;
  /// Bytes that have come; 0: it is over, or (until) it is too late.
  std::size_t read(char* to, std::size_t most, Clock::time_point until);

  std::vector<std::string> interfaces_;
  std::function<void()> tick_;
  std::string kept_;
  std::vector<char> buffer_;
  pid_t child_ = -1;
  int out_ = -1, error_ = -1;
  bool stopped_ = false, kept_is_read_ = false;
  Clock::time_point stopped_at_;
};

/// The newest packets of a stream, as many as fit into so many bytes. Once something was found, half as many bytes
/// come on top, and the oldest go; then it stays as it is.
class PacketRing {
 public:
  explicit PacketRing(uint64_t bytes) : most_(bytes) {}
  void add(const wire::CapturedFrame& frame, const wire::PacketSource& from);
  void found() { found_ = true; }
  bool empty() const { return frames_.empty(); }
  /// As pcapng. `comments_of` a packet, by its number in the stream.
  void write(std::ostream& out, const std::function<std::vector<std::string>(uint64_t number)>& comments_of) const;
  /// Numbers in the stream of the first packet and the last one; there are some.
  uint64_t first() const { return frames_.front().number; }
  uint64_t last() const { return frames_.back().number; }

 private:
  uint64_t most_, bytes_ = 0, behind_ = 0;
  bool found_ = false;
  std::deque<wire::CapturedFrame> frames_;
  std::vector<wire::CaptureInterface> interfaces_;
};

}  // namespace mrc::cli
