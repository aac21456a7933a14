// SPDX-License-Identifier: Apache-2.0
/// A board as a process that speaks JSON lines (docs/device.md): mrc_board [NAME]. The
/// device is libmrc_dut_board_NAME.so beside it, which speaks api/mrc_dut.h; NAME is tiny by default.
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "gen/presets.hpp"
#include "tb/device/lines.hpp"
#include "tb/device/pins_device.hpp"

namespace {

int serve(const std::string& library) {
  mrc::tb::PinsOptions options;
  options.preset = mrc::find_preset("tiny");
  options.name = "board";
  options.open = [&](std::string& error) { return mrc::tb::open_dut(library, *options.preset, 1, error); };
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

int main(int argc, char** argv) {
  if (argc > 2) {
    std::cerr << "mrc_board: it takes one argument at most. Name a board, for example tiny.\n";
    return 3;
  }
  try {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return serve(folder / ("libmrc_dut_board_" + std::string(argc == 2 ? argv[1] : "tiny") + ".so"));
  } catch (const std::exception& error) {
    std::cerr << "mrc_board: " << error.what() << '\n';
    return 3;
  }
}
