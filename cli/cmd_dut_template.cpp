// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/embedded_template.hpp"

namespace mrc::cli {
namespace dut_template_command {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter = R"(
Examples:
  mrc dut-template ../my-nic --top my_nic rtl/*.sv
  mrc dut-template ../my-nic --top my_nic --clock core_clk --reset core_rst_n --period 2560 rtl/files.f
  cmake -S ../my-nic -B ../my-nic/build -DCMAKE_PREFIX_PATH=PREFIX && cmake --build ../my-nic/build
  mrc cosim --level L2 --preset tiny --dut ../my-nic/build/libmy_nic.so --scenario clean --packets 50
  mrc dut-template ../my-nic --c --name my_nic
  mrc dut-template ../my-nic --python --name my_nic

Verilator reads the sources once, to find the module and its ports. They stay where they are. A file list (.f) names
files relative to itself. DIR must not exist, or be empty. The project compiles as it is. Parts that only you can write
are marked in nic.cpp; a run that reaches one names its place. docs/guide/adopt.md: a week of it.
A NIC without Verilog wraps another simulator, a board, a model. For it --c and --cpp make the same project in C11 or
C++20 alone. --python makes a NIC as a process that speaks JSON lines (docs/reference/device.md), without a build.)";

struct Options {
  std::string folder, top, name, clock, reset;
  unsigned period = 2560;
  bool python = false, c = false, cpp = false;
  std::vector<std::string> files;
  std::string program;  ///< how the user calls mrc
};

struct Pin {
  std::string name;
  bool in = false;
  unsigned bits = 1;
};

bool is_name(const std::string& text) {
  static const std::regex name("[A-Za-z][A-Za-z0-9_]*");
  return std::regex_match(text, name);
}

/// As one word of a shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// A folder of its own that goes with it.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "mrc-dut-template-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw UsageError(fmt::format("cannot make a folder {}: {}.", name, std::strerror(errno)),
                       "Free some space, or set TMPDIR to a folder that you may write.");
    path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The sources, as CMake and Verilator are told of them.
struct Sources {
  std::vector<std::string> rtl;        ///< absolute
  std::vector<std::string> arguments;  ///< -F list, +incdir+folder
};

Sources sources_of(const Options& o) {
  Sources s;
  for (const std::string& file : o.files) {
    std::error_code error;
    const fs::path path = fs::canonical(file, error);
    if (error || fs::is_directory(path))
      throw UsageError(fmt::format("{} is {}.", file, error ? "not there" : "a folder"),
                       "Name the Verilog files of the module, or a list of them (.f).");
    const std::string kind = path.extension(), name = path.string();
    if (name.find_first_of("\"\\;$ \n'") != std::string::npos)
      throw UsageError(fmt::format("the path '{}' has a blank, or a character that CMake reads in its own way.", name),
                       "Move the sources, or name a link to them.");
    if (kind == ".v" || kind == ".sv" || kind == ".vlt") {
      s.rtl.push_back(name);
    } else if (kind == ".f") {
      s.arguments.push_back("-F " + name);
    } else if (kind == ".vh" || kind == ".svh") {
      const std::string word = "+incdir+" + path.parent_path().string();
      if (std::ranges::find(s.arguments, word) == s.arguments.end()) s.arguments.push_back(word);
    } else {
      throw UsageError(fmt::format("{} is no Verilog: its name ends in '{}'.", file, kind),
                       "Files are .v, .sv, .svh, .vh, .vlt, or .f for a list. C++ goes into the project by itself.");
    }
  }
  return s;
}

/// What Verilator makes of the sources: the header with the ports of the module.
std::string verilated(const Options& o, const Sources& sources) {
  const char* named = std::getenv("VERILATOR");
  const std::string verilator = named != nullptr && *named != 0 ? named : "verilator";
  const Scratch scratch;
  std::string command = fmt::format("exec {} --cc --no-timing -Wno-fatal --Mdir {} --prefix Vtop --top-module {}",
                                    quoted(verilator), quoted(scratch.path()), o.top);
  for (const std::string& argument : sources.arguments) command += " " + argument;  // no blanks in paths
  for (const std::string& file : sources.rtl) command += " " + quoted(file);
  std::string said;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> part;
  while (pipe != nullptr) {
    const std::size_t n = std::fread(part.data(), 1, part.size(), pipe);
    if (n == 0) break;
    if (said.size() < 1 << 20) said.append(part.data(), n);
  }
  const int status = pipe == nullptr ? -1 : ::pclose(pipe);
  if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126)
    throw UsageError(fmt::format("cannot run '{}', and the ports of {} come from it.", verilator, o.top),
                     "Install Verilator 5 (apt-get install verilator), or set VERILATOR to it.");
  if (said.find("was not found in design") != std::string::npos)
    throw UsageError(fmt::format("no module {} is in {}{}.", o.top, o.files.front(),
                                 o.files.size() > 1 ? fmt::format(" and {} more files", o.files.size() - 1) : ""),
                     "Say with --top how the module is called, and name the file that has it.");
  if (status != 0) {
    std::istringstream lines(said);
    std::string line, first;
    while (std::getline(lines, line) && first.empty())
      if (line.starts_with("%Error")) first = line;
    throw UsageError(
        fmt::format("Verilator does not take the sources: {}", with_full_stop(first.empty() ? said : first)),
        "Mend it, or name the files that are missing; --no-timing and -Wno-fatal are set.");
  }
  std::ifstream header(scratch.path() / "Vtop.h");
  return {std::istreambuf_iterator<char>(header), {}};
}

std::vector<Pin> pins_of(const std::string& header) {
  static const std::regex like(R"(VL_(IN|OUT|INOUT)(8|16|64|W)?\(&(\w+),(\d+),(\d+)(,\d+)?\))");
  std::vector<Pin> pins;
  for (std::sregex_iterator at(header.begin(), header.end(), like), end; at != end; ++at)
    pins.push_back(
        {(*at)[3], (*at)[1] == "IN", static_cast<unsigned>(std::stoul((*at)[4]) - std::stoul((*at)[5]) + 1)});
  return pins;
}

/// The input of one bit that is named so, or the only one whose name says so; empty: none, or several.
std::string input_of(const std::vector<Pin>& pins, const std::string& named, const char* option, const char* pattern) {
  const std::regex like(pattern, std::regex::icase);
  std::vector<std::string> found;
  std::string all;
  for (const Pin& pin : pins) {
    if (!pin.in || pin.bits != 1) continue;
    all += (all.empty() ? "" : ", ") + pin.name;
    if (named.empty() ? std::regex_search(pin.name, like) : pin.name == named) found.push_back(pin.name);
  }
  if (found.size() == 1) return found.front();
  if (!named.empty())
    throw UsageError(fmt::format("the module has no input {} of one bit.", named),
                     fmt::format("Give {} one of: {}.", option, all.empty() ? "there are none" : all));
  if (found.size() > 1)
    throw UsageError(fmt::format("the module has {} inputs that may be meant by {}: {}.", found.size(), option,
                                 fmt::join(found, ", ")),
                     fmt::format("Say which with {}.", option));
  return {};
}

std::string replaced(std::string text, const std::map<std::string, std::string>& words) {
  for (const auto& [word, value] : words) {
    for (std::size_t at = 0; (at = text.find("@" + word + "@", at)) != std::string::npos; at += value.size())
      text.replace(at, word.size() + 2, value);
  }
  return text;
}

std::string reset_function(const std::string& reset) {
  if (reset.empty()) return {};
  static const std::regex low_names("(_n|_ni|_b|_l|rstn|resetn)$", std::regex::icase);
  const bool low = std::regex_search(reset, low_names);
  return fmt::format(
      "  /// Active {}, as its name says.\n  void reset(unsigned cycles) {{\n    top_.{} = {};\n"
      "    while (cycles-- != 0) cycle();\n    top_.{} = {};\n  }}\n",
      low ? "low" : "high", reset, low ? 0 : 1, reset, low ? 1 : 0);
}

std::map<std::string, std::string> words_of(const Options& o, const Sources& sources, const std::vector<Pin>& pins) {
  const std::string clock = input_of(pins, o.clock, "--clock", "cl(oc)?k");
  if (clock.empty())
    throw UsageError(fmt::format("no input of {} is called like a clock.", o.top), "Say which it is with --clock.");
  const std::string reset = input_of(pins, o.reset, "--reset", "re?se?t");
  std::string list, files, arguments;
  for (const Pin& pin : pins) list += fmt::format("//   {} {:>5} {}\n", pin.in ? "in " : "out", pin.bits, pin.name);
  for (const std::string& file : sources.rtl) files += fmt::format("    \"{}\"\n", file);
  for (const std::string& argument : sources.arguments) arguments += " " + argument;
  if (!files.empty()) files.pop_back();
  return {{"NAME", o.name},
          {"TOP", o.top},
          {"CLOCK", clock},
          {"PERIOD", std::to_string(o.period)},
          {"PORTS", list},
          {"RESET", reset_function(reset)},
          {"RESET_WORDS", reset.empty() ? "no reset found (`--reset`)" : "reset `" + reset + "`"},
          {"SOURCES", files},
          {"ARGUMENTS", arguments}};
}

/// What the embedded files are called in a project.
using Names = std::map<std::string, const char*>;
const Names& verilog_files() {
  static const Names names{{"CMakeLists", "CMakeLists.txt"},
                           {"README", "README.md"},
                           {"dut", "dut.hpp"},
                           {"exports", "exports.cpp"},
                           {"nic", "nic.cpp"},
                           {"profile", "profile.json"},
                           {"shell", "shell.hpp"},
                           {"verilator", "verilator.vlt"}};
  return names;
}
const Names& c_files() {
  static const Names names{
      {"c_CMakeLists", "CMakeLists.txt"}, {"c_README", "README.md"},  {"c_nic", "nic.c"}, {"c_shell", "shell.h"},
      {"c_shell_source", "shell.c"},      {"profile", "profile.json"}};
  return names;
}
const Names& cpp_files() {
  static const Names names{{"cpp_CMakeLists", "CMakeLists.txt"}, {"cpp_README", "README.md"}, {"cpp_nic", "nic.cpp"},
                           {"exports", "exports.cpp"},           {"profile", "profile.json"}, {"shell", "shell.hpp"}};
  return names;
}
const Names& python_files() {
  static const Names names{{"python_nic", "nic.py"},
                           {"python_profile", "profile.json"},
                           {"python_readme", "README.md"},
                           {"python_shell", "shell.py"}};
  return names;
}

/// All files, or none.
void write_project(const fs::path& folder, const Names& names, const std::map<std::string, std::string>& words) {
  const fs::path parent = fs::absolute(folder).lexically_normal().parent_path();
  std::error_code error;
  fs::create_directories(parent, error);
  std::string beside = (parent / ".mrc-dut-template-XXXXXX").string();
  const auto fail = [&](const std::string& what) {
    const std::string why = std::strerror(errno);
    fs::remove_all(beside, error);
    throw UsageError(fmt::format("cannot write {}: {}.", what, why), "Name a folder in one that you may write.");
  };
  if (::mkdtemp(beside.data()) == nullptr) fail(folder.string());
  for (const EmbeddedFile& file : embedded_template()) {
    const auto name = names.find(file.name);
    if (name == names.end()) continue;
    const fs::path path = fs::path(beside) / name->second;
    std::ofstream out(path);
    out << replaced(file.text, words);
    out.close();
    if (!out) fail(path.filename().string());
  }
  fs::permissions(beside, fs::perms(0755), error);
  if (::rename(beside.c_str(), fs::absolute(folder).lexically_normal().c_str()) != 0) fail(folder.string());
}

/// How to build what was made, and to run it.
std::string next_steps(const Options& o, const std::string& name) {
  return fmt::format(
      "  cmake -S {0} -B {0}/build -DCMAKE_PREFIX_PATH=PREFIX && cmake --build {0}/build\n"
      "  {2} cosim --level L2 --preset tiny --dut {0}/build/lib{1}.so --scenario clean --packets 50\n",
      o.folder, name, o.program);
}

/// A project without Verilog, in the language of `option`.
void run_without_verilog(const Options& o, const char* option) {
  if (o.python + o.c + o.cpp != 1)
    throw UsageError("the project is in one language: --c, --cpp or --python.", "Leave out the others.");
  if (!o.files.empty() || !o.top.empty() || !o.clock.empty() || !o.reset.empty())
    throw UsageError(fmt::format("{} takes no Verilog: no files, --top, --clock or --reset.", option),
                     "Leave out the one or the other.");
  const std::string name = o.name.empty() ? "my_nic" : o.name;
  if (!is_name(name))
    throw UsageError(fmt::format("'{}' cannot be the name of a NIC.", name),
                     "--name takes letters, digits and _, a letter first.");
  write_project(o.folder, o.python ? python_files() : o.c ? c_files() : cpp_files(), {{"NAME", name}});
  if (o.python) {
    std::cout << fmt::format(
        "{0}: a NIC as a process. What only you can write is marked fill_in in nic.py.\n"
        "  {1} cosim --level L1 --preset tiny --dut \"python3 {0}/nic.py\" --scenario clean --packets 50\n",
        o.folder, o.program);
    return;
  }
  std::cout << fmt::format("{0}: a NIC as a shared object. What only you can write is marked {1}.\n", o.folder,
                           o.c ? "FILL_IN in nic.c" : "fill_in in nic.cpp")
            << next_steps(o, name);
}

void run(Options o) {
  while (o.folder.size() > 1 && o.folder.back() == '/') o.folder.pop_back();
  std::error_code error;
  if (fs::exists(fs::symlink_status(o.folder, error)) && (!fs::is_directory(o.folder) || !fs::is_empty(o.folder)))
    throw UsageError(fmt::format("{} {}, and nothing is overwritten.", o.folder,
                                 fs::is_directory(o.folder) ? "is not empty" : "is no folder"),
                     "Name a folder that does not exist yet.");
  if (o.python || o.c || o.cpp) return run_without_verilog(o, o.python ? "--python" : o.c ? "--c" : "--cpp");
  if (o.files.empty() || o.top.empty())
    throw UsageError("the module is not named, or no file of it.",
                     "Give --top and the Verilog files, or --c, --cpp or --python for a NIC without Verilog.");
  if (o.name.empty()) o.name = o.top;
  if (!is_name(o.top)) throw UsageError(fmt::format("'{}' is no name of a module.", o.top), "Give --top one.");
  if (!is_name(o.name))
    throw UsageError(fmt::format("'{}' cannot be the name of a library.", o.name),
                     "--name takes letters, digits and _, a letter first.");
  const Sources sources = sources_of(o);
  const std::vector<Pin> pins = pins_of(verilated(o, sources));
  write_project(o.folder, verilog_files(), words_of(o, sources, pins));
  std::cout
      << fmt::format(
             "{}: a project around module {} with {} ports. What only you can write is marked fill_in in nic.cpp.\n",
             o.folder, o.top, pins.size())
      << next_steps(o, o.name);
}

}  // namespace
}  // namespace dut_template_command

void register_dut_template(Command& app, Context& context) {
  using namespace dut_template_command;
  auto options = std::make_shared<Options>();
  Command& sub = app.command("dut-template", "make a project that puts a NIC of yours behind mrc_nic.h");
  sub.text("dir", options->folder, "the project's folder, which must not exist or be empty").required();
  sub.words("file", options->files, "Verilog (.v, .sv, .svh), a list of it (.f)").called("FILE");
  sub.text("--top", options->top, "the NIC's module");
  sub.flag("--c", options->c, "a NIC without Verilog, in C");
  sub.flag("--cpp", options->cpp, "a NIC without Verilog, in C++");
  sub.flag("--python", options->python, "a NIC that speaks JSON lines, in Python with its standard library alone");
  sub.text("--name", options->name, "of the library; the module's unless given");
  sub.text("--clock", options->clock, "input that is the clock, if there are several");
  sub.text("--reset", options->reset, "input that is the reset, if there are several");
  sub.number("--period", options->period, 1, 1'000'000, "of the clock in ps");
  sub.footer(kFooter);
  sub.action([options, &context] {
    options->program = context.program;
    run(*options);
    context.exit_code = kPass;
  });
}

}  // namespace mrc::cli
