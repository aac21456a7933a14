// SPDX-License-Identifier: Apache-2.0
#include "sim/job/goal.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "input/error.hpp"
#include "sim/job/stored.hpp"

namespace mrc::sim {
namespace {

constexpr std::streamsize kLine = 65536;

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
    schedule_->written();
    return std::move(schedule_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& remedy, uint32_t line = 0) const {
    throw InputError(fmt::format("{}:{}: {}.", file_, line != 0 ? line : line_, what), remedy);
  }
  [[noreturn]] void expected(std::string_view what) const {
    const std::string got =
        at_ < words_.size() ? fmt::format("\"{:.40}\"", words_[at_]) : std::string("the line's end");
    refuse(fmt::format("{} where {} was expected", got, what),
           "docs/guide/training.md says what a GOAL trace looks like.");
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
      const uint64_t ranks = number("the number of ranks", kMostGoalRanks);
      if (ranks == 0) refuse("num_ranks is 0", "Give at least 1.");
      schedule_->set_ranks(static_cast<uint32_t>(ranks));
      there_.resize(ranks);
      counted_ = true;
      end_of_line();
      return;
    }
    if (!has("rank")) expected(counted_ ? "\"rank\"" : "\"num_ranks\"");
    if (!counted_) refuse("a rank before num_ranks", "Begin with num_ranks and their number.");
    rank_ = existing_rank();
    if (there_[rank_]) refuse(fmt::format("rank {} a second time", rank_), "Write it once.");
    there_[rank_] = true;
    need("{");
    end_of_line();
    inside_ = true;
  }
  uint32_t existing_rank() {
    const uint64_t rank = number("a rank", ~uint32_t{0});
    if (rank >= schedule_->ranks()) {
      refuse(fmt::format("there is no rank {}", rank),
             fmt::format("num_ranks is {}: ranks are 0 to {}.", schedule_->ranks(), schedule_->ranks() - 1));
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
    StoredOp op{};
    op.line = line_;
    if (has("calc")) {
      op.kind = Op::Kind::Calc;
      op.amount = 1000 * number("a time in ns", kMostGoalAmount);
    } else if (has("send") || has("recv")) {
      const bool send = words_[at_ - 1] == "send";
      op.kind = send ? Op::Kind::Send : Op::Kind::Recv;
      // A message of no bytes is one of one byte.
      op.amount = std::max<uint64_t>(1, number("a number of bytes", kMostGoalAmount, "b"));
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
        op.cpu = static_cast<uint8_t>(number("a cpu", kMostGoalCpu));
      } else if (op.kind != Op::Kind::Calc && has("nic")) {
        (void)number("a nic", 255);  // each rank has one
      } else {
        expected(op.kind == Op::Kind::Calc ? "\"cpu\" or the line's end"
                                           : "\"tag\", \"cpu\", \"nic\" or the line's end");
      }
    }
    if (ops_.size() == kMostStoredOps) {
      refuse(fmt::format("more than {} operations of rank {}", kMostStoredOps, rank_), "Cut the trace.");
    }
    if (!label.empty() && !labels_.emplace(label, static_cast<uint32_t>(ops_.size())).second) {
      refuse(fmt::format("label {:.40} a second time in rank {}", label, rank_), "Give another one.");
    }
    ops_.push_back(op);
  }

  void finish() {
    if (const auto stuck = schedule_->add(rank_, ops_, needs_)) {
      refuse(fmt::format("an operation of rank {} that waits for itself, by others", rank_),
             "Remove one of the requires.", *stuck);
    }
    ops_.clear();
    needs_.clear();
    labels_.clear();
    inside_ = false;
  }

  std::istream& in_;
  const std::string& file_;
  const std::function<void()>& poll_;
  std::unique_ptr<StoredSchedule> schedule_ = std::make_unique<StoredSchedule>();
  std::string_view text_;
  std::vector<std::string_view> words_;
  size_t at_ = 0;
  uint32_t line_ = 0, rank_ = 0;
  std::vector<bool> there_;
  bool comment_ = false, counted_ = false, inside_ = false;
  // Of the rank that is being read.
  std::vector<StoredOp> ops_;
  std::vector<StoredNeed> needs_;
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
          fmt::print(out, "l{}: calc 0 cpu {}\n", number, kGoalMarkCpu);
      }
      for (const uint64_t before : op.after) fmt::print(out, "l{} requires l{}\n", number, before);
      for (const uint64_t before : op.after_begin) fmt::print(out, "l{} irequires l{}\n", number, before);
    }
    fmt::print(out, "}}\n");
  }
}

}  // namespace mrc::sim
