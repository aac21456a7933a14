// SPDX-License-Identifier: Apache-2.0
#include "log/reader.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <istream>
#include <limits>
#include <new>

#include "log/format.hpp"
#include "wire/bytes.hpp"

namespace mrc::log {
namespace {

constexpr const char* kAgain = "Record it again, or get another copy; what stands before that byte can be read.";

uint64_t from_zigzag(uint64_t coded) { return coded >> 1 ^ (0 - (coded & 1)); }

/// Bytes of a block that may lie; `wrong` says what, and then nothing more is read.
class Decoder {
 public:
  Decoder(const uint8_t* at, const uint8_t* end) : at_(at), end_(end) {}

  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) return short_of();
      const uint8_t byte = *at_++;
      if (shift == 63 && byte > 1) return refuse("a number beyond 64 bits");
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return refuse("a number beyond 64 bits");
  }
  template <class... F>
  void operator()(F&... field) {
    (one(field), ...);
  }
  void near(Time& time) { time = time_ + from_zigzag(number()); }
  void bytes(std::vector<uint8_t>& data, std::size_t limit) {
    const std::size_t size = sized(limit);
    data.assign(at_, at_ + size);
    at_ += size;
  }
  bool more(bool) { return at_ != end_ && wrong == nullptr; }

  const uint8_t* at() const { return at_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  void near_to(Time time) { time_ = time; }
  const char* wrong = nullptr;

 private:
  template <class F>
  void one(F& field) {
    if constexpr (std::is_same_v<F, std::string>) {
      const std::size_t size = sized(kMaxText);
      field.assign(reinterpret_cast<const char*>(at_), size);
      at_ += size;
    } else if constexpr (std::is_same_v<F, std::vector<uint32_t>>) {
      list(field);
    } else if constexpr (std::is_same_v<F, Ip>) {
      if (left() < field.size()) {
        short_of();
        return;
      }
      std::memcpy(field.data(), at_, field.size());
      at_ += field.size();
    } else {
      const uint64_t value = number();
      constexpr uint64_t kMost = std::is_enum_v<F>         ? kLast<F>
                                 : std::is_same_v<F, bool> ? 1
                                                           : static_cast<uint64_t>(std::numeric_limits<F>::max());
      if (value > kMost) {
        refuse("a field beyond its range");
        return;
      }
      field = static_cast<F>(value);
    }
  }
  void list(std::vector<uint32_t>& values) {
    const uint64_t count = number();
    if (count > kMaxEvs) {
      refuse("a list that is too long");
      return;
    }
    if (count > left()) {
      short_of();
      return;
    }
    values.clear();
    for (uint64_t i = 0; i < count && wrong == nullptr; ++i) {
      uint32_t value = 0;
      one(value);
      values.push_back(value);
    }
  }
  std::size_t sized(std::size_t limit) {
    const uint64_t size = number();
    if (size > limit) {
      refuse("a field that is too long");
      return 0;
    }
    if (size > left()) {
      short_of();
      return 0;
    }
    return static_cast<std::size_t>(size);
  }
  uint64_t short_of() { return refuse("a record that ends inside a field"); }
  uint64_t refuse(const char* what) {
    if (wrong == nullptr) wrong = what;
    at_ = end_;
    return 0;
  }
  const uint8_t* at_;
  const uint8_t* end_;
  Time time_ = 0;
};

/// As new, but for the memory that it has.
template <class T>
void renew(T& body) {
  if constexpr (std::is_same_v<T, Frame>) {
    std::vector<uint8_t> bytes = std::move(body.bytes);
    body = T{};
    body.bytes = std::move(bytes);
    body.bytes.clear();
  } else if constexpr (std::is_same_v<T, Host>) {
    std::vector<uint8_t> data = std::move(body.data);
    body = T{};
    body.data = std::move(data);
    body.data.clear();
  } else {
    body = T{};
  }
}

template <std::size_t Kind = 0>
void emplace(Body& body, std::size_t kind) {
  if constexpr (Kind < kKinds) {
    if (kind == Kind) {
      body.emplace<Kind>();
    } else {
      emplace<Kind + 1>(body, kind);
    }
  }
}

/// `body` is of that kind.
template <std::size_t Kind = 0>
void decode(Decoder& decoder, std::size_t kind, Body& body) {
  if constexpr (Kind < kKinds) {
    if (kind != Kind) {
      decode<Kind + 1>(decoder, kind, body);
      return;
    }
    auto& of_kind = *std::get_if<Kind>(&body);
    renew(of_kind);
    fields(decoder, of_kind);
  }
}

}  // namespace

