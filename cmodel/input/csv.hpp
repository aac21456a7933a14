// SPDX-License-Identifier: Apache-2.0
/// Tables with comma-separated values: columns by name, numbers with their place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/number.hpp"

namespace mrc::input {

struct CsvColumn {
  const char* name;
  bool needed;
  const char* doc;
};

/// A CSV text. The first line names the columns, in any order; lines that are empty or begin with # are skipped, so are
/// a byte order mark, and blanks around cells. Cells hold no commas and no quotes. All members throw InputError.
class Csv {
 public:
  /// Reads the line with the names. `columns` and the texts must outlive the reader.
  Csv(std::string_view text, std::string_view file, std::span<const CsvColumn> columns);

  /// Goes to the next row; false: there is none.
  bool next();
  uint32_t line() const { return line_; }
  /// Byte at which the line begins.
  size_t offset() const { return line_begin_; }
  /// Index as in `columns`. Empty when the column is not there.
  std::string_view cell(size_t column) const;
  /// The cell with its place.
  Literal literal(size_t column) const;
  /// An empty cell is `fallback`; without one it is refused.
  uint64_t whole(size_t column, uint64_t min, uint64_t max, std::optional<uint64_t> fallback = std::nullopt) const;
  double number(size_t column, const Range& range, std::optional<double> fallback = std::nullopt) const;
  /// "events.csv:3:7: what."
  [[noreturn]] void refuse(size_t column, const std::string& what, const std::string& remedy) const;
  /// The header line to write: "time_ns,kind,bytes,ecn".
  std::string header() const;

 private:
  struct Cell {
    std::string_view text;
    uint32_t column;
  };
  bool next_line();
  [[noreturn]] void refuse_at(uint32_t column, const std::string& what, const std::string& remedy) const;
  void read_header();

  std::string_view text_, file_;
  std::span<const CsvColumn> columns_;
  std::vector<int> at_;  // index of a column's cell, -1: not there
  std::vector<Cell> cells_;
  size_t next_ = 0, line_begin_ = 0, named_ = 0;
  uint32_t line_ = 0;
};

}  // namespace mrc::input
