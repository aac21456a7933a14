// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "cli/context.hpp"
#include "cli/dut_options.hpp"
#include "cli/nic_device.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "tb/device/library_device.hpp"
#include "tb/device/lines.hpp"

namespace mrc::cli {
namespace {

struct Options {
  std::string endpoint = "model", preset = "tiny", bug, library;
};

/// Lines of a file descriptor, of bounded length.
class LineInput {
 public:
  explicit LineInput(int fd) : fd_(fd) {}

  enum class Next { Line, TooLong, End, Cut };
  /// Cut: the input ended inside a line. `line` is valid until the next call.
  Next next(std::string_view& line) {
    buffer_.erase(0, taken_);
    taken_ = 0;
    bool skipping = false;
    size_t looked = 0;
    for (;;) {
      const size_t end = buffer_.find('\n', looked);
      if (end != std::string::npos) {
        taken_ = end + 1;
        if (skipping || end > tb::kMaxLine) return Next::TooLong;
        line = std::string_view(buffer_).substr(0, end);
        return Next::Line;
      }
      looked = buffer_.size();
      if (buffer_.size() > tb::kMaxLine) {
        skipping = true;
        buffer_.clear();
        looked = 0;
      }
      char chunk[1 << 16];
      const ssize_t n = ::read(fd_, chunk, sizeof chunk);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0)
        throw UsageError("cannot read standard input: " + std::string(std::strerror(errno)) + ".",
                         "Give it calls of docs/device.md, one a line.");
      if (n == 0) return buffer_.empty() && !skipping ? Next::End : Next::Cut;
      buffer_.append(chunk, static_cast<size_t>(n));
    }
  }

 private:
  int fd_;
  std::string buffer_;
  size_t taken_ = 0;
};

int run(const Options& o, const Context& context) {
  std::unique_ptr<tb::NicDevice> device;
  try {
    device = o.library.empty() ? nic_device(o.endpoint, preset_from(o.preset), o.bug, context)
                               : tb::load_device(o.library, o.preset);
  } catch (const tb::Refusal& refusal) {
    const std::string remedy = "Name a shared object with the functions of cmodel/api/mrc_nic.h.";
    if (refusal.unsupported) throw Unsupported(refusal.what(), remedy);
    throw UsageError(refusal.what(), remedy);
  }
  tb::LineServer server(*device, "stdin");
  LineInput input(STDIN_FILENO);
  for (uint32_t number = 1; !server.closed(); ++number) {
    std::string_view line;
    std::string answer;
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

}  // namespace

void register_nic(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("nic", "a NIC that a tester drives: JSON lines on stdin and stdout");
  command->footer(R"(
The calls and their answers: docs/device.md. The tester owns time, wire and host memory.

Examples:
  mrc nic --endpoint model --preset tiny                      the cycle-accurate model
  mrc nic --endpoint rtl --preset fpga100                     our RTL
  mrc nic --endpoint fast                                     the protocol alone, without a clock
  mrc nic --endpoint rtl --rtl-bug icrc-mask                  RTL that makes an error
  mrc nic --library ./libmynic.so                             a NIC of yours behind mrc_nic.h
  echo '{"call":"open","version":1}' | mrc nic                what it says of itself)");
  command->add_option("--endpoint", options->endpoint, "model, rtl, or fast")
      ->check(CLI::IsMember({"model", "rtl", "fast"}))
      ->capture_default_str();
  text_option(*command, "--preset", options->preset, "sizes of the NIC: asic800, fpga100, tiny");
  text_option(*command, "--library", options->library,
              "a NIC that is a shared object with the functions of cmodel/api/mrc_nic.h, instead of --endpoint");
  text_option(*command, "--rtl-bug", options->bug, "let the RTL make an error: a name of 'mrc cosim --rtl-bug list'");
  command->callback([options, command, &context] {
    exclude(*command, "--library", "--endpoint", "one NIC answers");
    exclude(*command, "--library", "--rtl-bug", "the RTL makes errors, not a library");
    context.exit_code = run(*options, context);
  });
}

}  // namespace mrc::cli
