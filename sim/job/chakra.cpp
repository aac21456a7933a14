// SPDX-License-Identifier: Apache-2.0
#include "sim/job/chakra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "input/error.hpp"
#include "input/number.hpp"
#include "sim/job/chakra_groups.hpp"
#include "sim/job/stored.hpp"

namespace mrc::sim {
namespace chakra {
namespace {

constexpr uint64_t kMostMessage = 64u << 20;  // bytes of a node
constexpr uint64_t kMostBytes = 1'000'000'000'000'000, kMostMicros = 1'000'000'000'000;
constexpr uint32_t kMostRanks = 65536;
constexpr uint32_t kCollectiveTag = 1u << 31;  // tags of sends and receives are below
constexpr unsigned kTurnBits = 19;             // of a collective's tag: its place among those of its group
constexpr uint8_t kGpu = 0, kHost = 1, kJoin = 63;
constexpr const char* kRemedy = "docs/guide/training.md says what a Chakra trace may have.";

// Of Chakra's schema: NodeType, CollectiveCommType.
enum class NodeType : uint8_t {
  Invalid,
  Metadata,
  MemLoad,
  MemStore,
  Comp,
  Send,
  Recv,
  Coll,
  Storage,
  Batch,
  Checkpoint
};
enum class Comm : uint8_t {
  AllReduce,
  Reduce,
  AllGather,
  Gather,
  Scatter,
  Broadcast,
  AllToAll,
  ReduceScatter,
  ReduceScatterBlock,
  Barrier
};
constexpr const char* kComms[] = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

/// A field of a message of protobuf: its number, and a value or bytes.
struct Field {
  uint32_t number = 0;
  unsigned wire = 0;  // 0 varint, 1 eight bytes, 2 bytes, 5 four bytes
  uint64_t value = 0;
  std::string_view bytes{};
};

/// Fields of a message, one after the other. A message that ends within one sets `cut`.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}
  bool next(Field& f) {
    if (rest_.empty() || cut) return false;
    const uint64_t key = varint();
    f.number = static_cast<uint32_t>(key >> 3);
    f.wire = key & 7;
    if (f.wire == 0) {
      f.value = varint();
    } else if (f.wire == 2) {
      const uint64_t size = varint();
      if (size > rest_.size()) cut = true;
      f.bytes = take(size);
    } else if (f.wire == 1 || f.wire == 5) {
      const std::string_view raw = take(f.wire == 1 ? 8 : 4);
      f.value = 0;
      for (size_t i = 0; i < raw.size(); ++i) f.value |= uint64_t{static_cast<uint8_t>(raw[i])} << (8 * i);
    } else {
      cut = true;
    }
    return !cut && f.number != 0;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const std::string_view one = take(1);
      if (one.empty()) return 0;
      const auto byte = static_cast<uint8_t>(one[0]);
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    cut = true;
    return 0;
  }
  bool empty() const { return rest_.empty(); }
  bool cut = false;

 private:
  std::string_view take(uint64_t size) {
    if (size > rest_.size()) cut = true;
    const std::string_view front = rest_.substr(0, static_cast<size_t>(size));
    rest_.remove_prefix(front.size());
    return cut ? std::string_view{} : front;
  }
  std::string_view rest_;
};

/// What we read of a node.
struct Node {
  uint64_t id = 0, micros = 0;
  std::string name;
  uint64_t type = 0;
  std::vector<uint64_t> after;  // data_deps
  std::optional<int64_t> bytes, from, to, tag, comm;
  bool host = false, counted = false;  // counted: has num_ops
  std::string group;
  std::string_view values;  // of its inputs
};

class RankReader {
 public:
  RankReader(const std::string& path, uint32_t rank, uint32_t ranks, ProcessGroups& groups, StoredSchedule& schedule,
             const std::function<void()>& poll)
      : path_(path), rank_(rank), ranks_(ranks), groups_(groups), schedule_(schedule), poll_(poll) {
    groups_.begin_rank();
    all_.ranks.resize(ranks);
    std::iota(all_.ranks.begin(), all_.ranks.end(), 0u);
  }

