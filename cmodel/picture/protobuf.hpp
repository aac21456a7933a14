// SPDX-License-Identifier: Apache-2.0
/// Protocol buffers, the writing side: https://protobuf.dev/programming-guides/encoding/.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace mrc::picture {

/// One message, field by field.
class Protobuf {
 public:
  void number(unsigned field, uint64_t value) {
    key(field, 0);
    varint(value);
  }
  void fixed64(unsigned field, uint64_t value) {
    key(field, 1);
    for (unsigned i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void real(unsigned field, double value) { fixed64(field, std::bit_cast<uint64_t>(value)); }
  void text(unsigned field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(unsigned field, const Protobuf& value) { text(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void key(unsigned field, unsigned type) { varint(uint64_t{field} << 3 | type); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace mrc::picture
