// SPDX-License-Identifier: Apache-2.0
/// GOAL's binary form: numbers without padding, the least byte first.
///
///     8 bytes 4223; then, from byte 8 on, from which all positions count:
///     4 ranks, 1 highest cpu, 1 highest nic; for each rank 8 begin, 8 end of its block
///     a block: 4 nodes, 4 of them that wait for nothing, for each of these 4 its number; the nodes; the appendix
///     a node: 4 how many it waits for, 1 type, 4 peer, 8 ns or bytes, 4 tag, 1 cpu, 1 nic,
///             4 how many wait until it is done, 4 where they begin in the appendix, 4, 4 the same of its begin
///     the appendix: 4 for each of those who wait, its number
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "input/error.hpp"
#include "sim/job/goal.hpp"
#include "sim/job/stored.hpp"

namespace mrc::sim {
namespace goal_binary {
namespace {

constexpr uint64_t kMagic = 4223, kUsedUp = 2342;
constexpr uint64_t kBase = 8, kNode = 39, kNumber = 4;
constexpr uint32_t kAny = 0xffffffff;
constexpr uint64_t kMostBytes = uint64_t{1} << 60;
constexpr uint64_t kMostNeeds = 4 * kMostStoredOps;
enum : uint8_t { kSend = 1, kRecv = 2, kCalc = 3 };
constexpr const char* kRemedy = "LogGOPSim's txt2bin writes it; docs/guide/training.md says what it may have.";

/// Numbers one after the other.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : rest_(bytes) {}
  uint64_t take(size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= uint64_t{rest_[i]} << (8 * i);
    rest_ = rest_.subspan(size);
    return value;
  }
  uint32_t take32() { return static_cast<uint32_t>(take(4)); }

 private:
  std::span<const uint8_t> rest_;
};

class Reader {
 public:
  Reader(std::istream& in, const std::string& file, const std::function<void()>& poll)
      : in_(in), file_(file), poll_(poll) {}

  std::unique_ptr<Schedule> read() {
    const uint64_t magic = number(8, "its first eight bytes");
    if (magic == kUsedUp) {
      refuse(0, "it has been used up by a run of LogGOPSim with --save-mem", "Make it once more with txt2bin.");
    }
    if (magic != kMagic) refuse(0, fmt::format("it begins with {}, not with {}", magic, kMagic));
    const uint64_t ranks = number(4, "the number of ranks");
    if (ranks == 0 || ranks > kMostGoalRanks) {
      refuse(kBase, fmt::format("{} ranks", ranks), fmt::format("From 1 to {}.", kMostGoalRanks));
    }
    (void)number(2, "the highest cpu and nic");
    std::vector<std::pair<uint64_t, uint64_t>> blocks;
    for (uint64_t r = 0; r < ranks; ++r) {
      const uint64_t where = at_;
      const uint64_t begin = number(8, "the table of ranks"), end = number(8, "the table of ranks");
      if (end < begin || end > kMostBytes) refuse(where, fmt::format("rank {} is from {} to {}", r, begin, end));
      blocks.emplace_back(begin, end);
    }
    schedule_->set_ranks(static_cast<uint32_t>(ranks));
    for (rank_ = 0; rank_ < ranks; ++rank_) block(blocks[rank_].first, blocks[rank_].second);
    schedule_->written();
    return std::move(schedule_);
  }

 private:
  struct Waiting {
    uint32_t count, first;
  };

  [[noreturn]] void refuse(uint64_t byte, const std::string& what, const std::string& remedy = kRemedy) const {
    throw InputError(fmt::format("{}: byte {}: {}.", file_, byte, what), remedy);
  }
  [[noreturn]] void refuse_node(uint64_t node, const std::string& what, const std::string& remedy = kRemedy) const {
    refuse(nodes_at_ + kNode * node, fmt::format("rank {}, node {}: {}", rank_, node, what), remedy);
  }

  std::span<const uint8_t> bytes(size_t size, const char* what) {
    in_.read(reinterpret_cast<char*>(buffer_.data()), static_cast<std::streamsize>(size));
    if (in_.bad()) throw InputError(fmt::format("{}: reading ended: {}.", file_, std::strerror(errno)), "Try again.");
    if (static_cast<size_t>(in_.gcount()) != size) {
      refuse(at_ + static_cast<uint64_t>(in_.gcount()), fmt::format("it ends within {}", what));
    }
    at_ += size;
    return {buffer_.data(), size};
  }
  uint64_t number(size_t size, const char* what) { return Bytes(bytes(size, what)).take(size); }
  void poll_now_and_then(uint64_t n) const {
    if (poll_ && n % (1u << 16) == 0) poll_();
  }

