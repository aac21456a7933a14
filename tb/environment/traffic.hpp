// SPDX-License-Identifier: Apache-2.0
/// Messages: who makes them, where their bytes go, and what must be true when they complete.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "tb/environment/scenario.hpp"
#include "util/rng.hpp"

namespace mrc::tb {

/// One WQE and what it must bring about. `id` counts the messages of one direction.
struct Message {
  uint32_t id = 0;
  uint32_t wr_id = 0;
  QpIndex qp = 0, peer_qp = 0;
  uint64_t laddr = 0, raddr = 0;
  uint64_t dest = 0;  ///< offset in the receiver's memory
  uint32_t length = 0, rkey = 0, imm = 0;
  uint32_t packets = 0;
  uint16_t msn = 0, rqmsn = 0;
  unsigned imms_before = 0;  ///< immediates of its QP that were not complete when it was posted
  bool imm_valid = false;
  bool must_fail = false;  ///< leaves its memory region: a NAK must come
};

/// What one side tells the other about messages; handed over between time windows.
struct Mail {
  std::vector<Message> posted;
  std::vector<uint32_t> completed;  ///< ids whose requestor has got its completion
  std::vector<uint32_t> refused;    ///< ids that were never sent: one immediate too many at the requestor
  std::vector<uint32_t> abandoned;  ///< ids that will never complete: their QP has failed
  std::vector<uint32_t> freed;      ///< ids of the other direction: verified, memory free again
  void clear() {
    posted.clear();
    completed.clear();
    refused.clear();
    abandoned.clear();
    freed.clear();
  }
};

/// A memory region of the receiver.
struct Region {
  uint32_t rkey = 0;
  uint64_t va = 0, length = 0;
  uint64_t dest = 0;  ///< offset in the receiver's memory
  bool gone = false;  ///< registered, and deregistered before traffic
};

/// What both sides of a direction know about one QP.
struct QpPlan {
  QpIndex peer = 0;  ///< QP index at the other side
  unsigned mtu = 0;  ///< 256 << mtu
  uint16_t msn = 0, rqmsn = 0;
  bool fails = false;        ///< one of its messages leaves its memory region
  bool may_fail = false;     ///< it may end in an error that is not its own: retries, the other direction
  unsigned max_wimm = 0;     ///< immediates that may be outstanding
  unsigned wimm_room = ~0u;  ///< immediates that the host lets be outstanding
  bool fifo = false;         ///< all its messages have 64 bytes
  bool zero_legal = true;    ///< CTRL.zero_length: a WRITE of no bytes is a message like any other
  bool wimm_waits = true;    ///< CTRL.wimm_over: an immediate beyond max_wimm waits
};

/// Bytes of the smallest and of the largest message. Those of collectives are a sixteenth where the window is that of a
/// preset for tests: there would be few of them otherwise.
struct MessageSizes {
  uint32_t min = 1, max = 1;
};
MessageSizes message_sizes(const Scenario& scenario, const Preset& preset);

/// True when a responder may have to refuse an immediate.
inline bool may_overrun(const Scenario& s) { return s.may_fail != 0 && s.max_wimm > s.max_wimm_dest; }

/// Bytes that WRITEs read: random, never changed.
class SourceMemory {
 public:
  SourceMemory(std::size_t size, uint64_t base, Rng rng);
  uint64_t base() const { return base_; }
  std::size_t size() const { return size_; }
  /// `length` bytes at a host address, or nullptr when they are not all in there. Readable 128 bytes beyond.
  const uint8_t* at(uint64_t address, std::size_t length) const {
    const uint64_t offset = address - base_;
    return offset < size_ && length <= size_ - offset ? bytes_.data() + offset : nullptr;
  }

 private:
  std::vector<uint8_t> bytes_;
  std::size_t size_;
  uint64_t base_;
};

/// How a sentence names a queue pair: by its index, as the reports of blocks do, or by the number that a NIC has for
/// it, as logs do.
class QpNames {
 public:
  QpNames() = default;
  /// Index 0 has the number `first`.
  explicit QpNames(uint32_t first) : first_(first) {}
  std::string operator()(unsigned index) const;

