// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "log/digest.hpp"
#include "log/record.hpp"
#include "reference/queue.hpp"

namespace mrc::ref::history {

/// What the device has read from host memory lately, byte by byte: of at most kMostPages pages.
class Reads {
 public:
  static constexpr std::size_t kPage = 4096, kMostPages = 4096;

  void host(const log::Host& host) {
    if (host.op != log::HostOp::ReadDone || host.status != 0 || host.data.empty()) return;
    any_ = true;
    std::size_t done = 0;
    while (done < host.data.size()) {
      const uint64_t at = host.addr + done;
      Page& page = page_of(at / kPage);
      const std::size_t from = at % kPage, count = std::min(kPage - from, host.data.size() - done);
      std::copy_n(host.data.begin() + static_cast<std::ptrdiff_t>(done), count, page.bytes.begin() + from);
      page.learn(from, count);
      done += count;
    }
  }
  /// Some read with its data was told.
  bool any() const { return any_; }
  /// Of the bytes from addr on; nothing when they are not all known.
  std::optional<uint64_t> digest(uint64_t addr, uint32_t length) {
    buffer_.clear();
    while (buffer_.size() < length) {
      const uint64_t at = addr + buffer_.size();
      const auto found = pages_.find(at / kPage);
      if (found == pages_.end()) return {};
      const Page& page = *found->second;
      const std::size_t from = at % kPage, count = std::min(kPage - from, length - buffer_.size());
      if (!page.knows(from, count)) return {};
      buffer_.insert(buffer_.end(), page.bytes.begin() + from, page.bytes.begin() + from + count);
    }
    return log::digest(buffer_);
  }
  uint64_t memory() const { return pages_.size() * (sizeof(Page) + 64); }

 private:
  struct Page {
    static constexpr std::size_t kWord = 64;
    std::array<uint8_t, kPage> bytes;
    std::array<uint64_t, kPage / kWord> known{};  ///< a bit for each byte

    /// The bits of `count` bytes from `from` on, as far as they lie in that word.
    static uint64_t mask(std::size_t word, std::size_t from, std::size_t count) {
      const std::size_t begin = std::max(from, word * kWord), end = std::min(from + count, (word + 1) * kWord);
      return (~uint64_t{0} >> (kWord - (end - begin))) << (begin % kWord);
    }
    void learn(std::size_t from, std::size_t count) {
      for (std::size_t w = from / kWord; w * kWord < from + count; ++w) known[w] |= mask(w, from, count);
    }
    bool knows(std::size_t from, std::size_t count) const {
      for (std::size_t w = from / kWord; w * kWord < from + count; ++w) {
        if ((~known[w] & mask(w, from, count)) != 0) return false;
      }
      return true;
    }
  };
  Page& page_of(uint64_t number) {
    if (last_ != nullptr && last_number_ == number) return *last_;
    auto found = pages_.find(number);
    if (found == pages_.end()) {
      if (oldest_.size() >= kMostPages) {
        pages_.erase(oldest_.front());
        oldest_.pop_front();
      }
      found = pages_.emplace(number, std::make_unique<Page>()).first;
      oldest_.push_back(number);
    }
    last_ = found->second.get();
    last_number_ = number;
    return *last_;
  }

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  Queue<uint64_t> oldest_;
  std::vector<uint8_t> buffer_;
  Page* last_ = nullptr;
  uint64_t last_number_ = 0;
  bool any_ = false;
};

}  // namespace mrc::ref::history
