// SPDX-License-Identifier: Apache-2.0
/// Text from outside on its way to a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mrc {

namespace detail {

/// Bytes of the UTF-8 character that `text` begins with; 0: it is none, or a control character.
inline std::size_t printable_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t n = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (n == 0 || n > text.size()) return 0;
  uint32_t code = n == 1 ? lead : lead & (0x7fu >> n);
  for (std::size_t i = 1; i < n; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c & 0xc0u) != 0x80) return 0;
    code = code << 6 | (c & 0x3fu);
  }
  const bool too_long = (n == 3 && code < 0x800) || (n == 4 && code < 0x10000);
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  return too_long || control || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff ? 0 : n;
}

}  // namespace detail

/// Control characters and what is no UTF-8 become \x1b, a line end \n. Of more than `most` bytes the rest becomes
/// "...".
inline std::string printable(std::string_view text, std::size_t most = std::string_view::npos) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    if (at >= most) return clean + "...";
    const std::size_t n = detail::printable_length(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (n != 0) {
      clean += text.substr(at, n);
    } else if (byte == '\n') {
      clean += "\\n";
    } else {
      clean += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15u]};
    }
    at += n == 0 ? 1 : n;
  }
  return clean;
}

}  // namespace mrc