 private:
  std::optional<uint32_t> first_;
};

/// "0x83 (WimmOverrun)".
std::string status_text(unsigned status);
inline std::string status_text(CqStatus status) { return status_text(static_cast<unsigned>(status)); }

/// Makes WQEs and checks their completions: one direction, the sending side.
class Requester {
 public:
  Requester(const Preset& preset, const Scenario& scenario, const SourceMemory& source, const std::vector<QpPlan>& plan,
            const std::vector<Region>& regions, uint64_t packets, Rng rng);

  /// The WQE that is offered, or nullptr. Stays the same until taken().
  const Wqe* offer() {
    if (offered_) return &wqe_;
    return exhausted() ? nullptr : make();
  }
  void taken();

  /// A completion with recv = 0. Returns what is wrong with it, "" if nothing.
  std::string completion(const Cqe& cqe);
  /// The receiver has verified a message: its memory is free.
  void freed(uint32_t id);

  /// Completions of work requests say neither length nor MSN.
  void completions_are_short() { short_ = true; }
  void names(const QpNames& names) { names_ = names; }

  Mail& mail() { return mail_; }
  /// So many packets more.
  void more(uint64_t packets) { budget_ += packets; }
  /// No new messages.
  void stop() { budget_ = packets_made_; }
  bool dead(unsigned qp) const { return qp < qps_.size() && qps_[qp].dead; }
  /// Software resets QP `qp`, whatever it is doing, or a pin does: what is open there may complete, or never does.
  /// Other messages take its budget.
  void give_up(unsigned qp);
  /// The NIC was reset: the WQE that was offered is none any more.
  void withdraw() { offered_ = false; }
  bool offers(unsigned qp) const { return offered_ && wqe_.qp == qp; }
  /// QP `qp` is connected anew.
  void revive(unsigned qp, const QpPlan& plan);
  /// Every packet of the budget has been put into a WQE.
  bool exhausted() const { return packets_made_ >= budget_ && !local_state_due_; }
  /// No WQE without its completion, apart from those of failed QPs.
  bool quiet() const { return !offered_ && outstanding_ == 0 && refusals_.empty() && lost_.empty(); }

  uint64_t completed() const { return completed_; }
  uint64_t completed_packets() const { return completed_packets_; }
  uint64_t completed_bytes() const { return completed_bytes_; }
  uint64_t refused() const { return refused_; }
  uint64_t failed_qps() const { return failed_qps_; }
  uint64_t immediates() const { return immediates_; }
  /// Messages of no bytes that were posted; WRITEs with immediate that were posted while max_wimm of them were out.
  uint64_t no_bytes() const { return no_bytes_made_; }
  uint64_t held() const { return held_; }
  uint64_t made() const { return next_id_; }

  /// The QP with messages that did not complete: for hang reports.
  struct Stuck {
    QpIndex qp;
    std::size_t messages;
    Message oldest;
  };
  std::vector<Stuck> stuck() const;
  /// WRITEs that ended with the NAK of a WRITE of no bytes or of an immediate too many, of a WRITE beyond its memory
  /// region.
  uint64_t naks_invalid() const { return naks_invalid_; }
  uint64_t naks_access() const { return naks_access_; }

 private:
  struct Qp {
    QpPlan plan;
    std::deque<Message> out;
    uint32_t made = 0;
    bool failing = false;  // the message that must fail is posted
    bool dead = false;
    bool local_state = false;  // a WQE on the dead QP is due
    uint32_t since_signal = 0;
  };
  /// Ring allocator over one region.
  struct Pool {
    Region region;
    uint64_t head = 0, tail = 0;  // offsets, modulo length
    struct Block {
      uint32_t id;
      uint64_t end;
      bool free;
    };
    std::deque<Block> blocks;
  };
  const Wqe* make();
  const Wqe* refused_wqe(unsigned qp, uint32_t length, CqStatus status);
  Message next_message(unsigned qp);
  bool draws_no_bytes(const Qp& qp);
  bool allocate(Message& m, unsigned align);
  void leave_region(Message& m, const Qp& qp);
  void offer_message(const Message& m);
  void bury(Qp& qp, uint32_t done_wr_id);
  static bool may_refuse(const Qp& qp, const Message& m);
  std::string one_too_many(Qp& qp, uint32_t wr_id);
  uint32_t draw_length(const QpPlan& plan);

