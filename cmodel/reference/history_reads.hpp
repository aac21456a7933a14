// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "log/digest.hpp"
#include "log/record.hpp"

namespace mrc::ref::history {

/// What the device has read from host memory lately, by address: at most kMostBytes.
class Reads {
 public:
  static constexpr uint64_t kMostBytes = 16u << 20;

  void host(const log::Host& host) {
    if (host.op != log::HostOp::ReadDone || host.status != 0 || host.data.empty()) return;
    any_ = true;
    bytes_ += host.data.size();
    auto next = chunks_.lower_bound(host.addr);
    if (next != chunks_.begin() && (next == chunks_.end() || next->first != host.addr)) {
      // A packet is read line by line: one chunk for all of them, if the line before came just now.
      auto& [begin, before] = *std::prev(next);
      if (begin + before.data.size() == host.addr && order_ - before.order < kJustNow &&
          before.data.size() < kMostChunk) {
        before.data.insert(before.data.end(), host.data.begin(), host.data.end());
        before.order = ++order_;
        oldest_.emplace_back(begin, order_);
        while (bytes_ > kMostBytes || oldest_.size() > kMostChunks) forget();
        return;
      }
    }
    const auto [at, fresh] = chunks_.try_emplace(host.addr);
    if (!fresh) bytes_ -= at->second.data.size();
    at->second = {host.data, ++order_};
    oldest_.emplace_back(host.addr, order_);
    while (bytes_ > kMostBytes || oldest_.size() > kMostChunks) forget();
  }
  /// Some read with its data was told.
  bool any() const { return any_; }
  /// Of the bytes from addr on; nothing when they are not all known.
  std::optional<uint64_t> digest(uint64_t addr, uint32_t length) {
    buffer_.clear();
    uint64_t at = addr;
    while (at < addr + length) {
      auto next = chunks_.upper_bound(at);
      // Reads may overlap: of those that begin before `at` the newest that holds it, among the last few.
      const Chunk* best = nullptr;
      uint64_t begin = 0;
      for (int tries = 0; tries < 4 && next != chunks_.begin(); ++tries) {
        --next;
        if (next->first + next->second.data.size() <= at) continue;
        if (best == nullptr || next->second.order > best->order) {
          best = &next->second;
          begin = next->first;
        }
      }
      if (best == nullptr) return {};
      const uint64_t from = at - begin;
      const uint64_t count = std::min<uint64_t>(best->data.size() - from, addr + length - at);
      buffer_.insert(buffer_.end(), best->data.begin() + static_cast<std::ptrdiff_t>(from),
                     best->data.begin() + static_cast<std::ptrdiff_t>(from + count));
      at += count;
    }
    return log::digest(buffer_);
  }
  uint64_t memory() const { return bytes_ + chunks_.size() * 96 + oldest_.size() * 16; }

 private:
  static constexpr std::size_t kMostChunks = 1 << 18, kMostChunk = 8192;
  static constexpr uint64_t kJustNow = 32;  ///< reads
  struct Chunk {
    std::vector<uint8_t> data;
    uint64_t order = 0;
  };
  void forget() {
    const auto [addr, order] = oldest_.front();
    oldest_.pop_front();
    const auto at = chunks_.find(addr);
    if (at == chunks_.end() || at->second.order != order) return;  // read again since
    bytes_ -= at->second.data.size();
    chunks_.erase(at);
  }

  std::map<uint64_t, Chunk> chunks_;
  std::deque<std::pair<uint64_t, uint64_t>> oldest_;
  std::vector<uint8_t> buffer_;
  uint64_t bytes_ = 0, order_ = 0;
  bool any_ = false;
};

}  // namespace mrc::ref::history
