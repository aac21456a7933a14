// SPDX-License-Identifier: Apache-2.0
/// A board, of the kind MRC_BOARD, as a process that speaks JSON lines (docs/reference/device.md).
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "tb/device/lines.hpp"
#include "tb/device/pins_device.hpp"
#include "tests/fpga/board.hpp"

namespace {

int serve() {
  mrc::tb::PinsOptions options;
  options.preset = &mrc::MRC_BOARD::kPreset;
  options.name = "board";
  options.whose_writes = false;
  options.open = [](uint64_t seed, std::string&) { return std::make_unique<mrc::MRC_BOARD>(seed); };
  const auto device = mrc::tb::make_pins_device(options);
  mrc::tb::LineServer server(*device, "stdin");
  uint32_t number = 0;
  for (std::string line; !server.closed() && std::getline(std::cin, line);) {
    const std::string answer = server.answer(line, ++number);
    if (!answer.empty()) std::cout << answer << std::endl;
  }
  return 0;
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    std::cerr << "mrc: a board takes no argument. Calls come on stdin, docs/reference/device.md lists them.\n";
    return 3;
  }
  try {
    return serve();
  } catch (const std::exception& error) {
    std::cerr << "mrc: board: " << error.what() << '\n';
    return 3;
  }
}