  const Preset& preset_;
  const Scenario& scenario_;
  const SourceMemory& source_;
  std::vector<Qp> qps_;
  std::vector<Pool> pools_;
  std::unordered_map<uint32_t, std::size_t> pool_of_;
  uint64_t budget_;
  Rng rng_, empty_rng_;
  MessageSizes sizes_;
  Mail mail_;

  std::size_t limit_;
  bool offered_ = false;
  Wqe wqe_;
  std::optional<Message> pending_;  // the message being offered, or waiting for memory
  uint64_t wait_ = 0;               // cycles until the next WQE
  std::size_t cursor_ = 0;
  bool blocked_ = false;  // no QP may post, or no memory: until a completion or freed()
  bool local_state_due_ = false;

  struct Due {
    unsigned qp;
    CqStatus status;
  };
  std::unordered_map<uint32_t, Due> refusals_;  // wr_id of WQEs that must be refused locally
  std::unordered_map<uint32_t, Due> lost_;      // wr_id of WQEs on dead QPs: flushed, or so, if refused when posted
  std::unordered_map<uint32_t, unsigned> given_up_;  // wr_id of WQEs on QPs that were reset, and the QP
  uint32_t next_id_ = 0, next_wr_ = 0, refusal_kind_ = 0;
  std::optional<Region> gone_;  ///< of the receiver
  uint64_t packets_made_ = 0, outstanding_ = 0;
  uint64_t completed_ = 0, completed_packets_ = 0, completed_bytes_ = 0, refused_ = 0, failed_qps_ = 0, immediates_ = 0;
  uint64_t naks_invalid_ = 0, naks_access_ = 0, no_bytes_made_ = 0, held_ = 0;
  QpNames names_;
  bool short_ = false;
  bool no_bytes_ = false;  // links take the payload out of WRITEs
  bool overruns_ = false;  // responders refuse immediates
};

/// Nanoseconds after which nothing of an abandoned message moves any more, its QP having failed: links are empty, a
/// full queue of the largest packets has left its lane, however long the host takes for each batch of lines it may ask
/// for, and what waits in the lane of the receiver has outlived a pause of its host each.
double drained_ns(const Scenario& scenario, const Preset& preset);

/// Takes the writes of the receiving NIC and checks every byte: one direction, the receiving side.
class Responder {
 public:
  Responder(const Preset& preset, const SourceMemory& source, std::size_t size, uint64_t base, uint64_t wr_salt);

  uint64_t base() const { return base_; }
  std::size_t size() const { return memory_.size(); }
  /// Of the queue pairs here, and of those of the sender.
  void names(const QpNames& here, const QpNames& there) {
    here_ = here;
    there_ = there;
  }

  /// A write of the NIC. Returns what is wrong with it, nullptr if nothing.
  const char* write(uint64_t address, unsigned length, const uint8_t* data) {
    const uint64_t offset = address - base_;
    if (offset >= memory_.size()) return "outside the memory that may be written";
    const uint32_t id = blocks_[offset / kBlock];
    if (id == 0) return "where no message goes";
    Received& r = messages_[id - 1];
    if (offset < r.m.dest || offset + length > r.m.dest + r.m.length) return "beyond its message";
    __builtin_memcpy(memory_.data() + offset, data, length);
    r.written += length;
    bytes_written_ += length;
    if (r.written == r.m.length) written_.push_back(id - 1);
    if (r.written > r.m.length && !r.abandoned) return "to bytes that were already written";
    return nullptr;
  }
  /// The QP here whose message owns that byte, -1: nobody's. Of messages that have failed, too.
  int qp_at(uint64_t address) const {
    const uint64_t offset = address - base_;
    const uint32_t id = offset < memory_.size() ? blocks_[offset / kBlock] : 0;
    return id == 0 ? -1 : messages_[id - 1].m.peer_qp;
  }
  /// A completion with recv = 1. What a collective rests on: when the completion of an immediate is seen, all bytes of
  /// the messages before it on that QP are in host memory, and its own, if it has any.
  std::string completion(const Cqe& cqe);
  /// The QP here is connected anew: what was due on it is forgotten.
  void forget(unsigned qp);
  /// The NIC has lost what it knew of the QP here (EccError). No immediate is due on it any more, though its sender may
  /// have a completion.
  void broken(unsigned qp);
  /// Receive completions with an error are right if the scenario provokes them.
  void expect_overruns(unsigned max_wimm_dest) { overrun_from_ = max_wimm_dest; }
  /// Requestors may refuse immediates: their messages never come.
  void expect_refusals() { requestors_refuse_ = true; }
  uint64_t overruns() const { return overruns_; }

