// SPDX-License-Identifier: Apache-2.0
#include "log/writer.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <ostream>

#include "log/format.hpp"
#include "wire/bytes.hpp"

namespace mrc::log {
namespace {

/// Most bytes of a number, and of a record's head: kind, length, device, time.
constexpr std::size_t kNumber = 10, kNumbers = 4 * kNumber;

void store(uint8_t*& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<uint8_t>(value | 0x80);
  *to++ = static_cast<uint8_t>(value);
}

/// Differences wrap: any two times have one, small ones are short either way.
uint64_t zigzag(uint64_t difference) {
  return difference << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(difference) >> 63);
}

/// Bytes that a record takes at most; or that it is too large.
class Measure {
 public:
  template <class... F>
  void operator()(const F&... field) {
    (one(field), ...);
  }
  void near(Time) { size_ += kNumber; }
  void bytes(const std::vector<uint8_t>& data, std::size_t limit) { add(data.size(), limit); }
  bool more(bool) { return true; }
  std::size_t size() const { return size_; }
  bool fits() const { return fits_; }

 private:
  template <class F>
  void one(const F& field) {
    if constexpr (std::is_same_v<F, std::string>) {
      add(field.size(), kMaxText);
    } else if constexpr (std::is_same_v<F, std::vector<uint32_t>>) {
      if (field.size() > kMaxEvs) fits_ = false;
      size_ += kNumber + 5 * field.size();
    } else if constexpr (std::is_same_v<F, Ip>) {
      size_ += sizeof(Ip);
    } else {
      size_ += kNumber;
    }
  }
  void add(std::size_t bytes, std::size_t limit) {
    if (bytes > limit) fits_ = false;
    size_ += kNumber + bytes;
  }
  std::size_t size_ = kNumbers;
  bool fits_ = true;
};

class Encoder {
 public:
  Encoder(uint8_t* to, Time time) : to_(to), time_(time) {}
  template <class... F>
  void operator()(const F&... field) {
    (one(field), ...);
  }
  void near(Time time) { store(to_, zigzag(time - time_)); }
  void bytes(const std::vector<uint8_t>& data, std::size_t) { raw(data.data(), data.size()); }
  bool more(bool there) { return there; }
  uint8_t* end() const { return to_; }

 private:
  template <class F>
  void one(const F& field) {
    if constexpr (std::is_same_v<F, std::string>) {
      raw(field.data(), field.size());
    } else if constexpr (std::is_same_v<F, std::vector<uint32_t>>) {
      store(to_, field.size());
      for (const uint32_t each : field) store(to_, each);
    } else if constexpr (std::is_same_v<F, Ip>) {
      std::memcpy(to_, field.data(), field.size());
      to_ += field.size();
    } else {
      store(to_, static_cast<uint64_t>(field));
    }
  }
  void raw(const void* data, std::size_t size) {
    store(to_, size);
    if (size != 0) std::memcpy(to_, data, size);
    to_ += size;
  }
  uint8_t* to_;
  Time time_;
};

Measure measure(const Record& record) {
  Measure m;
  std::visit([&](const auto& body) { fields(m, body); }, record.body);
  return m;
}

}  // namespace

struct Writer::Zstd {
  explicit Zstd(int level) {
    if (context == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
  ~Zstd() { ZSTD_freeCCtx(context); }
  ZSTD_CCtx* context = ZSTD_createCCtx();
};

bool writable(const Record& record) {
  const Measure m = measure(record);
  return m.fits() && m.size() <= kMaxPlain && record.device < kMaxDevices;
}

Writer::Writer(std::ostream& out, int level) : out_(out), zstd_(std::make_unique<Zstd>(level)), stored_(8) {
  uint8_t header[kPartHeader];
  std::memcpy(header, kMagic.data(), kMagic.size());
  header[8] = kMajor & 0xff;
  header[9] = kMajor >> 8;
  header[10] = kMinor & 0xff;
  header[11] = kMinor >> 8;
  wire::store_le32(header + 12, static_cast<uint32_t>(crc32(0, header, 12)));
  out_.write(reinterpret_cast<const char*>(header), sizeof header);
}

Writer::~Writer() = default;

bool Writer::write(const Record& record) {
  const Measure m = measure(record);
  if (!m.fits() || m.size() > kMaxPlain || record.device >= kMaxDevices || finished_) return false;
  if (used_ + m.size() > kMaxPlain) flush();
  if (used_ + m.size() > plain_.size()) plain_.resize(std::min<std::size_t>(kMaxPlain, 2 * (used_ + m.size())));
  // Kind and length stand in front of what they tell the length of: it is moved up to them.
  uint8_t* const begin = plain_.data() + used_;
  uint8_t* const body = begin + 2 * kNumber;
  Encoder encoder(body, record.time);
  encoder(record.device, zigzag(record.time - previous_));
  std::visit([&](const auto& b) { fields(encoder, b); }, record.body);
  const auto size = static_cast<std::size_t>(encoder.end() - body);
  uint8_t* head = begin;
  store(head, record.body.index());
  store(head, size);
  std::memmove(head, body, size);
  used_ += static_cast<std::size_t>(head - begin) + size;
  previous_ = record.time;
  ++in_block_;
  ++records_;
  return true;
}

void Writer::flush() {
  if (in_block_ == 0) return;
  if (stored_.size() < ZSTD_compressBound(used_)) stored_.resize(ZSTD_compressBound(used_));
  const std::size_t stored = ZSTD_compress2(zstd_->context, stored_.data(), stored_.size(), plain_.data(), used_);
  if (ZSTD_isError(stored)) throw std::bad_alloc();  // there is room for the worst case: only memory can be missing
  block(kRecords, stored, used_, in_block_);
  used_ = 0;
  in_block_ = 0;
  previous_ = 0;
}

void Writer::finish() {
  if (finished_) return;
  flush();
  finished_ = true;
  wire::store_le32(stored_.data(), static_cast<uint32_t>(records_));
  wire::store_le32(stored_.data() + 4, static_cast<uint32_t>(records_ >> 32));
  block(kEndOfPart, 8, 0, 0);
  out_.flush();
}

void Writer::block(uint32_t type, std::size_t stored, std::size_t plain, uint32_t records) {
  uint8_t header[kBlockHeader];
  wire::store_le32(header, type);
  wire::store_le32(header + 4, static_cast<uint32_t>(stored));
  wire::store_le32(header + 8, static_cast<uint32_t>(plain));
  wire::store_le32(header + 12, records);
  const uLong crc = crc32(crc32(0, header, 16), stored_.data(), static_cast<uInt>(stored));
  wire::store_le32(header + 16, static_cast<uint32_t>(crc));
  out_.write(reinterpret_cast<const char*>(header), sizeof header);
  out_.write(reinterpret_cast<const char*>(stored_.data()), static_cast<std::streamsize>(stored));
}

}  // namespace mrc::log
