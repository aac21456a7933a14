// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "log/record.hpp"
#include "wire/result.hpp"

namespace mrc::log {

/// Reads a log (docs/reference/log.md) record by record, in bounded memory whatever it is told: about 3 MB.
class Reader {
 public:
  /// `in` must outlive the reader; `name` is what errors call it.
  Reader(std::istream& in, std::string name);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// The next record. The memory of `record` is used again: hand in the same one. False: there is none, because the
  /// log is over (whole), or because of error().
  bool next(Record& record);

  /// Why no record follows, if not because the log is over: it is damaged, no log, or of another version.
  const std::optional<wire::Error>& error() const { return error_; }
  /// Parts that end without an end block: who wrote them did not come to the end. Records of their whole blocks are
  /// there, later ones are missing.
  uint64_t unfinished() const { return unfinished_; }
  /// Byte behind the block that is being read.
  uint64_t offset() const { return offset_; }
  uint64_t parts() const { return parts_; }
  uint64_t records() const { return records_; }
  /// Records of kinds that this reader does not know, passed over.
  uint64_t skipped() const { return skipped_; }

 private:
  struct Zstd;
  bool part_header();
  bool block();
  bool records_block(uint32_t stored, uint32_t plain, uint32_t records);
  bool read(uint8_t* to, std::size_t bytes, std::size_t& got);
  bool fail(uint64_t offset, std::string what, std::string remedy);
  bool damaged(uint64_t offset, std::string what);
  void become(Body& body, std::size_t kind);
  void ended_early();
  bool cut();

  std::istream& in_;
  std::string name_;
  std::unique_ptr<Zstd> zstd_;
  std::vector<uint8_t> again_;  ///< read already, to be read once more
  std::vector<uint8_t> stored_, plain_;
  std::vector<uint8_t> spare_frame_, spare_data_;  ///< memory of frames and host data, to be used again
  std::size_t at_ = 0, end_ = 0;                   ///< of plain_: next record, behind the last
  uint32_t left_ = 0;                              ///< records of the block that are still to come
  Time previous_ = 0;
  uint16_t minor_ = 0;
  bool in_part_ = false, over_ = false;
  uint64_t offset_ = 0, block_offset_ = 0, part_records_ = 0;
  uint64_t unfinished_ = 0, parts_ = 0, records_ = 0, skipped_ = 0;
  std::optional<wire::Error> error_;
};

}  // namespace mrc::log
