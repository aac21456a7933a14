// SPDX-License-Identifier: Apache-2.0
#include "sim/job/goal.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "input/error.hpp"

namespace mrc::sim {
namespace {

constexpr uint32_t kMostRanks = 1u << 20;
constexpr uint64_t kMostOps = 20'000'000, kMostAmount = 1'000'000'000'000'000;  // of a rank; ns or bytes
constexpr size_t kBuffer = 16384;
constexpr std::streamsize kLine = 65536;
constexpr unsigned kMostCpu = 63, kMarkCpu = 63;  // steps end on a cpu where nothing else is computed

/// Numbers of 7 bits a byte, the low ones first.
void put(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

/// What has been read, on a disk.
class Store {
 public:
  Store() {
    std::error_code none;
    std::string name = (std::filesystem::temp_directory_path(none) / "mrc-trace-XXXXXX").string();
    const int fd = ::mkstemp(name.data());
    if (fd < 0) fail();
    ::unlink(name.c_str());  // it goes when it is closed
    file_ = ::fdopen(fd, "w+");
    if (file_ == nullptr) fail();
  }
  ~Store() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  void append(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
    size_ += bytes.size();
  }
  void written() {
    if (std::fflush(file_) != 0) fail();
  }
  uint64_t size() const { return size_; }
  /// Fewer than asked for: that were all.
  size_t read(uint64_t at, char* to, size_t count) const {
    size_t got = 0;
    while (got < count) {
      const ssize_t n = ::pread(fileno(file_), to + got, count - got, static_cast<off_t>(at + got));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      got += static_cast<size_t>(n);
    }
    return got;
  }

 private:
  [[noreturn]] static void fail() {
    throw InputError(
        fmt::format("no room for a trace as it is used, in the folder for temporary files: {}.", std::strerror(errno)),
        "Make room there: a third of the trace's size is enough.");
  }
  std::FILE* file_ = nullptr;
  uint64_t size_ = 0;
};

/// A rank's operations out of the store.
class StoredStream final : public Stream {
 public:
  StoredStream(const Store& store, uint64_t begin, uint64_t end) : store_(store), at_(begin), end_(end) {}

  bool next(Op& op) override {
    if (at_ == end_ && read_ == have_) return false;
    const uint64_t first = get();
    op.set(static_cast<Op::Kind>(first & 3), 0);
    op.cpu = static_cast<uint8_t>(first >> 2);
    op.line = static_cast<uint32_t>(get());
    op.amount = get();
    if (op.kind != Op::Kind::Calc) {
      op.peer = static_cast<uint32_t>(get());
      op.tag = static_cast<uint32_t>(get());
    }
    for (std::vector<uint64_t>* list : {&op.after, &op.after_begin}) {
      for (uint64_t n = get(); n > 0; --n) list->push_back(number_ - get());
    }
    ++number_;
    return true;
  }

 private:
  uint64_t get() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (read_ == have_) {
        have_ = store_.read(at_, buffer_.data(), static_cast<size_t>(std::min<uint64_t>(buffer_.size(), end_ - at_)));
        read_ = 0;
        at_ += have_;
        if (have_ == 0) return value;
      }
      const auto byte = static_cast<unsigned char>(buffer_[read_++]);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }

  const Store& store_;
  uint64_t at_, end_, number_ = 0;
  std::array<char, kBuffer> buffer_;
  size_t read_ = 0, have_ = 0;
};

class GoalSchedule final : public Schedule {
 public:
  struct Rank {
    uint64_t begin = 0, end = 0;  // in the store
    bool there = false;
    std::vector<uint32_t> peers;
  };
  uint32_t ranks() const override { return static_cast<uint32_t>(list.size()); }
  uint32_t steps() const override { return 0; }
  void peers(uint32_t rank, std::vector<uint32_t>& to) const override {
    to.insert(to.end(), list[rank].peers.begin(), list[rank].peers.end());
  }
  std::unique_ptr<Stream> open(uint32_t rank) const override {
    return std::make_unique<StoredStream>(store, list[rank].begin, list[rank].end);
  }

  Store store;
  std::vector<Rank> list;
};

class Reader {
 public:
  Reader(std::istream& in, const std::string& file, const std::function<void()>& poll)
      : in_(in), file_(file), poll_(poll) {}