  void block(uint64_t begin, uint64_t end) {
    begin += kBase;
    end += kBase;
    if (begin != at_) {
      in_.clear();
      in_.seekg(static_cast<std::streamoff>(begin));
      at_ = begin;
    }
    const std::string whose = fmt::format("the block of rank {}", rank_);
    const uint64_t nodes = number(4, whose.c_str()), roots = number(4, whose.c_str());
    nodes_at_ = begin + 2 * kNumber + roots * kNumber;
    const uint64_t needs_at = nodes_at_ + nodes * kNode;
    if (needs_at > end || (end - needs_at) % kNumber != 0 || roots > nodes) {
      refuse(begin,
             fmt::format("rank {} has {} nodes, {} of them first, in {} bytes", rank_, nodes, roots, end - begin));
    }
    const uint64_t needs = (end - needs_at) / kNumber;
    if (nodes > kMostStoredOps || needs > kMostNeeds) {
      refuse(begin, fmt::format("rank {} has {} nodes and {} waits", rank_, nodes, needs),
             fmt::format("The most are {} and {}.", kMostStoredOps, kMostNeeds));
    }
    std::vector<uint32_t> first;
    for (uint64_t i = 0; i < roots; ++i) first.push_back(static_cast<uint32_t>(number(kNumber, whose.c_str())));
    for (uint64_t n = 0; n < nodes; ++n) node(n);
    for (uint64_t i = 0; i < roots; ++i) {
      if (first[i] < nodes && waits_[first[i]] == 0) continue;
      refuse(begin + (2 + i) * kNumber,
             fmt::format("rank {}: node {} is not one that waits for nothing", rank_, first[i]));
    }
    const auto idle = std::ranges::count(waits_, 0u);
    if (static_cast<uint64_t>(idle) != roots) {
      refuse(begin, fmt::format("rank {} names {} nodes that wait for nothing, and has {}", rank_, roots, idle));
    }
    std::vector<uint32_t> appendix;
    for (uint64_t i = 0; i < needs; ++i) {
      poll_now_and_then(i);
      appendix.push_back(static_cast<uint32_t>(number(kNumber, whose.c_str())));
    }
    for (uint64_t n = 0; n < nodes; ++n) {
      wait(n, done_[n], appendix, needs_at, false);
      wait(n, begun_[n], appendix, needs_at, true);
    }
    for (uint64_t n = 0; n < nodes; ++n) {
      if (waits_[n] != 0) refuse_node(n, "it waits for more, or less, than name it");
    }
    if (const auto stuck = schedule_->add(rank_, ops_, needs_)) {
      refuse_node(*stuck, "it waits for itself, by others", "Remove one of the requires.");
    }
    ops_.clear();
    needs_.clear();
    waits_.clear();
    done_.clear();
    begun_.clear();
  }

  void node(uint64_t n) {
    poll_now_and_then(n);
    Bytes b(bytes(kNode, "a node"));
    waits_.push_back(b.take32());
    const uint64_t type = b.take(1);
    StoredOp op{};
    op.peer = b.take32();
    op.amount = b.take(8);
    op.tag = b.take32();
    op.cpu = static_cast<uint8_t>(b.take(1));
    op.line = static_cast<uint32_t>(n);
    (void)b.take(1);  // each rank has one nic
    if (op.amount > kMostGoalAmount) {
      refuse_node(n, fmt::format("{} is too large", op.amount), fmt::format("The most is {}.", kMostGoalAmount));
    }
    if (op.cpu > kMostGoalCpu) refuse_node(n, fmt::format("cpu {}", op.cpu), fmt::format("0 to {}.", kMostGoalCpu));
    if (type == kCalc) {
      op.kind = Op::Kind::Calc;
      op.amount *= 1000;
      op.peer = op.tag = 0;
    } else if (type == kSend || type == kRecv) {
      op.kind = type == kSend ? Op::Kind::Send : Op::Kind::Recv;
      op.amount = std::max<uint64_t>(1, op.amount);
      if (op.peer == kAny) refuse_node(n, "a receive from any rank", "Traces with MPI_ANY_SOURCE cannot be used.");
      if (op.tag == kAny) refuse_node(n, "any tag", "Traces with MPI_ANY_TAG cannot be used.");
      if (op.peer >= schedule_->ranks()) refuse_node(n, fmt::format("there is no rank {}", op.peer));
      if (op.peer == rank_) refuse_node(n, "it sends to itself, or receives from itself", "Write a calc instead.");
    } else {
      refuse_node(n, fmt::format("type {} is none of GOAL's", type));
    }
    ops_.push_back(op);
    for (std::vector<Waiting>* list : {&done_, &begun_}) {
      const uint32_t count = b.take32();
      list->push_back({count, b.take32()});
    }
  }

  void wait(uint64_t n, Waiting who, std::span<const uint32_t> appendix, uint64_t appendix_at, bool begin) {
    if (who.count == 0) return;  // then `first` says nothing
    if (uint64_t{who.first} + who.count > appendix.size()) {
      refuse_node(n, fmt::format("{} that wait for it, from {} on, of {} in the appendix", who.count, who.first,
                                 appendix.size()));
    }
    for (uint64_t i = who.first; i < uint64_t{who.first} + who.count; ++i) {
      const uint32_t op = appendix[i];
      if (op >= ops_.size()) {
        refuse(appendix_at + i * kNumber,
               fmt::format("rank {}: node {} waits for node {}, and is not there", rank_, op, n));
      }
      --waits_[op];
      if (needs_.size() == kMostNeeds) refuse_node(n, "more waits than the appendix has");
      needs_.push_back({op, static_cast<uint32_t>(n), op, begin});
    }
  }