struct Reader::Zstd {
  Zstd() {
    if (context == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 20);
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
  ~Zstd() { ZSTD_freeDCtx(context); }
  ZSTD_DCtx* context = ZSTD_createDCtx();
};

Reader::Reader(std::istream& in, std::string name) : in_(in), name_(std::move(name)), zstd_(std::make_unique<Zstd>()) {}
Reader::~Reader() = default;

bool Reader::fail(uint64_t offset, std::string what, std::string remedy) {
  if (!error_) error_ = wire::Error{name_, offset, std::move(what), std::move(remedy)};
  over_ = true;
  return false;
}

bool Reader::damaged(uint64_t offset, std::string what) { return fail(offset, std::move(what), kAgain); }

/// The part is over without an end block.
void Reader::ended_early() {
  ++unfinished_;
  in_part_ = false;
}

/// So is the file.
bool Reader::cut() {
  ended_early();
  over_ = true;
  return false;
}

/// The body is of that kind from now on; the memory of what it was is kept for the next one.
void Reader::become(Body& body, std::size_t kind) {
  if (body.index() == kind) return;
  if (auto* const frame = std::get_if<Frame>(&body)) spare_frame_.swap(frame->bytes);
  if (auto* const host = std::get_if<Host>(&body)) spare_data_.swap(host->data);
  emplace(body, kind);
  if (auto* const frame = std::get_if<Frame>(&body)) frame->bytes.swap(spare_frame_);
  if (auto* const host = std::get_if<Host>(&body)) host->data.swap(spare_data_);
}

/// False: there are fewer, `got` says how many.
bool Reader::read(uint8_t* to, std::size_t bytes, std::size_t& got) {
  got = std::min(bytes, again_.size());
  std::copy_n(again_.begin(), got, to);
  again_.erase(again_.begin(), again_.begin() + static_cast<std::ptrdiff_t>(got));
  if (got == bytes) return true;
  in_.read(reinterpret_cast<char*>(to) + got, static_cast<std::streamsize>(bytes - got));
  got += static_cast<std::size_t>(in_.gcount());
  return got == bytes;
}

bool Reader::next(Record& record) {
  for (;;) {
    if (error_) return false;
    while (left_ == 0) {
      if (over_ || !(in_part_ ? block() : part_header())) return false;
    }
    Decoder head(plain_.data() + at_, plain_.data() + end_);
    const uint64_t kind = head.number();
    const uint64_t size = head.number();
    if (head.wrong == nullptr && size > head.left()) head.wrong = "a record that is longer than its block";
    if (head.wrong != nullptr) return damaged(block_offset_, fmt::format("{} in this block", head.wrong));
    at_ = static_cast<std::size_t>(head.at() - plain_.data()) + size;
    --left_;
    if (left_ == 0 && at_ != end_) return damaged(block_offset_, "bytes behind the last record of this block");
    Decoder decoder(head.at(), head.at() + size);
    uint64_t since = 0;
    decoder(record.device, since);
    if (decoder.wrong == nullptr && record.device >= kMaxDevices) decoder.wrong = "a device number beyond its range";
    if (decoder.wrong != nullptr) return damaged(block_offset_, fmt::format("{} in this block", decoder.wrong));
    record.time = previous_ + from_zigzag(since);
    previous_ = record.time;
    decoder.near_to(record.time);
    ++records_;
    ++part_records_;
    if (kind >= kKinds) {
      if (minor_ <= kMinor) return damaged(block_offset_, fmt::format("a record of kind {} in this block", kind));
      ++skipped_;
      continue;
    }
    become(record.body, static_cast<std::size_t>(kind));
    decode(decoder, static_cast<std::size_t>(kind), record.body);
    if (decoder.wrong == nullptr && decoder.left() != 0 && minor_ <= kMinor)
      decoder.wrong = "a record that is too long";
    if (decoder.wrong != nullptr) return damaged(block_offset_, fmt::format("{} in this block", decoder.wrong));
    return true;
  }
}

bool Reader::part_header() {
  uint8_t header[kPartHeader];
  std::size_t got = 0;
  const bool whole = read(header, sizeof header, got);
  const bool first = parts_ == 0;
  if (got == 0 && !first) {
    over_ = true;
    return false;
  }
  const std::size_t seen = std::min(got, kMagic.size());
  if (got == 0 || std::memcmp(header, kMagic.data(), seen) != 0) {
    return fail(offset_, first ? "this is no log of mrc" : "what follows the end of the log is no log of mrc",
                "Logs come from 'mrc cosim --record FILE', 'mrc fabric --record FILE' and 'mrc log import'.");
  }
  if (!whole) return damaged(offset_, "the file ends inside the header of a log");
  if (wire::load_le32(header + 12) != crc32(0, header, 12)) return damaged(offset_, "the header has a wrong CRC-32");
  const unsigned major = header[8] | header[9] << 8;
  minor_ = static_cast<uint16_t>(header[10] | header[11] << 8);
  if (major != kMajor) {
    return fail(offset_ + 8, fmt::format("a log of version {}.{}, this reader knows version {}", major, minor_, kMajor),
                "Read it with the mrc that wrote it, or a newer one.");
  }
  offset_ += sizeof header;
  in_part_ = true;
  ++parts_;
  part_records_ = 0;
  return true;
}

bool Reader::block() {
  uint8_t header[kBlockHeader];
  std::size_t got = 0;
  const uint64_t begin = offset_;
  // The next part may begin where a block was to: its first four bytes are no type of a block.
  const bool typed = read(header, 4, got);
  if (typed && std::memcmp(header, kMagic.data(), 4) == 0) {
    ended_early();
    again_.assign(header, header + 4);
    return true;
  }
  const bool whole = typed && read(header + 4, sizeof header - 4, got);
  if (!whole) return cut();
  const uint32_t type = wire::load_le32(header);
  const uint32_t stored = wire::load_le32(header + 4);
  const uint32_t plain = wire::load_le32(header + 8);
  const uint32_t records = wire::load_le32(header + 12);
  if (stored > kMaxStored || plain > kMaxPlain) {
    return damaged(begin, fmt::format("a block of {} bytes for {}, at most {} for {} are allowed", stored, plain,
                                      kMaxStored, kMaxPlain));
  }
  if (stored_.size() < stored) stored_.resize(stored);
  if (!read(stored_.data(), stored, got)) return cut();
  const uLong crc = crc32(crc32(0, header, 16), stored_.data(), static_cast<uInt>(stored));
  if (wire::load_le32(header + 16) != crc) return damaged(begin, "a block with a wrong CRC-32");
  offset_ += sizeof header + stored;
  block_offset_ = begin;
  if (type == kRecords) return records_block(stored, plain, records);
  if (type == kEndOfPart) {
    const uint64_t said = stored < 8
                              ? ~uint64_t{0}
                              : wire::load_le32(stored_.data()) | uint64_t{wire::load_le32(stored_.data() + 4)} << 32;
    if (said != part_records_) {
      return damaged(begin, fmt::format("the end block says {} records, there were {}", said, part_records_));
    }
    in_part_ = false;
    return true;
  }
  if (minor_ <= kMinor) return damaged(begin, fmt::format("a block of type {}", type));
  return true;  // of a newer version: passed over
}

bool Reader::records_block(uint32_t stored, uint32_t plain, uint32_t records) {
  if (ZSTD_getFrameContentSize(stored_.data(), stored) != plain ||
      ZSTD_findFrameCompressedSize(stored_.data(), stored) != stored) {
    return damaged(block_offset_, "a block that is not one zstd frame of the size it says");
  }
  if (plain_.size() < plain) plain_.resize(plain);
  const std::size_t size = ZSTD_decompressDCtx(zstd_->context, plain_.data(), plain, stored_.data(), stored);
  if (ZSTD_isError(size) || size != plain) {
    return damaged(block_offset_, fmt::format("a block that zstd does not take: {}",
                                              ZSTD_isError(size) ? ZSTD_getErrorName(size) : "too short"));
  }
  at_ = 0;
  end_ = plain;
  left_ = records;
  previous_ = 0;
  if (records == 0 && plain != 0) return damaged(block_offset_, "a block of no records that has bytes");
  return true;
}

}  // namespace mrc::log