  std::unique_ptr<Schedule> read() {
    constexpr uint32_t kPoll = 1u << 16;
    std::vector<char> buffer(kLine);
    while (in_.getline(buffer.data(), kLine) || in_.gcount() > 0) {
      ++line_;
      if (in_.fail() && !in_.eof()) {
        refuse(fmt::format("a line of {} bytes or more", kLine - 1), "Write an operation in each line.");
      }
      text_ = {buffer.data(), static_cast<size_t>(in_.gcount()) - (in_.eof() ? 0u : 1u)};
      if (poll_ && line_ % kPoll == 0) poll_();
      split();
      if (!words_.empty()) statement();
    }
    if (in_.bad()) throw InputError(fmt::format("{}: reading ended: {}.", file_, std::strerror(errno)), "Try again.");
    if (comment_) refuse("a comment that has no end", "Write */ behind it.");
    if (inside_) refuse(fmt::format("rank {} has no }}", rank_), "Write } behind its operations.");
    if (!counted_) refuse("no num_ranks", "Begin with num_ranks and their number.");
    schedule_->store.written();
    return std::move(schedule_);
  }

 private:
  struct Given {
    Op::Kind kind;
    uint8_t cpu;
    uint32_t peer, tag, line;
    uint64_t amount;
  };
  struct Need {
    uint32_t op, before, line;
    bool begin;
  };

  [[noreturn]] void refuse(const std::string& what, const std::string& remedy, uint32_t line = 0) const {
    throw InputError(fmt::format("{}:{}: {}.", file_, line != 0 ? line : line_, what), remedy);
  }
  [[noreturn]] void expected(std::string_view what) const {
    const std::string got =
        at_ < words_.size() ? fmt::format("\"{:.40}\"", words_[at_]) : std::string("the line's end");
    refuse(fmt::format("{} where {} was expected", got, what), "docs/training.md says what a GOAL trace looks like.");
  }

  /// Words of the line, without comments.
  void split() {
    words_.clear();
    at_ = 0;
    const std::string_view t = text_;
    size_t i = 0;
    const auto starts = [&](std::string_view what) { return t.substr(i, what.size()) == what; };
    while (i < t.size()) {
      if (comment_) {
        const size_t end = t.find("*/", i);
        if (end == std::string_view::npos) return;
        comment_ = false;
        i = end + 2;
      } else if (starts("//")) {
        return;
      } else if (starts("/*")) {
        comment_ = true;
        i += 2;
      } else if (t[i] == ' ' || t[i] == '\t' || t[i] == '\r') {
        ++i;
      } else if (t[i] == ':' || t[i] == '{' || t[i] == '}') {
        words_.push_back(t.substr(i++, 1));
      } else {
        size_t end = t.find_first_of(" \t\r:{}", i);
        end = std::min({end, t.find("//", i), t.find("/*", i), t.size()});
        words_.push_back(t.substr(i, end - i));
        i = end;
      }
    }
  }
  bool has(std::string_view word) {
    if (at_ == words_.size() || words_[at_] != word) return false;
    ++at_;
    return true;
  }
  void need(std::string_view word) {
    if (!has(word)) expected(fmt::format("\"{}\"", word));
  }
  /// A number of the next word, which may end with `unit`.
  uint64_t number(std::string_view what, uint64_t most, std::string_view unit = {}) {
    if (at_ == words_.size()) expected(what);
    std::string_view word = words_[at_];
    if (!unit.empty() && word.ends_with(unit)) word.remove_suffix(unit.size());
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::result_out_of_range || (error == std::errc() && value > most)) {
      refuse(fmt::format("{:.40} is too large for {}", words_[at_], what), fmt::format("The most is {}.", most));
    }
    if (error != std::errc() || end != word.data() + word.size()) expected(what);
    ++at_;
    return value;
  }
  void end_of_line() {
    if (at_ < words_.size()) expected("the line's end");
  }

  void statement() {
    if (!inside_) {
      outer();
    } else if (has("}")) {
      end_of_line();
      finish();
    } else {
      inner();
    }
  }

  void outer() {
    if (has("num_ranks")) {
      if (counted_) refuse("num_ranks a second time", "Write it once.");
      const uint64_t ranks = number("the number of ranks", kMostRanks);
      if (ranks == 0) refuse("num_ranks is 0", "Give at least 1.");
      schedule_->list.resize(ranks);
      counted_ = true;
      end_of_line();
      return;
    }
    if (!has("rank")) expected(counted_ ? "\"rank\"" : "\"num_ranks\"");
    if (!counted_) refuse("a rank before num_ranks", "Begin with num_ranks and their number.");
    rank_ = existing_rank();
    if (schedule_->list[rank_].there) refuse(fmt::format("rank {} a second time", rank_), "Write it once.");
    schedule_->list[rank_].there = true;
    need("{");
    end_of_line();
    inside_ = true;
  }
  uint32_t existing_rank() {
    const uint64_t rank = number("a rank", ~uint32_t{0});
    if (rank >= schedule_->list.size()) {
      refuse(fmt::format("there is no rank {}", rank),
             fmt::format("num_ranks is {}: ranks are 0 to {}.", schedule_->list.size(), schedule_->list.size() - 1));
    }
    return static_cast<uint32_t>(rank);
  }