  void read() {
    std::ifstream in(path_, std::ios::binary);
    if (!in) throw InputError(fmt::format("{}: cannot read the trace: {}.", path_, std::strerror(errno)), kRemedy);
    std::string message;
    for (uint64_t n = 0; next(in, message, n); ++n) {
      if (poll_ && n % 4096 == 0) poll_();
      n == 0 ? metadata(message) : node(message, n);
    }
    if (in.bad()) throw InputError(fmt::format("{}: reading ended: {}.", path_, std::strerror(errno)), "Try again.");
    resolve();
  }

 private:
  struct Dependency {
    uint32_t op;  // the first of the node that waits
    uint64_t on, by;
  };

  [[noreturn]] void refuse(const std::string& what, const std::string& remedy = kRemedy) const {
    throw InputError(fmt::format("{}: {}.", path_, what), remedy);
  }
  [[noreturn]] void refuse(const Node& n, const std::string& what, const std::string& remedy = kRemedy) const {
    refuse(fmt::format("node {}{} {}", n.id, n.name.empty() ? "" : " (" + input::shown(n.name) + ")", what), remedy);
  }

  /// A message behind its length. False: that were all.
  bool next(std::istream& in, std::string& message, uint64_t n) const {
    uint64_t size = 0;
    for (unsigned shift = 0;; shift += 7) {
      const int byte = in.get();
      if (byte == std::char_traits<char>::eof()) {
        if (shift == 0) return false;
        refuse(fmt::format("it ends within the length of message {}", n));
      }
      size |= uint64_t{static_cast<unsigned>(byte) & 0x7fu} << shift;
      if (byte < 0x80) break;
      if (shift > 28) refuse(fmt::format("message {} has no length that can be", n));
    }
    if (size > kMostMessage) refuse(fmt::format("message {} has {} bytes, more than {}", n, size, kMostMessage));
    message.resize(static_cast<size_t>(size));
    in.read(message.data(), static_cast<std::streamsize>(size));
    if (static_cast<uint64_t>(in.gcount()) != size) {
      refuse(fmt::format("it ends within message {}, behind {} of {} bytes", n, in.gcount(), size));
    }
    return true;
  }

  void metadata(const std::string& message) const {
    Fields fields(message);
    for (Field f; fields.next(f);) {
      if (f.wire != 2 || f.number > 2) refuse("it does not begin with Chakra's metadata");
    }
    if (fields.cut || !fields.empty()) refuse("it does not begin with Chakra's metadata");
  }

  void node(const std::string& message, uint64_t n) {
    Node node;
    Fields fields(message);
    for (Field f; fields.next(f);) {
      if (f.number == 1 && f.wire == 0) node.id = f.value;
      if (f.number == 2 && f.wire == 2) node.name = f.bytes;
      if (f.number == 3 && f.wire == 0) node.type = f.value;
      if (f.number == 4 || f.number == 5) {
        // As Chakra's feeder: the order is in data_deps. ctrl_deps say which call a node was made from; in traces of
        // PyTorch calls are left out, come later, or are the node itself.
        const auto take = [&](uint64_t id) { f.number == 5 ? node.after.push_back(id) : void(++schedule_.calls); };
        if (f.wire == 0) take(f.value);
        Fields packed(f.bytes);
        while (f.wire == 2 && !packed.empty()) {
          take(packed.varint());
          if (packed.cut) refuse(node, "has dependencies that end within one");
        }
      }
      if (f.number == 7 && f.wire == 0) node.micros = f.value;
      if (f.number == 8 && f.wire == 2) inputs(node, f.bytes);
      if (f.number == 10 && f.wire == 2) attribute(node, f.bytes);
    }
    if (fields.cut || !fields.empty()) refuse(fmt::format("message {} is no node", n));
    add(node);
  }

