// SPDX-License-Identifier: Apache-2.0
#include "sim/job/stored.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <queue>
#include <string>
#include <string_view>
#include <utility>

#include "input/error.hpp"

namespace mrc::sim {
namespace {

constexpr size_t kBuffer = 16384;

/// Numbers of 7 bits a byte, the low ones first.
void put(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

}  // namespace

/// What has been read, on a disk.
class StoredSchedule::Store {
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

namespace {

/// A rank's operations out of the store.
class StoredStream final : public Stream {
 public:
  StoredStream(const StoredSchedule::Store& store, uint64_t begin, uint64_t end)
      : store_(store), at_(begin), end_(end) {}

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

  const StoredSchedule::Store& store_;
  uint64_t at_, end_, number_ = 0;
  std::array<char, kBuffer> buffer_;
  size_t read_ = 0, have_ = 0;
};

void encode(std::string& out, const StoredOp& op, uint32_t number,
            std::pair<const StoredNeed*, const StoredNeed*> needs, const std::vector<uint32_t>& place) {
  put(out, static_cast<uint64_t>(op.kind) | uint64_t{op.cpu} << 2);
  put(out, op.line);
  put(out, op.amount);
  if (op.kind != Op::Kind::Calc) {
    put(out, op.peer);
    put(out, op.tag);
  }
  for (const bool begin : {false, true}) {
    const auto of_kind = [begin](const StoredNeed& n) { return n.begin == begin; };
    put(out, static_cast<uint64_t>(std::count_if(needs.first, needs.second, of_kind)));
    for (const StoredNeed* n = needs.first; n != needs.second; ++n) {
      if (of_kind(*n)) put(out, number - place[n->before]);
    }
  }
}

}  // namespace

StoredSchedule::StoredSchedule() : store_(std::make_unique<Store>()) {}
StoredSchedule::~StoredSchedule() = default;

void StoredSchedule::peers(uint32_t rank, std::vector<uint32_t>& to) const {
  to.insert(to.end(), list_[rank].peers.begin(), list_[rank].peers.end());
}

std::unique_ptr<Stream> StoredSchedule::open_at(uint32_t rank, uint32_t) const {
  return std::make_unique<StoredStream>(*store_, list_[rank].begin, list_[rank].end);
}

void StoredSchedule::written() { store_->written(); }

std::optional<uint32_t> StoredSchedule::add(uint32_t number_of, const std::vector<StoredOp>& ops,
                                            std::vector<StoredNeed>& needs) {
  const auto count = static_cast<uint32_t>(ops.size());
  std::stable_sort(needs.begin(), needs.end(), [](const StoredNeed& a, const StoredNeed& b) { return a.op < b.op; });
  std::vector<uint32_t> waits(count), first(count + 1u), place(count);
  for (const StoredNeed& n : needs) {
    ++waits[n.op];
    ++first[n.before + 1u];
  }
  for (uint32_t i = 0; i < count; ++i) first[i + 1] += first[i];
  std::vector<uint32_t> next(needs.size()), used(first.begin(), first.end());
  for (const StoredNeed& n : needs) next[used[n.before]++] = n.op;
  std::vector<uint32_t> needs_of(count + 1u);
  for (const StoredNeed& n : needs) ++needs_of[n.op + 1u];
  for (uint32_t i = 0; i < count; ++i) needs_of[i + 1] += needs_of[i];

  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < count; ++i) {
    if (waits[i] == 0) ready.push(i);
  }
  Rank& rank = list_[number_of];
  rank.begin = store_->size();
  std::string out;
  uint32_t number = 0;
  for (; !ready.empty(); ++number) {
    const uint32_t i = ready.top();
    ready.pop();
    place[i] = number;
    encode(out, ops[i], number, std::pair{needs.data() + needs_of[i], needs.data() + needs_of[i + 1]}, place);
    if (out.size() > (1u << 20)) {
      store_->append(out);
      out.clear();
    }
    for (uint32_t k = first[i]; k < first[i + 1]; ++k) {
      if (--waits[next[k]] == 0) ready.push(next[k]);
    }
  }
  if (number != count) {
    const auto stuck = std::find_if(needs.begin(), needs.end(), [&](const StoredNeed& n) { return waits[n.op] > 0; });
    return stuck->line;
  }
  store_->append(out);
  rank.end = store_->size();
  for (const StoredOp& op : ops) {
    if (op.kind == Op::Kind::Send) rank.peers.push_back(op.peer);
  }
  std::sort(rank.peers.begin(), rank.peers.end());
  rank.peers.erase(std::unique(rank.peers.begin(), rank.peers.end()), rank.peers.end());
  return {};
}

}  // namespace mrc::sim
