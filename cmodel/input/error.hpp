// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace mrc {

/// Something from outside that cannot be used: what() is one sentence with full stop that names input, place and what
/// is wrong, remedy another one that says what to do.
class InputError : public std::runtime_error {
 public:
  InputError(const std::string& sentence, std::string remedy_text)
      : std::runtime_error(sentence), remedy(std::move(remedy_text)) {}
  InputError(const std::string& sentence, std::string remedy_text, uint32_t line_number, uint32_t column_number)
      : std::runtime_error(sentence), remedy(std::move(remedy_text)), line(line_number), column(column_number) {}
  std::string remedy;
  uint32_t line = 0, column = 0;  ///< from 1 on, when the sentence names them; else 0
};

}  // namespace mrc