  void inputs(Node& node, std::string_view message) const {
    Fields fields(message);
    for (Field f; fields.next(f);) {
      if (f.number == 1 && f.wire == 2) node.values = f.bytes;
    }
    if (fields.cut) refuse(node, "has inputs that end within a field");
  }

  void attribute(Node& node, std::string_view message) const {
    Fields fields(message);
    std::string_view name, text;
    std::optional<int64_t> number;
    for (Field f; fields.next(f);) {
      if (f.number == 1 && f.wire == 2) name = f.bytes;
      if (f.number == 29 && f.wire == 2) text = f.bytes;
      if (f.wire == 2 || f.number < 7 || f.number > 27) continue;
      const bool zigzag = f.number == 15 || f.number == 17, four = f.number == 23;
      number = zigzag ? static_cast<int64_t>(f.value >> 1) ^ -static_cast<int64_t>(f.value & 1)
               : four ? static_cast<int32_t>(f.value)
                      : static_cast<int64_t>(f.value);
    }
    if (fields.cut) refuse(node, "has an attribute that ends within a field");
    if (name == "comm_size") node.bytes = number;
    if (name == "comm_src") node.from = number;
    if (name == "comm_dst") node.to = number;
    if (name == "comm_tag") node.tag = number;
    if (name == "comm_type") node.comm = number;
    if (name == "is_cpu_op") node.host = number.value_or(0) != 0;
    if (name == "num_ops") node.counted = number.value_or(0) != 0;
    if (name == "pg_name") node.group = text;
  }

  uint32_t op(Op::Kind kind, uint64_t amount, uint32_t peer = 0, uint32_t tag = 0, uint8_t cpu = kGpu) {
    if (ops_.size() >= kMostStoredOps) refuse(fmt::format("more than {} operations", kMostStoredOps), "Cut the trace.");
    ops_.push_back({kind, cpu, peer, tag, line_, amount});
    return static_cast<uint32_t>(ops_.size() - 1);
  }
  void need(uint32_t op, uint32_t before) { needs_.push_back({op, before, line_, false}); }

  uint32_t peer(const Node& n, const std::optional<int64_t>& rank, const char* name) const {
    if (!rank) refuse(n, fmt::format("has no {}", name));
    if (*rank < 0 || *rank >= ranks_) {
      refuse(n, fmt::format("has {} = {}, but ranks are 0 to {}", name, *rank, ranks_ - 1),
             "Each rank has a file beside the first.");
    }
    if (static_cast<uint32_t>(*rank) == rank_) refuse(n, fmt::format("has {} = {}, its own rank", name, *rank));
    return static_cast<uint32_t>(*rank);
  }
  uint64_t bytes(const Node& n) const {
    if (!n.bytes) refuse(n, "has no comm_size");
    if (*n.bytes < 0 || static_cast<uint64_t>(*n.bytes) > kMostBytes) {
      refuse(n, fmt::format("has comm_size = {}", *n.bytes), fmt::format("From 0 to {}.", kMostBytes));
    }
    return std::max<uint64_t>(1, static_cast<uint64_t>(*n.bytes));
  }

