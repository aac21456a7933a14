// SPDX-License-Identifier: Apache-2.0
#include "input/csv.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "input/names.hpp"

namespace mrc::input {
namespace {
bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
}  // namespace

Csv::Csv(std::string_view text, std::string_view file, std::span<const CsvColumn> columns)
    : text_(text), file_(file), columns_(columns), at_(columns.size(), -1) {
  if (text_.starts_with("\xef\xbb\xbf")) next_ = 3;
  if (!next_line()) {
    line_ = 1;
    refuse_at(1, "no line that names the columns", fmt::format("Begin the file with a line like {}.", header()));
  }
  read_header();
}

std::string Csv::header() const {
  std::string out;
  for (const CsvColumn& c : columns_) out += (out.empty() ? "" : ",") + std::string(c.name);
  return out;
}

bool Csv::next_line() {
  while (next_ < text_.size()) {
    const size_t end = std::min(text_.find('\n', next_), text_.size());
    const std::string_view row = text_.substr(next_, end - next_);
    line_begin_ = next_;
    next_ = end + 1;
    ++line_;
    const auto first = std::find_if_not(row.begin(), row.end(), blank);
    if (first == row.end() || *first == '#') continue;
    cells_.clear();
    for (size_t at = 0; at <= row.size();) {
      const size_t comma = std::min(row.find(',', at), row.size());
      size_t from = at, to = comma;
      while (from < to && blank(row[from])) ++from;
      while (to > from && blank(row[to - 1])) --to;
      cells_.push_back({row.substr(from, to - from), static_cast<uint32_t>(from + 1)});
      at = comma + 1;
    }
    return true;
  }
  return false;
}

void Csv::read_header() {
  std::vector<std::string_view> known;
  for (const CsvColumn& c : columns_) known.push_back(c.name);
  // A table that begins with its values.
  const bool named = std::any_of(cells_.begin(), cells_.end(), [&](const Cell& c) {
    return std::find(known.begin(), known.end(), c.text) != known.end();
  });
  if (!named) {
    refuse_at(cells_[0].column, "the first line does not name the columns",
              fmt::format("Begin the file with a line like {}.", header()));
  }
  for (size_t i = 0; i < cells_.size(); ++i) {
    const auto found = std::find(known.begin(), known.end(), cells_[i].text);
    if (found == known.end()) {
      std::string end = did_you_mean(cells_[i].text, known);
      if (end == ".") end.clear();
      refuse_at(cells_[i].column, fmt::format("unknown column {}{}", shown(cells_[i].text), end),
                fmt::format("The columns are {}.", fmt::join(known, ", ")));
    }
    int& place = at_[static_cast<size_t>(found - known.begin())];
    if (place >= 0) {
      refuse_at(cells_[i].column, fmt::format("column {} appears twice", cells_[i].text), "Remove one of them.");
    }
    place = static_cast<int>(i);
  }
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (!columns_[c].needed || at_[c] >= 0) continue;
    refuse_at(1, fmt::format("column {} is missing", columns_[c].name),
              fmt::format("Begin the file with a line like {}.", header()));
  }
  named_ = cells_.size();
}

bool Csv::next() {
  if (!next_line()) return false;
  if (cells_.size() != named_) {
    const size_t wrong = std::min(cells_.size() - 1, named_);
    refuse_at(cells_[wrong].column,
              fmt::format("{} cell{}, but {} column{}", cells_.size(), cells_.size() == 1 ? "" : "s", named_,
                          named_ == 1 ? "" : "s"),
              "Give each line as many cells as the first line has names; leave a cell empty for its default.");
  }
  return true;
}

std::string_view Csv::cell(size_t column) const {
  return at_[column] < 0 ? std::string_view{} : cells_[static_cast<size_t>(at_[column])].text;
}

Literal Csv::literal(size_t column) const {
  const uint32_t at = at_[column] < 0 ? 1 : cells_[static_cast<size_t>(at_[column])].column;
  return {cell(column), columns_[column].name, file_, line_, at};
}

uint64_t Csv::whole(size_t column, uint64_t min, uint64_t max, std::optional<uint64_t> fallback) const {
  if (fallback && cell(column).empty()) return *fallback;
  return input::whole(literal(column), static_cast<int64_t>(min), max, columns_[column].doc);
}

double Csv::number(size_t column, const Range& range, std::optional<double> fallback) const {
  if (fallback && cell(column).empty()) return *fallback;
  return input::number(literal(column), range, columns_[column].doc);
}

void Csv::refuse(size_t column, const std::string& what, const std::string& remedy) const {
  refuse_at(literal(column).column, what, remedy);
}

void Csv::refuse_at(uint32_t column, const std::string& what, const std::string& remedy) const {
  throw InputError(place(file_, line_, column) + ": " + what + (what.ends_with('?') ? "" : "."), remedy, line_, column);
}

}  // namespace mrc::input
