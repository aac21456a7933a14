// SPDX-License-Identifier: Apache-2.0
#include "cli/line_server.hpp"

#include <fmt/format.h>

#include <iostream>

namespace mrc::cli {

int serve_lines(tb::NicDevice& device, const std::function<void(const LineInput&)>& wait) {
  tb::LineServer server(device, "stdin");
  LineInput input(STDIN_FILENO);
  for (uint32_t number = 1; !server.closed(); ++number) {
    std::string_view line;
    std::string answer;
    if (wait) wait(input);
    switch (input.next(line)) {
      case LineInput::Next::End:
        return kPass;
      case LineInput::Next::Cut:
        throw UsageError(fmt::format("standard input ends inside line {}.", number), "End each call with a line end.");
      case LineInput::Next::TooLong:
        answer = server.too_long(number);
        break;
      case LineInput::Next::Line:
        answer = server.answer(line, number);
        if (answer.empty()) continue;
        break;
    }
    std::cout << answer << '\n' << std::flush;
    if (!std::cout) return kPass;  // who has gone wants no more; main tells of other reasons
  }
  return kPass;
}

}  // namespace mrc::cli