  void add(const Node& n) {
    line_ = static_cast<uint32_t>(n.id);
    auto type = static_cast<NodeType>(std::min<uint64_t>(n.type, 255));
    // The call of PyTorch that launches a collective or a message; the kernel on the GPU is a node of its own.
    const bool launch = n.host && (type == NodeType::Coll || type == NodeType::Send || type == NodeType::Recv);
    if (launch) type = NodeType::Comp;
    if (n.micros > kMostMicros) refuse(n, fmt::format("has duration_micros = {}", n.micros), "Give a shorter one.");
    if (type == NodeType::Metadata) {
      const std::string wrong = groups_.read_node(n.values);
      if (!wrong.empty()) refuse(n, wrong, "PyTorch's process groups: docs/guide/training.md.");
    }
    uint32_t first = 0, last = 0;
    switch (type) {
      case NodeType::Comp:
        if (n.micros == 0 && n.counted) {
          refuse(n, "has num_ops and no duration_micros", "Convert it with the runtimes of a machine.");
        }
        [[fallthrough]];
      case NodeType::Metadata:
      case NodeType::MemLoad:
      case NodeType::MemStore:
      case NodeType::Storage:
      case NodeType::Batch:
      case NodeType::Checkpoint:
        first = last = op(Op::Kind::Calc, n.micros * kUs, 0, 0, type != NodeType::Comp || n.host ? kHost : kGpu);
        break;
      case NodeType::Send:
      case NodeType::Recv: {
        const bool send = type == NodeType::Send;
        if (n.tag && (*n.tag < 0 || *n.tag >= kCollectiveTag)) refuse(n, fmt::format("has comm_tag = {}", *n.tag));
        const uint32_t other = send ? peer(n, n.to, "comm_dst") : peer(n, n.from, "comm_src");
        first = last =
            op(send ? Op::Kind::Send : Op::Kind::Recv, bytes(n), other, static_cast<uint32_t>(n.tag.value_or(0)));
        break;
      }
      case NodeType::Coll:
        first = op(Op::Kind::Calc, 0, 0, 0, kJoin);
        last = collective(n, first);
        break;
      default:
        refuse(n, fmt::format("has type {}, which is none of Chakra's", n.type));
    }
    if (!nodes_.emplace(n.id, last).second) refuse(n, "is there twice");
    for (const uint64_t on : n.after) depends_.push_back({first, on, n.id});
  }

  const ProcessGroup& group(const Node& n) const {
    if (n.group.empty()) return all_;
    const ProcessGroup* found = groups_.find(n.group);
    const std::string whose = "is of process group " + input::shown(n.group);
    if (found == nullptr) {
      refuse(n, whose + ", which nobody above has named",
             "Write groups = \"groups.json\" in [[job]]: docs/guide/training.md.");
    }
    if (std::ranges::find(found->ranks, rank_) == found->ranks.end()) {
      refuse(n, fmt::format("{}, which has no rank {}", whose, rank_), "Correct the group's ranks.");
    }
    return *found;
  }

  /// Its operations, behind `first`; gives the one that ends it.
  uint32_t collective(const Node& n, uint32_t first) {
    const ProcessGroup& g = group(n);
    if (!n.comm || *n.comm < 0 || *n.comm >= static_cast<int64_t>(std::size(kComms))) {
      refuse(n, n.comm ? fmt::format("has comm_type = {}", *n.comm) : std::string("has no comm_type"));
    }
    const auto comm = static_cast<Comm>(*n.comm);
    const uint32_t turn = collectives_[g.number]++ % (1u << kTurnBits);
    const uint32_t tag = kCollectiveTag | g.number << kTurnBits | turn;
    const auto count = static_cast<uint32_t>(g.ranks.size());
    if (count == 1) return first;
    const auto place = static_cast<uint32_t>(std::ranges::find(g.ranks, rank_) - g.ranks.begin());
    const auto other = [&](uint32_t ahead) { return g.ranks[(place + ahead) % count]; };
    const uint32_t to = other(1), from = other(count - 1);
    const uint64_t share = comm == Comm::Barrier ? 1 : (bytes(n) + count - 1) / count;
    switch (comm) {
      case Comm::AllReduce:
      case Comm::Barrier:
        return ring(first, 2 * (count - 1), share, from, to, tag);
      case Comm::AllGather:
      case Comm::ReduceScatter:
      case Comm::ReduceScatterBlock:
        return ring(first, count - 1, share, from, to, tag);
      case Comm::Broadcast:
        return chain(first, count, share, place == 0 ? nullptr : &from, place + 1 == count ? nullptr : &to, tag);
      case Comm::Reduce:
        return chain(first, count, share, place + 1 == count ? nullptr : &to, place == 0 ? nullptr : &from, tag);
      case Comm::AllToAll: {
        std::vector<uint32_t> received;
        for (uint32_t k = 1; k < count; ++k) {
          need(op(Op::Kind::Send, share, other(k), tag), first);
          received.push_back(op(Op::Kind::Recv, share, other(count - k), tag));
          need(received.back(), first);
        }
        const uint32_t end = op(Op::Kind::Calc, 0, 0, 0, kJoin);
        for (const uint32_t r : received) need(end, r);
        return end;
      }
      default:
        refuse(n, fmt::format("is a {}", kComms[*n.comm]),
               "Write it as sends and receives; ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, BROADCAST, REDUCE "
               "and BARRIER are known.");
    }
  }
  uint32_t ring(uint32_t first, uint32_t steps, uint64_t share, uint32_t from, uint32_t to, uint32_t tag) {
    uint32_t before = first;
    for (uint32_t s = 0; s < steps; ++s) {
      need(op(Op::Kind::Send, share, to, tag), before);
      const uint32_t receive = op(Op::Kind::Recv, share, from, tag);
      need(receive, before);
      before = receive;
    }
    return before;
  }
  /// Pieces go from rank to rank, one after the other. Null: nobody is there.
  uint32_t chain(uint32_t first, uint32_t pieces, uint64_t share, const uint32_t* from, const uint32_t* to,
                 uint32_t tag) {
    uint32_t before = first;
    for (uint32_t p = 0; p < pieces; ++p) {
      if (from != nullptr) {
        const uint32_t receive = op(Op::Kind::Recv, share, *from, tag);
        need(receive, before);
        before = receive;
      }
      if (to != nullptr) need(op(Op::Kind::Send, share, *to, tag), before);
    }
    return before;
  }