  void inner() {
    const std::string_view first = words_[0];
    if (first == "calc" || first == "send" || first == "recv") return operation({});
    if (words_.size() > 1 && words_[1] == ":") {
      at_ = 2;
      return operation(first);
    }
    at_ = 1;
    const bool begin = has("irequires");
    if (!begin && !has("requires")) expected("\":\", \"requires\" or \"irequires\"");
    if (at_ == words_.size()) expected("a label");
    const uint32_t op = labelled(first), before = labelled(words_[at_]);
    if (op == before) refuse(fmt::format("{} requires itself", first), "Remove the line.");
    ++at_;
    end_of_line();
    needs_.push_back({op, before, line_, begin});
  }
  uint32_t labelled(std::string_view label) const {
    const auto found = labels_.find(std::string(label));
    if (found == labels_.end()) {
      refuse(fmt::format("rank {} has no operation {:.40} above this line", rank_, label),
             "Name the label of one of its operations.");
    }
    return found->second;
  }

  void operation(std::string_view label) {
    Given op{};
    op.line = line_;
    if (has("calc")) {
      op.kind = Op::Kind::Calc;
      op.amount = 1000 * number("a time in ns", kMostAmount);
    } else if (has("send") || has("recv")) {
      const bool send = words_[at_ - 1] == "send";
      op.kind = send ? Op::Kind::Send : Op::Kind::Recv;
      // A message of no bytes is one of one byte.
      op.amount = std::max<uint64_t>(1, number("a number of bytes", kMostAmount, "b"));
      (void)has("b");
      need(send ? "to" : "from");
      if (at_ < words_.size() && words_[at_] == "-1") {
        refuse("a receive from any rank", "Traces with MPI_ANY_SOURCE cannot be used: name the rank.");
      }
      op.peer = existing_rank();
      if (op.peer == rank_) {
        refuse(fmt::format("rank {} {} itself", rank_, send ? "sends to" : "receives from"), "Write a calc instead.");
      }
    } else {
      expected("\"calc\", \"send\" or \"recv\"");
    }
    while (at_ < words_.size()) {
      if (op.kind != Op::Kind::Calc && has("tag")) {
        if (at_ < words_.size() && words_[at_] == "-1") {
          refuse("any tag", "Traces with MPI_ANY_TAG cannot be used: write the tag.");
        }
        op.tag = static_cast<uint32_t>(number("a tag", kNoTag - 1));
      } else if (has("cpu")) {
        op.cpu = static_cast<uint8_t>(number("a cpu", kMostCpu));
      } else if (op.kind != Op::Kind::Calc && has("nic")) {
        (void)number("a nic", 255);  // each rank has one
      } else {
        expected(op.kind == Op::Kind::Calc ? "\"cpu\" or the line's end"
                                           : "\"tag\", \"cpu\", \"nic\" or the line's end");
      }
    }
    if (ops_.size() == kMostOps) {
      refuse(fmt::format("more than {} operations of rank {}", kMostOps, rank_), "Cut the trace.");
    }
    if (!label.empty() && !labels_.emplace(label, static_cast<uint32_t>(ops_.size())).second) {
      refuse(fmt::format("label {:.40} a second time in rank {}", label, rank_), "Give another one.");
    }
    ops_.push_back(op);
  }

