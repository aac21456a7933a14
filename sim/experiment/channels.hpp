// SPDX-License-Identifier: Apache-2.0
/// The QPs of all that is sent: opens them, posts, knows whose each message is at both ends.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "gen/protocol.hpp"
#include "sim/experiment/scenario.hpp"

namespace mrc::sim {

/// What the sender said of each message of a QP, by MSN. The sender's side puts labels in, the receiver's takes them
/// out: they may be two threads.
class MessageLog {
 public:
  MessageLog() = default;
  MessageLog(MessageLog&& other) noexcept;
  MessageLog& operator=(MessageLog&&) = delete;
  ~MessageLog();

  // The sender's side.
  void put(uint32_t label);
  /// The newest one was none.
  void unput() { put_.store(put_.load(std::memory_order_relaxed) - 1, std::memory_order_release); }

  /// Forgets all; neither side may be at it.
  void clear();

  // The receiver's side.
  /// Null: no such message, or it has been given up.
  const uint32_t* find(uint32_t msn) const;
  /// One message more is delivered: those before it are given up from time to time.
  void took();
  /// So many have been.
  uint32_t taken() const { return taken_; }

 private:
  static constexpr uint32_t kBlock = 14;
  struct Block {
    std::array<uint32_t, kBlock> label;
    Block* next = nullptr;
  };
  std::atomic<uint32_t> put_ = 0;
  uint32_t room_ = 0;  // up to this number in `newest_`
  Block *newest_ = nullptr, *oldest_ = nullptr;
  uint32_t first_ = 0, taken_ = 0;  // number of the first in `oldest_`
};

/// How often failed QPs are looked for in the time until they are set up anew.
inline constexpr unsigned kLooks = 64;

/// A QP between two NICs, used in one direction.
struct Channel {
  NodeId from = 0, to = 0;
  uint32_t from_qpn = 0, to_qpn = 0;
  uint32_t outstanding = 0, limit = 0;
  int8_t qp_class = -1;
  uint8_t user = 0;
  bool failed = false;
  bool reopens = false;    ///< a failed one is set up anew by reopen(): its user hears nothing of that
  uint32_t completed = 0;  ///< messages, since it was set up
  uint32_t skips = 0;      ///< messages that come once more: their receiver has had them
  struct Message {
    uint32_t id;     ///< for the sender's side
    uint32_t label;  ///< for the receiver's
    uint32_t bytes;
    bool immediate = false;
  };
  std::vector<Message> again;  ///< failed, to be posted once more
  std::vector<Message> queue;  ///< not posted yet, from `head` on
  size_t head = 0;
  MessageLog posted;
};

class Channels final : public Listener {
 public:
  /// Who has channels. Called inside the simulation: the first at the sender's node, the others at the receiver's and
  /// the one named.
  class User {
   public:
    virtual ~User() = default;
    virtual void completed(uint32_t channel, uint32_t id, bool ok) = 0;
    virtual void delivered(uint32_t channel, uint32_t label, uint64_t bytes) = 0;
    /// The time given to Fabric::due_at() has come.
    virtual void due(NodeId) {}
  };
  /// User 0 are flows, user 1 jobs: `id` of a work request is the message's, with the user above it.
  static constexpr unsigned kUsers = 2;
  static constexpr unsigned kUserShift = 32;

  Channels(Fabric& fabric, const Topology& topology, const Scenario& scenario, uint64_t seed);

  // Before the run.

  void use(unsigned user, User& by) { users_[user] = &by; }
  /// There shall be so many QPs at least.
  void want(NodeId from, NodeId to, int8_t qp_class, uint16_t qps, unsigned user = 0);
  /// Opens all of them. `poll` is called now and then; what it throws ends this. Throws InputError: an endpoint cannot
  /// have a QP.
  void open(const std::function<void()>& poll = {});

  // From then on.

  const std::vector<Channel>& all() const { return channels_; }
  const Channel& at(uint32_t channel) const { return channels_[channel]; }
  /// The first QP of these, which others follow. They must be there.
  uint32_t first(NodeId from, NodeId to, int8_t qp_class, unsigned user = 0) const {
    return first_channel_.at(key(from, to, qp_class, user));
  }
  /// The first QP from one NIC to another, flows' before jobs'; null: there is none.
  const Channel* find(NodeId from, NodeId to) const;
  /// QPs that end at a NIC or begin there.
  const std::vector<uint32_t>& of(NodeId node) const { return by_qpn_[node]; }
  void entropy_of(const Channel& channel, std::vector<uint32_t>& active, std::vector<uint32_t>& backup) const;
  /// limit: WRITEs that the QP has posted at once; 0: all. The message is posted by pump().
  void add(uint32_t channel, const Channel::Message& message, uint32_t limit = 0);
  void pump(uint32_t channel);
  /// Sets its QP up anew at both ends; messages are forgotten. From a hook. False: its endpoints cannot.
  bool reset(uint32_t channel);
  /// Sets a QP that has failed up anew; what was not known to have arrived is posted again. From a hook.
  void reopen(uint32_t channel);
  /// QPs with Channel::reopens that have failed, each as often as it has; reopen() was called for so many.
  uint32_t failures() const { return failures_.load(std::memory_order_relaxed); }
  uint32_t reopened() const { return reopened_; }

  void completed(const Completion& completion) override;
  void delivered(const Delivery& delivery) override;
  void due(NodeId node) override;

 private:
  /// Of the QPs of that class from one NIC to another.
  static uint64_t key(NodeId from, NodeId to, int8_t qp_class, unsigned user) {
    return uint64_t{user} << 63 | uint64_t{static_cast<uint8_t>(qp_class + 1)} << 56 | uint64_t{from} << 28 | to;
  }
  uint32_t channel_of(NodeId node, uint32_t qpn) const { return by_qpn_[node][qpn - kFirstQpn]; }

  static constexpr uint64_t kNodeMask = (1u << 28) - 1;
  static constexpr uint32_t kFirstQpn = kQpnBase;  ///< as the NIC numbers them
  Fabric& fabric_;
  const Topology& topology_;
  const Scenario& scenario_;
  uint64_t seed_;
  std::array<User*, kUsers> users_{};
  std::unordered_map<uint64_t, uint16_t> wanted_;  // the most QPs that anybody asks for
  std::vector<uint64_t> order_;
  std::vector<Channel> channels_;
  std::unordered_map<uint64_t, uint32_t> first_channel_;  // of a pair; the others follow
  std::vector<std::vector<uint32_t>> by_qpn_;
  std::atomic<uint32_t> failures_ = 0;
  uint32_t reopened_ = 0;
};

}  // namespace mrc::sim