  void resolve() {
    for (const Dependency& d : depends_) {
      const auto found = nodes_.find(d.on);
      if (found == nodes_.end()) refuse(fmt::format("node {} waits for node {}, which is not there", d.by, d.on));
      line_ = static_cast<uint32_t>(d.by);
      need(d.op, found->second);
    }
    if (const auto stuck = schedule_.add(rank_, ops_, needs_)) {
      refuse(fmt::format("node {} waits for itself, by others", *stuck), "Remove one of the dependencies.");
    }
  }

  const std::string& path_;
  uint32_t rank_, ranks_;
  ProcessGroups& groups_;
  ProcessGroup all_;
  StoredSchedule& schedule_;
  const std::function<void()>& poll_;
  uint32_t line_ = 0;
  std::unordered_map<uint32_t, uint32_t> collectives_;  // of each group so far
  std::vector<StoredOp> ops_;
  std::vector<StoredNeed> needs_;
  std::vector<Dependency> depends_;
  std::unordered_map<uint64_t, uint32_t> nodes_;  // by id: the operation that ends it
};

constexpr std::string_view kEnding = ".0.et";

std::string path_of(const std::string& first, uint32_t rank) {
  return fmt::format("{}.{}.et", first.substr(0, first.size() - kEnding.size()), rank);
}

}  // namespace
}  // namespace chakra

bool is_chakra(const std::string& path) { return path.ends_with(".et"); }

std::unique_ptr<Schedule> read_chakra(const std::string& path, const std::function<void()>& poll,
                                      const std::string& groups_file) {
  if (!path.ends_with(chakra::kEnding)) {
    throw InputError(path + ": not the file of rank 0.",
                     "Name the one that ends with .0.et; the others stand beside it.");
  }
  std::error_code ignored;
  uint32_t ranks = 1;
  while (ranks < chakra::kMostRanks && std::filesystem::exists(chakra::path_of(path, ranks), ignored)) ++ranks;
  auto schedule = std::make_unique<StoredSchedule>();
  schedule->set_ranks(ranks);
  ProcessGroups groups(ranks);
  if (!groups_file.empty()) groups.read_file(groups_file);
  for (uint32_t r = 0; r < ranks; ++r) {
    const std::string own = chakra::path_of(path, r);
    chakra::RankReader(own, r, ranks, groups, *schedule, poll).read();
  }
  schedule->written();
  return schedule;
}

}  // namespace mrc::sim
