// SPDX-License-Identifier: Apache-2.0
#include "wire/unpack.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <vector>

namespace mrc::wire {
namespace {

constexpr std::size_t kIn = 1 << 16, kOut = 1 << 18;
constexpr const char* kEarly = "it ends too early";

}  // namespace

class UnpackBuf::Impl {
 public:
  Impl(std::streambuf& in, Kind kind) : in_(in), kind_(kind) {
    constexpr int kWindow = 15, kGzip = 16;
    if (kind == Kind::Gzip) {
      if (inflateInit2(&gzip_, kWindow + kGzip) != Z_OK) problem_ = "there is no memory for it";
    } else {
      zstd_ = ZSTD_createDStream();
      if (zstd_ == nullptr) problem_ = "there is no memory for it";
    }
  }
  ~Impl() {
    if (kind_ == Kind::Gzip) inflateEnd(&gzip_);
    ZSTD_freeDStream(zstd_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Bytes in out() afterwards; 0: it is over, or problem().
  std::size_t fill() {
    while (!problem_) {
      if (begin_ == end_ && !read()) {
        // What is inside a decoder may still come.
        if (whole_) return 0;
        if (full_) {
          if (const std::size_t got = step(); got != 0 || problem_) return got;
          if (whole_) return 0;
        }
        problem_ = kEarly;
        return 0;
      }
      if (const std::size_t got = step(); got != 0) return got;
    }
    return 0;
  }
  char* out() { return out_.data(); }
  const std::optional<std::string>& problem() const { return problem_; }
  uint64_t packed() const { return packed_; }

 private:
  bool read() {
    if (in_.sgetc() == std::streambuf::traits_type::eof()) return false;
    const std::streamsize ready = std::clamp<std::streamsize>(in_.in_avail(), 1, kIn);
    begin_ = 0;
    end_ = static_cast<std::size_t>(in_.sgetn(in_bytes_.data(), ready));
    packed_ += end_;
    return end_ != 0;
  }

  std::size_t step() { return kind_ == Kind::Gzip ? gzip() : zstd(); }

  std::size_t gzip() {
    if (whole_) {
      // Another member, or what tape drives leave behind the last one.
      if (in_bytes_[begin_] == 0) {
        ++begin_;
        return 0;
      }
      inflateReset(&gzip_);
      whole_ = false;
    }
    gzip_.next_in = reinterpret_cast<Bytef*>(in_bytes_.data() + begin_);  // zlib only reads it
    gzip_.avail_in = static_cast<uInt>(end_ - begin_);
    gzip_.next_out = reinterpret_cast<Bytef*>(out_.data());
    gzip_.avail_out = static_cast<uInt>(kOut);
    const int result = inflate(&gzip_, Z_NO_FLUSH);
    begin_ = end_ - gzip_.avail_in;
    full_ = gzip_.avail_out == 0;
    whole_ = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      problem_ = gzip_.msg != nullptr ? gzip_.msg : "its bytes make no sense";
    }
    return problem_ ? 0 : kOut - gzip_.avail_out;
  }

  std::size_t zstd() {
    ZSTD_inBuffer from{in_bytes_.data(), end_, begin_};
    ZSTD_outBuffer to{out_.data(), kOut, 0};
    const std::size_t left = ZSTD_decompressStream(zstd_, &to, &from);
    begin_ = from.pos;
    full_ = to.pos == kOut;
    if (ZSTD_isError(left) != 0) problem_ = ZSTD_getErrorName(left);
    whole_ = left == 0;
    return problem_ ? 0 : to.pos;
  }

  std::streambuf& in_;
  const Kind kind_;
  z_stream gzip_{};
  ZSTD_DStream* zstd_ = nullptr;
  std::vector<char> in_bytes_ = std::vector<char>(kIn), out_ = std::vector<char>(kOut);
  std::size_t begin_ = 0, end_ = 0;
  uint64_t packed_ = 0;
  bool whole_ = false;  ///< the newest member or frame has come to its end
  bool full_ = false;   ///< there was no room for all that could come
  std::optional<std::string> problem_;
};

UnpackBuf::UnpackBuf(std::streambuf& in, Kind kind) : impl_(std::make_unique<Impl>(in, kind)) {}
UnpackBuf::~UnpackBuf() = default;
const std::optional<std::string>& UnpackBuf::problem() const { return impl_->problem(); }
uint64_t UnpackBuf::packed() const { return impl_->packed(); }

UnpackBuf::int_type UnpackBuf::underflow() {
  const std::size_t bytes = impl_->fill();
  if (bytes == 0) return traits_type::eof();
  setg(impl_->out(), impl_->out(), impl_->out() + bytes);
  return traits_type::to_int_type(*gptr());
}

}  // namespace mrc::wire
