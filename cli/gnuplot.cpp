// SPDX-License-Identifier: Apache-2.0
#include "cli/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "cli/context.hpp"
#include "cli/fd_buf.hpp"

namespace mrc::cli {
namespace {

std::string gnuplot_path() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const std::string file = (folder.empty() ? "." : folder) + "/gnuplot";
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

}  // namespace

void need_gnuplot(const std::string& option) {
  if (gnuplot_path().empty()) {
    throw UsageError(option + " needs gnuplot, which is not installed.",
                     "As root: apt-get install --no-install-recommends gnuplot-nox");
  }
}

std::string plot_svg(unsigned width, unsigned height, const std::string& script) {
  // The script in memory, the picture through a pipe: what gnuplot does not write itself it cannot cut short.
  const std::string program = gnuplot_path();
  const std::string text =
      fmt::format("set terminal svg size {},{} dynamic font 'sans,12' background '#ffffff'\n{}", width, height, script);
  const int in = ::memfd_create("gnuplot", 0);
  std::string svg;
  bool fine = in >= 0;
  if (fine) {
    FdBuf buffer(in);
    fine = buffer.sputn(text.data(), static_cast<std::streamsize>(text.size())) ==
               static_cast<std::streamsize>(text.size()) &&
           buffer.pubsync() == 0;
  }
  int ends[2];
  fine = fine && ::pipe2(ends, O_CLOEXEC) == 0;
  const pid_t child = fine ? ::fork() : -1;
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    const std::string name = "/proc/self/fd/" + std::to_string(in);
    ::execl(program.c_str(), program.c_str(), name.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  if (fine) {
    ::close(ends[1]);
    std::array<char, 1 << 16> part;
    for (ssize_t n = 0; child > 0 && (n = ::read(ends[0], part.data(), part.size())) != 0;) {
      if (n > 0) svg.append(part.data(), static_cast<size_t>(n));
      if (n < 0 && errno != EINTR) break;
    }
    ::close(ends[0]);
  }
  int status = 0;
  pid_t got = -1;
  if (child > 0) {
    do got = ::waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
  }
  if (in >= 0) ::close(in);
  if (got != child || child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0 ||
      svg.find("</svg>") == std::string::npos) {
    throw UsageError("gnuplot could not draw a picture.", "See what it says above; version 5 is needed.");
  }
  return svg;
}

}  // namespace mrc::cli
