// SPDX-License-Identifier: Apache-2.0
#include "cli/gnuplot.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cli/context.hpp"
#include "cli/output_file.hpp"

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

void need_gnuplot() {
  if (gnuplot_path().empty()) {
    throw UsageError("--svg needs gnuplot, which is not installed.",
                     "As root: apt-get install --no-install-recommends gnuplot-nox");
  }
}

void plot_svg(const std::filesystem::path& file, unsigned width, unsigned height, const std::string& script) {
  OutputFile out(file);
  OutputFile text(file.string() + ".gnuplot");  // never committed: goes away by itself
  text.stream() << fmt::format(
                       "set terminal svg size {},{} dynamic font 'sans,12' background '#ffffff'\nset output '{}'\n",
                       width, height, out.partial_path().string())
                << script;
  text.stream().flush();
  const std::string program = gnuplot_path();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(program.c_str(), program.c_str(), text.partial_path().c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw UsageError("gnuplot could not draw " + file.string() + ".", "See what it says above; version 5 is needed.");
  }
  out.commit();
}

}  // namespace mrc::cli
