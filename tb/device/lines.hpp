// SPDX-License-Identifier: Apache-2.0
/// JSON lines of docs/reference/device.md: calls to a device in, answers out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "input/json.hpp"
#include "tb/device/device.hpp"

namespace mrc::tb {

inline constexpr size_t kMaxLine = 1 << 20;  ///< bytes of a line, without its end

class LineServer {
 public:
  /// `source` is what errors call the lines: "stdin".
  LineServer(NicDevice& device, std::string source) : device_(device), source_(std::move(source)) {}

  /// The answer to a line, without line end; "" to a blank one. `number` counts from 1 on.
  std::string answer(std::string_view line, uint32_t number);
  /// The answer to a line of more than kMaxLine bytes.
  std::string too_long(uint32_t number) const;
  /// close was called.
  bool closed() const { return closed_; }

 private:
  std::string answer_call(const input::Json& call);

  NicDevice& device_;
  std::string source_;
  bool closed_ = false;
};

}  // namespace mrc::tb