  /// A rank is complete: its operations in an order in which none waits for a later one, the file's where possible.
  void finish() {
    const auto count = static_cast<uint32_t>(ops_.size());
    std::stable_sort(needs_.begin(), needs_.end(), [](const Need& a, const Need& b) { return a.op < b.op; });
    std::vector<uint32_t> waits(count), first(count + 1u), place(count);
    for (const Need& n : needs_) {
      ++waits[n.op];
      ++first[n.before + 1u];
    }
    for (uint32_t i = 0; i < count; ++i) first[i + 1] += first[i];
    std::vector<uint32_t> next(needs_.size()), used(first.begin(), first.end());
    for (const Need& n : needs_) next[used[n.before]++] = n.op;
    std::vector<uint32_t> needs_of(count + 1u);
    for (const Need& n : needs_) ++needs_of[n.op + 1u];
    for (uint32_t i = 0; i < count; ++i) needs_of[i + 1] += needs_of[i];

    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
    for (uint32_t i = 0; i < count; ++i) {
      if (waits[i] == 0) ready.push(i);
    }
    GoalSchedule::Rank& rank = schedule_->list[rank_];
    rank.begin = schedule_->store.size();
    std::string out;
    uint32_t number = 0;
    for (; !ready.empty(); ++number) {
      const uint32_t i = ready.top();
      ready.pop();
      place[i] = number;
      encode(out, ops_[i], number, std::pair{needs_.data() + needs_of[i], needs_.data() + needs_of[i + 1]}, place);
      if (out.size() > (1u << 20)) {
        schedule_->store.append(out);
        out.clear();
      }
      for (uint32_t k = first[i]; k < first[i + 1]; ++k) {
        if (--waits[next[k]] == 0) ready.push(next[k]);
      }
    }
    if (number != count) {
      const auto stuck = std::find_if(needs_.begin(), needs_.end(), [&](const Need& n) { return waits[n.op] > 0; });
      refuse(fmt::format("an operation of rank {} that waits for itself, by others", rank_),
             "Remove one of the requires.", stuck->line);
    }
    schedule_->store.append(out);
    rank.end = schedule_->store.size();
    for (const Given& op : ops_) {
      if (op.kind == Op::Kind::Send) rank.peers.push_back(op.peer);
    }
    std::sort(rank.peers.begin(), rank.peers.end());
    rank.peers.erase(std::unique(rank.peers.begin(), rank.peers.end()), rank.peers.end());
    ops_.clear();
    needs_.clear();
    labels_.clear();
    inside_ = false;
  }

  static void encode(std::string& out, const Given& op, uint32_t number, std::pair<const Need*, const Need*> needs,
                     const std::vector<uint32_t>& place) {
    put(out, static_cast<uint64_t>(op.kind) | uint64_t{op.cpu} << 2);
    put(out, op.line);
    put(out, op.amount);
    if (op.kind != Op::Kind::Calc) {
      put(out, op.peer);
      put(out, op.tag);
    }
    for (const bool begin : {false, true}) {
      const auto of_kind = [begin](const Need& n) { return n.begin == begin; };
      put(out, static_cast<uint64_t>(std::count_if(needs.first, needs.second, of_kind)));
      for (const Need* n = needs.first; n != needs.second; ++n) {
        if (of_kind(*n)) put(out, number - place[n->before]);
      }
    }
  }

  std::istream& in_;
  const std::string& file_;
  const std::function<void()>& poll_;
  std::unique_ptr<GoalSchedule> schedule_ = std::make_unique<GoalSchedule>();
  std::string_view text_;
  std::vector<std::string_view> words_;
  size_t at_ = 0;
  uint32_t line_ = 0, rank_ = 0;
  bool comment_ = false, counted_ = false, inside_ = false;
  // Of the rank that is being read.
  std::vector<Given> ops_;
  std::vector<Need> needs_;
  std::unordered_map<std::string, uint32_t> labels_;
};

}  // namespace

std::unique_ptr<Schedule> read_goal(std::istream& in, const std::string& file, const std::function<void()>& poll) {
  return Reader(in, file, poll).read();
}

void write_goal(const Schedule& schedule, std::ostream& out) {
  fmt::print(out, "num_ranks {}\n", schedule.ranks());
  for (uint32_t r = 0; r < schedule.ranks(); ++r) {
    fmt::print(out, "\nrank {} {{\n", r);
    const auto stream = schedule.open(r);
    uint64_t number = 0;
    for (Op op; stream->next(op); ++number) {
      switch (op.kind) {
        case Op::Kind::Send:
          fmt::print(out, "l{}: send {}b to {} tag {}\n", number, op.amount, op.peer, op.tag);
          break;
        case Op::Kind::Recv:
          fmt::print(out, "l{}: recv {}b from {} tag {}\n", number, op.amount, op.peer, op.tag);
          break;
        case Op::Kind::Calc:
          fmt::print(out, "l{}: calc {} cpu {}\n", number, op.amount / kNs, op.cpu);
          break;
        default:
          fmt::print(out, "l{}: calc 0 cpu {}\n", number, kMarkCpu);
      }
      for (const uint64_t before : op.after) fmt::print(out, "l{} requires l{}\n", number, before);
      for (const uint64_t before : op.after_begin) fmt::print(out, "l{} irequires l{}\n", number, before);
    }
    fmt::print(out, "}}\n");
  }
}

}  // namespace mrc::sim