  std::istream& in_;
  const std::string& file_;
  const std::function<void()>& poll_;
  std::unique_ptr<StoredSchedule> schedule_ = std::make_unique<StoredSchedule>();
  std::array<uint8_t, kNode> buffer_{};
  uint64_t at_ = 0, nodes_at_ = 0;
  uint32_t rank_ = 0;
  // Of the rank that is being read.
  std::vector<StoredOp> ops_;
  std::vector<StoredNeed> needs_;
  std::vector<uint32_t> waits_;  // what it says, without those that were found
  std::vector<Waiting> done_, begun_;
};

void put(std::string& out, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

uint8_t cpu_of(const Op& op) { return op.kind == Op::Kind::Mark ? kGoalMarkCpu : op.cpu; }

/// What a rank's block has.
struct Size {
  uint64_t nodes = 0, roots = 0, needs = 0;
  uint8_t cpu = 0;  // the highest
  uint64_t bytes() const { return (2 + roots + needs) * kNumber + nodes * kNode; }
};

Size size_of(const Schedule& schedule, uint32_t rank) {
  Size size;
  const auto stream = schedule.open(rank);
  for (Op op; stream->next(op); ++size.nodes) {
    const size_t needs = op.after.size() + op.after_begin.size();
    size.needs += needs;
    size.roots += needs == 0 ? 1 : 0;
    size.cpu = std::max(size.cpu, cpu_of(op));
  }
  return size;
}

std::string block_of(const Schedule& schedule, uint32_t rank, const Size& size) {
  std::vector<std::vector<uint32_t>> done(size.nodes), begun(size.nodes);
  std::string roots;
  uint32_t n = 0;
  auto stream = schedule.open(rank);
  for (Op op; stream->next(op); ++n) {
    for (const uint64_t before : op.after) done[before].push_back(n);
    for (const uint64_t before : op.after_begin) begun[before].push_back(n);
    if (op.after.empty() && op.after_begin.empty()) put(roots, n, 4);
  }
  std::string out, appendix;
  put(out, size.nodes, 4);
  put(out, size.roots, 4);
  out += roots;
  n = 0;
  stream = schedule.open(rank);
  for (Op op; stream->next(op); ++n) {
    const bool message = op.kind == Op::Kind::Send || op.kind == Op::Kind::Recv;
    put(out, op.after.size() + op.after_begin.size(), 4);
    put(out, op.kind == Op::Kind::Send ? kSend : op.kind == Op::Kind::Recv ? kRecv : kCalc, 1);
    put(out, message ? op.peer : 0, 4);
    put(out, message ? op.amount : op.kind == Op::Kind::Calc ? op.amount / kNs : 0, 8);
    put(out, message ? op.tag : 0, 4);
    put(out, cpu_of(op), 1);
    put(out, 0, 1);
    for (const auto& list : {done[n], begun[n]}) {
      put(out, list.size(), 4);
      put(out, appendix.size() / kNumber, 4);
      for (const uint32_t waiting : list) put(appendix, waiting, 4);
    }
  }
  return out + appendix;
}

}  // namespace
}  // namespace goal_binary

bool is_goal_binary(std::istream& in) {
  std::array<char, 8> first{};
  const auto at = in.tellg();
  in.read(first.data(), first.size());
  const bool whole = in.gcount() == static_cast<std::streamsize>(first.size());
  in.clear();
  in.seekg(at);
  uint64_t magic = 0;
  for (size_t i = 0; i < first.size(); ++i) magic |= uint64_t{static_cast<uint8_t>(first[i])} << (8 * i);
  return whole && (magic == goal_binary::kMagic || magic == goal_binary::kUsedUp);
}

std::unique_ptr<Schedule> read_goal_binary(std::istream& in, const std::string& file,
                                           const std::function<void()>& poll) {
  return goal_binary::Reader(in, file, poll).read();
}

void write_goal_binary(const Schedule& schedule, std::ostream& out) {
  using namespace goal_binary;
  std::vector<Size> sizes;
  uint8_t cpu = 0;
  for (uint32_t r = 0; r < schedule.ranks(); ++r) {
    sizes.push_back(size_of(schedule, r));
    cpu = std::max(cpu, sizes.back().cpu);
  }
  std::string head;
  put(head, kMagic, 8);
  put(head, schedule.ranks(), 4);
  put(head, cpu, 1);
  put(head, 0, 1);
  uint64_t at = 6 + 16 * uint64_t{schedule.ranks()};
  for (const Size& size : sizes) {
    put(head, at, 8);
    put(head, at += size.bytes(), 8);
  }
  out << head;
  for (uint32_t r = 0; r < schedule.ranks(); ++r) out << block_of(schedule, r, sizes[r]);
}

}  // namespace mrc::sim
