// SPDX-License-Identifier: Apache-2.0
/// What a Story holds while it is being told, and no longer.
#pragma once

#include <unordered_map>

#include "picture/story.hpp"

namespace mrc::picture {

struct Story::Parts {
  enum class What : uint8_t { Qp, Post, Frame, Path, Cqe };
  struct Item {
    Time time;
    std::size_t index;
    uint32_t rank;  ///< at the same time: what comes in is behind what was sent, then by device
    What what;
  };
  /// Fields of a packet as they stand there.
  struct Raw {
    uint32_t dqp = 0, psn = 0, sqp = 0;
    int32_t offset = 0, answered = 0;
    log::Ip src{}, dst{};
    uint64_t va = 0, identity = 0;
    uint32_t rkey = 0, whole = 0;
    bool addressed = false, sure = true;
  };
  struct Used {
    Time time = 0;
    uint64_t cycles = 0, moved = 0, blocked = 0, moved_now = 0, blocked_now = 0;
  };
  struct Adder {
    Story& story;
    Parts& parts;
    const log::Record& record;
    void operator()(const log::Device& d);
    void operator()(const log::Port& p);
    void operator()(const log::Frame& f);
    void operator()(const log::Qp& q);
    void operator()(const log::Post& p);
    void operator()(const log::Cqe& c);
    void operator()(const log::Event& e);
    void operator()(const log::Counter& c);
    void operator()(const log::Note& n);
    void operator()(const log::End& e);
    /// Records that no picture shows.
    template <class T>
    void operator()(const T&) {}
  };
  class Weaver;

  void item(const log::Record& record, What what, std::size_t index, bool comes = false) {
    items.push_back({record.time, index, record.device | uint32_t{comes} << 31, what});
  }

  std::map<uint32_t, wire::WireConfig> wire;
  std::vector<Item> items;
  std::vector<Raw> raw;  // of each packet
  std::vector<std::pair<uint32_t, log::Qp>> qps;
  std::vector<std::pair<uint32_t, log::Cqe>> cqes;
  std::unordered_map<uint64_t, std::vector<uint32_t>> open;  // identity -> sent ones
  std::map<std::string, Used> used;
};

}  // namespace mrc::picture
