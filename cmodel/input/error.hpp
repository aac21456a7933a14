// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace mrc {

/// Something from outside that cannot be used: what() is one sentence with full stop that names input, place and what
/// is wrong, remedy another one that says what to do.
/// Control characters of what it quotes become question marks: they must not reach a terminal.
class InputError : public std::runtime_error {
 public:
  InputError(const std::string& sentence, const std::string& remedy_text, uint32_t line_number = 0,
             uint32_t column_number = 0)
      : std::runtime_error(plain(sentence)), remedy(plain(remedy_text)), line(line_number), column(column_number) {}
  std::string remedy;
  uint32_t line = 0, column = 0;  ///< from 1 on, when the sentence names them; else 0

 private:
  static std::string plain(std::string text) {
    for (char& c : text) {
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
    }
    return text;
  }
};

}  // namespace mrc
