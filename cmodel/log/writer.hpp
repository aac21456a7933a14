// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "log/record.hpp"

namespace mrc::log {

/// Writes one part of a log (docs/reference/log.md): its header at once, then blocks of records, at the end an end
/// block. Parts may follow each other in a file: to append to a log, write to the end of its file.
class Writer {
 public:
  /// Level of zstd: 1 is fast, 19 small; below 0 faster still.
  static constexpr int kLevel = 1;
  /// `out` must outlive the writer; its errors show in its state.
  explicit Writer(std::ostream& out, int level = kLevel);
  /// Writes no end: a log whose writer did not come to finish() is told to be unfinished.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// False: a frame, a text, a list of this record is larger than the format allows (format.hpp), or finish() was
  /// called; nothing is written.
  bool write(const Record& record);
  /// Writes what waits for its block to become full: readers can see it from now on.
  void flush();
  /// Writes the end. Further calls do nothing.
  void finish();
  uint64_t records() const { return records_; }

 private:
  struct Zstd;
  void block(uint32_t type, std::size_t stored, std::size_t plain, uint32_t records);

  std::ostream& out_;
  std::unique_ptr<Zstd> zstd_;
  std::vector<uint8_t> plain_, stored_;
  std::size_t used_ = 0;  ///< of plain_
  Time previous_ = 0;     ///< of the newest record in the block
  uint32_t in_block_ = 0;
  uint64_t records_ = 0;
  bool finished_ = false;
};

/// False: Writer::write() would refuse it.
bool writable(const Record& record);

}  // namespace mrc::log
