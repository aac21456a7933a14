// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/output.hpp"

namespace mrc::cli {
namespace {

constexpr const char* kPython = "Python 3.11";

/// What a script needs; those that are named here need a clone, too, the others are part of an installation.
const char* needs_of(const std::string& script) {
  static const std::map<std::string, const char*> needs{{"tools/coverage.py", "Verilator and a compiler"},
                                                        {"tools/depth.py", "Yosys"},
                                                        {"tools/export_verilog.py", "Yosys"},
                                                        {"tools/fpga.py", "Yosys"},
                                                        {"tools/gates.py", "Yosys, Verilator and a compiler"},
                                                        {"tools/lint.py", "Verilator and Yosys"},
                                                        {"tools/mutate.py", "Python's clang and a compiler"},
                                                        {"tools/mutate_rtl.py", "Verilator and a compiler"},
                                                        {"tools/package.sh", "CMake, Verilator and a compiler"},
                                                        {"tools/prove.py", "Yosys, z3 and abc"},
                                                        {"tools/state.py", "Yosys"},
                                                        {"tools/test.sh", "Verilator and a compiler"}};
  const auto found = needs.find(script);
  return found == needs.end() ? kPython : found->second;
}

}  // namespace

void become_script(const Context& context, const std::string& script, const std::vector<std::string>& arguments) {
  const auto path = context.root / script;
  if (!std::filesystem::exists(path)) {
    throw UsageError(
        std::string("this needs a clone of mrcnic with ") + needs_of(script) + "; " + path.string() + " is missing.",
        "Call './mrc' in a clone, which installs what it needs, or set MRC_ROOT to one.");
  }
  std::vector<std::string> words{path.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) ::setenv("MRC_EXE", self.c_str(), 1);
  ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);  // a package that goes leaves nothing
  hand_back_stdout();
  ::execv(argv[0], argv.data());
  if (errno == ENOENT)  // the script is there: who reads it is not
    throw UsageError(std::string("this needs ") + kPython + "; nothing can read " + path.string() + ".",
                     "Debian: apt-get install python3.");
  throw UsageError("cannot run " + path.string() + ".", "Check that it is executable.");
}

namespace {

void register_script(Command& app, Context& context, const std::string& name, const std::string& description,
                     const std::string& script) {
  Command& command = app.command(name, description);
  command.script(script);
  command.first([&context, script](const auto& words) { become_script(context, script, words); });
}

}  // namespace

void register_tools(Command& app, Context& context) {
  register_script(app, context, "doctor", "which tools and libraries commands need, and what is there",
                  "tools/doctor.sh");
  register_script(app, context, "lint", "check the RTL with Verilator, slang and Yosys", "tools/lint.py");
  register_script(app, context, "export-verilog", "write a preset as plain Verilog", "tools/export_verilog.py");
  register_script(app, context, "state", "count the RTL's bits per QP, packet in flight, EV, ...", "tools/state.py");
  register_script(app, context, "depth", "find the longest path of every block, in gates", "tools/depth.py");
  register_script(app, context, "prove", "prove properties of the RTL; each with a cover and a bug", "tools/prove.py");
  register_script(app, context, "fpga", "what every block costs on UltraScale+: mrc fpga report", "tools/fpga.py");
  register_script(app, context, "gates", "netlists of gates in the places of blocks, in lockstep", "tools/gates.py");
  register_script(app, context, "coverage", "lines of RTL and model that runs and tests reach", "tools/coverage.py");
  register_script(app, context, "api", "test a lib_mrc.so against MRC's headers: mrc api test", "tools/api.py");
  register_script(app, context, "regress", "run a plan: seeds, vectors, mutants, proofs", "tools/regress.py");
  register_script(app, context, "shrink", "make a failing run smaller: packets, keys, rules", "tools/shrink.py");
  register_script(app, context, "script", "run a conformance script against a NIC", "conformance/script.py");
  register_script(app, context, "vectors", "run the conformance vectors against a NIC", "conformance/vectors.py");
  register_script(app, context, "package", "a .deb and a .tar.zst of mrc and what it needs", "tools/package.sh");
  register_script(app, context, "test", "build and run a layer of the tests", "tools/test.sh");
}

}  // namespace mrc::cli