  /// News from the requestor.
  void posted(const Message& m);
  void completed(uint32_t id);
  void refused(uint32_t id);
  void abandoned(uint32_t id);
  /// The NIC that writes here was reset by its pin. What it had taken and not yet written or reported never comes, nor
  /// is it due: its sender may have a completion of it, or get one.
  void cut_off();
  /// Verifies what is complete on both sides, and takes memory of abandoned messages back when nothing of them can be
  /// on its way any more (`now`, `quiet`: any unit of time). Returns what is wrong, "" if nothing.
  std::string verify(uint64_t now = 0, uint64_t quiet = ~uint64_t{0});
  /// At the end: all messages verified, all other bytes untouched.
  std::string finish() const;

  Mail& mail() { return mail_; }
  bool quiet() const { return open_ == 0; }
  uint64_t bytes_written() const { return bytes_written_; }
  uint64_t verified() const { return verified_; }
  uint64_t verified_bytes() const { return verified_bytes_; }
  uint64_t deliveries() const { return deliveries_; }
  /// Bytes of a message that have arrived.
  uint64_t written(uint32_t id) const { return id < messages_.size() ? messages_[id].written : 0; }

 private:
  static constexpr unsigned kBlock = 64;
  static constexpr uint8_t kFill = 0xDB;
  struct Received {
    Message m;
    uint64_t written = 0;
    bool sender_done = false, delivered = false, abandoned = false, verified = false;
    bool cut_off = false;      ///< its NIC was reset before it was verified
    bool passed_over = false;  // a later immediate was delivered: its requestor must have refused it
  };
  std::string check_bytes(const Received& r) const;
  bool lacks(const Received& r) const;
  std::string try_verify(uint32_t id);
  void own_blocks(const Message& m, uint32_t id);
  void take_back(Received& r);

  QpNames here_, there_;
  const SourceMemory& source_;
  std::vector<uint8_t> memory_;
  std::vector<uint32_t> blocks_;  // id + 1 of the message that owns the block
  uint64_t base_;
  std::deque<Received> messages_;
  std::vector<std::deque<uint32_t>> order_;  // per QP here: ids not yet known complete, in MSN order
  std::vector<std::deque<uint32_t>> imms_;   // per QP here: ids of immediates to be delivered
  /// Per QP here: RQMSN of the next immediate. Those that requestors refuse have none, whatever their Message says.
  std::vector<std::optional<uint16_t>> next_rqmsn_;
  std::vector<uint32_t> written_, done_;  // ids to look at in verify()
  Mail mail_;
  std::deque<std::pair<uint64_t, uint32_t>> ghosts_;  // abandoned messages: since when
  std::vector<uint32_t> new_ghosts_;
  std::vector<bool> refuses_;  // per QP here: an immediate was one too many, the QP is in ERROR and delivers no more
  std::optional<unsigned> overrun_from_;  // immediates beyond the next one, from which on one is too many
  bool requestors_refuse_ = false;
  uint64_t overruns_ = 0;
  uint64_t open_ = 0, bytes_written_ = 0, verified_ = 0, verified_bytes_ = 0, deliveries_ = 0;
};

}  // namespace mrc::tb
