// SPDX-License-Identifier: Apache-2.0
/// The driver's part of a queue pair: work requests before and while the NIC has them, and in which order and with what
/// words they end. It knows no NIC: a driver hands over and brings back.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "libmrc/host/program.hpp"
#include "log/record.hpp"
#include "tb/device/device.hpp"

namespace mrc::libmrc {

class QueuePair {
 public:
  QueuePair(Program& program, uint32_t qpn, const CreateQp& wanted);

  const uint32_t number, pd;
  const uint32_t max_send, max_recv;
  QpAttributes attributes{};      ///< as the program has set them, with its state
  tb::QpConfig config;            ///< as the NIC has it
  std::optional<U128> path;       ///< SRv6 template of its EV profile
  std::optional<U128> segment;    ///< and the segment behind it, which must be the peer's address (A-63)
  std::vector<uint32_t> own_evs;  ///< what the NIC gave it
  /// Of each of its EVs, which one of its profile it is; none: nobody's, denied. Empty: it has the NIC's own.
  std::vector<std::optional<uint32_t>> entries;
  std::set<uint32_t> denied;   ///< EVs, at each step that makes all of them GOOD in the NIC
  unsigned denying = 0;        ///< of which the NIC has not said that it has them
  bool was_connected = false;  ///< it has been in RTR
  bool ending = false;         ///< it is being destroyed, and goes when it has rested

  /// Null once its program is gone.
  Program* program() const { return program_; }
  void abandon() {
    program_ = nullptr;
    later.clear();
  }

  // Work requests.

  bool send_full() const { return waiting_.size() + posted_.size() >= max_send; }
  bool recv_full() const { return receives_.size() >= max_recv; }
  void send(const PostSend& request) { waiting_.push_back(request); }
  void receive(uint64_t wr_id) { receives_.push_back(wr_id); }
  /// The one that the NIC gets next; null: none.
  const PostSend* next() const { return waiting_.empty() ? nullptr : &waiting_.front(); }
  /// The NIC has it.
  void taken();
  /// The NIC has work of it, or will get some.
  bool busy() const { return !posted_.empty() || (!waiting_.empty() && attributes.state == State::Rts); }
  bool at_nic() const { return !posted_.empty(); }
  /// Some request that is open reads from the region of that key.
  bool reads(uint32_t key) const;

  // How they end.

  /// The NIC is done with the oldest one that it has. Anything but success: the queue pair has failed.
  void completed(Status status);
  /// The oldest one that the NIC has cannot be read: where the NIC fails next, this is why.
  void cannot_read() { unreadable_ = true; }
  /// The one that waits first ends without having been at the NIC, which has nothing of it.
  void refused(Status status);
  /// An immediate has come. False: there is no buffer for it.
  bool received(uint32_t imm, uint32_t bytes);
  /// It is in ERROR: what the NIC does not have ends, too.
  void flush();
  /// It is in RESET: everything is forgotten.
  void clear();

  /// A work request that gathers is over.
  std::function<void(uint64_t source)> release;
  /// Something that is to be done when the NIC has carried out an order; at most one is under way.
  std::function<void(const tb::Done&)> then;
  /// What its program wants of it meanwhile.
  std::deque<std::function<void()>> later;

 private:
  void end(const PostSend& request, Status status);

  Program* program_;
  const bool send_all_;
  std::deque<PostSend> waiting_, posted_;
  std::deque<uint64_t> receives_;
  bool unreadable_ = false;
  uint32_t unseen_ = 0;  ///< over since the last completion that the program sees
};

}  // namespace mrc::libmrc
