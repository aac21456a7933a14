// SPDX-License-Identifier: Apache-2.0
#include "cli/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

#include "cli/context.hpp"
#include "cli/fd_buf.hpp"
#include "cli/program_path.hpp"

namespace mrc::cli {
void need_gnuplot(const std::string& option) {
  if (program_path("gnuplot").empty()) {
    throw UsageError(option + " needs gnuplot, which is not installed.",
                     "As root: apt-get install --no-install-recommends gnuplot-nox");
  }
}

std::string plot_svg(unsigned width, unsigned height, const std::string& script) {
  // Script and picture go through pipes: what gnuplot does not write itself it cannot cut short.
  const std::string program = program_path("gnuplot");
  const std::string text =
      fmt::format("set terminal svg size {},{} dynamic font 'sans,12' background '#ffffff'\n{}", width, height, script);
  std::string svg;
  int in[2], out[2], status = 1;
  if (::pipe2(in, O_CLOEXEC) == 0) {
    if (::pipe2(out, O_CLOEXEC) == 0) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::dup2(in[0], STDIN_FILENO);
        ::dup2(out[1], STDOUT_FILENO);
        ::execl(program.c_str(), program.c_str(), "-", static_cast<char*>(nullptr));
        ::_exit(127);
      }
      ::close(out[1]);
      std::thread writer([&] {
        FdBuf(in[1]).sputn(text.data(), static_cast<std::streamsize>(text.size()));
        ::close(in[1]);
      });
      std::array<char, 1 << 16> part;
      for (ssize_t n = 0; child > 0 && (n = ::read(out[0], part.data(), part.size())) != 0;) {
        if (n > 0) svg.append(part.data(), static_cast<size_t>(n));
        if (n < 0 && errno != EINTR) break;
      }
      ::close(in[0]);  // a gnuplot that is gone ends the writer
      ::close(out[0]);
      writer.join();
      while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
    } else {
      ::close(in[0]);
      ::close(in[1]);
    }
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || svg.find("</svg>") == std::string::npos)
    throw UsageError("gnuplot could not draw a picture.", "See what it says above; version 5 is needed.");
  return svg;
}

}  // namespace mrc::cli
