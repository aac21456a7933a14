// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <streambuf>
#include <string>

namespace mrc::wire {

/// The bytes of what gzip or zstd have packed, as they are read, in memory for some of them. Of files that were joined
/// with cat, all.
class UnpackBuf final : public std::streambuf {
 public:
  enum class Kind : uint8_t { Gzip, Zstd };
  /// `in` must outlive it.
  UnpackBuf(std::streambuf& in, Kind kind);
  ~UnpackBuf() override;
  /// Why no more comes although it is not over: "it ends too early".
  const std::optional<std::string>& problem() const;
  /// So many packed bytes have been read.
  uint64_t packed() const;

 protected:
  int_type underflow() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mrc::wire
