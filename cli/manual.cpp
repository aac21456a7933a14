// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <regex>
#include <sstream>
#include <string_view>
#include <utility>

#include "cli/context.hpp"

namespace mrc::cli {

std::span<const Group> groups() {
  static const std::vector<Group> all{
      {"start", "what is there, and how it is used", {"doctor", "help"}},
      {"run", "RTL and model in lockstep", {"cosim", "bench", "replay-pins", "shrink"}},
      {"judge",
       "any NIC against the rules of MRC",
       {"check", "profile", "replay", "vectors", "script", "rule-coverage", "mutate"}},
      {"look", "packets and logs", {"decode", "encode", "log", "picture"}},
      {"network", "NICs between switches", {"fabric", "topo", "nscc"}},
      {"programs", "NICs for programs that are written for MRC", {"host", "api"}},
      {"device", "NICs that a tester drives, ours and yours", {"nic", "tester", "ports", "dut-template"}},
      {"rtl",
       "what the RTL is, costs and keeps",
       {"lint", "export-verilog", "state", "depth", "prove", "fpga", "gates"}},
      {"tests", "everything again, what it reached, and packages of it", {"test", "regress", "coverage", "package"}},
  };
  return all;
}

namespace {

const Command* found(const Command& root, std::string_view name) {
  for (const Command& command : root.commands()) {
    if (command.name() == name) return &command;
  }
  return nullptr;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::vector<std::string> names_of_option(const Option& option) {
  std::vector<std::string> names;
  std::istringstream in(option.names);
  for (std::string name; std::getline(in, name, ',');) names.push_back(name);
  return names;
}

bool takes_value(const Option& option) { return !option.is_flag; }

std::string value_of(const Option& option) {
  if (!option.value.empty()) return option.value;
  return option.is_exclusive ? fmt::format("{}", fmt::join(option.choices, "|")) : "TEXT";
}

/// Calls `each` with every command below root and the words that lead to it.
void for_each(const Command& at, const std::vector<std::string>& path,
              const std::function<void(const Command&, const std::vector<std::string>&)>& each) {
  each(at, path);
  for (const Command& below : at.commands()) {
    std::vector<std::string> longer = path;
    longer.push_back(below.name());
    for_each(below, longer, each);
  }
}

}  // namespace

std::string group_lines(const Command& root, const Group& group) {
  std::string text;
  for (const char* name : group.commands) {
    if (const Command* command = found(root, name))
      text +=
          fmt::format("  {:<8} {:<15} {}\n", name == group.commands.front() ? group.name : "", name, command->doc());
  }
  return text;
}

std::string overview(const Command& root) {
  std::string text = root.doc() + R"(

  mrc doctor               is everything there that commands need?
  mrc cosim --preset tiny  RTL and model in lockstep: what mrc is about, in seconds
  mrc check run.mrclog     any NIC against the rules of MRC, from a log (cosim --record) or capture

)";
  for (const Group& group : groups()) text += group_lines(root, group);
  return text + R"(
  mrc COMMAND --help       options and examples of a command
  mrc help TOPIC           a command, a group, exit-codes, presets, scenarios, profiles, environment
  mrc --version            what this was built from
)";
}

void learn(Command& command, const std::string& help) {
  static const std::regex entry(R"(^ {2,4}(\S.*?)(?: {2,}(\S.*))?$)");
  std::string description, section;
  std::string* last_doc = nullptr;
  bool usage = true;
  for (const std::string& line : lines_of(help)) {
    if (usage) {  // to the first empty line
      usage = !line.empty();
      continue;
    }
    if (line == "options:" || line == "positional arguments:") {
      section = line;
      continue;
    }
    if (!line.empty() && line.front() != ' ') section = "text";
    std::smatch match;
    if (section.empty() || section == "text") {
      if (line.starts_with("Example: "))
        description += "Examples:\n  " + line.substr(9) + '\n';
      else
        description += line + '\n';
    } else if (line.size() > 6 && line.find_first_not_of(' ') > 5) {
      if (last_doc != nullptr) *last_doc += (last_doc->empty() ? "" : " ") + line.substr(line.find_first_not_of(' '));
    } else if (std::regex_match(line, match, entry)) {
      Option option{.names = {}, .doc = match[2]};
      std::istringstream words(match[1]);
      for (std::string word; words >> word;) {
        if (word.ends_with(',')) word.pop_back();
        if (word.front() == '-') {
          option.names += (option.names.empty() ? "" : ",") + word;
        } else if (option.names.empty() && word.front() != '{') {
          option.names = word;
          option.value = word;
        } else {
          option.value = word;
        }
      }
      if (option.names == "-h,--help") continue;
      if (option.value.starts_with('{') && option.value.ends_with('}')) {
        std::istringstream values(option.value.substr(1, option.value.size() - 2));
        for (std::string value; std::getline(values, value, ',');) option.choices.push_back(value);
        option.is_exclusive = true;
        option.value.clear();
      }
      last_doc = nullptr;
      if (option.names.empty() && option.doc.empty()) continue;  // {lint,run}: a line for each follows
      if (section == "positional arguments:" && line.starts_with("    ")) {
        command.command(option.names, option.doc).footer({});
        continue;
      }
      if (option.names.empty()) option.names = fmt::format("{}", fmt::join(option.choices, "|"));
      if (option.value.empty() && option.choices.empty()) option.is_flag = true;
      last_doc = &command.options().emplace_back(std::move(option)).doc;
    }
  }
  command.footer(description);
}

// --- manual pages ---

namespace {

std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  return out;
}

/// Lines as they are.
std::string verbatim(const std::vector<std::string>& lines) {
  std::string text = ".nf\n";
  for (const std::string& line : lines)
    text += (line.starts_with('.') || line.starts_with('\'') ? "\\&" : "") + roff(line) + '\n';
  return text + ".fi\n";
}

void trim(std::vector<std::string>& lines) {
  while (!lines.empty() && lines.front().empty()) lines.erase(lines.begin());
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
}

std::string page(const Command& command, const std::vector<std::string>& path, const std::string& version) {
  const std::string name = fmt::format("mrc{}{}", path.empty() ? "" : "-", fmt::join(path, "-"));
  std::string text =
      fmt::format(".\\\" Written by mrc help --man.\n.TH {} 1 \"\" \"mrcnic {}\" mrcnic\n.SH NAME\n{} \\- {}\n",
                  roff(name), version, roff(name), roff(command.doc()));
  text += fmt::format(".SH SYNOPSIS\n.B mrc {}\n", roff(joined(path)));
  if (!command.commands().empty()) text += path.empty() ? ".I COMMAND\n" : ".I SUBCOMMAND\n";
  text += "[\\fIOPTION\\fR]...\n";
  for (const Option& option : command.options()) {
    if (option.positional())
      text += fmt::format("{0}{1}{2}{3}\n", option.is_required ? "" : "[", roff(option.names),
                          option.words != nullptr ? "..." : "", option.is_required ? "" : "]");
  }
  // The footer: words before and behind the examples.
  std::vector<std::string> words, examples;
  bool in_examples = false;
  for (const std::string& line : lines_of(command.footer())) {
    if (line == "Examples:")
      in_examples = true;
    else if (in_examples && !line.starts_with("  "))
      in_examples = false;
    if (line == "Examples:") continue;
    (in_examples ? examples : words).push_back(in_examples ? line.substr(2) : line);
  }
  trim(words);
  if (!words.empty()) text += ".SH DESCRIPTION\n" + verbatim(words);
  if (!command.commands().empty()) {
    text += ".SH COMMANDS\n";
    for (const Command& below : command.commands())
      text += fmt::format(".TP\n.B {}\n{}\n", roff(below.name()), below.doc().empty() ? "\\&" : roff(below.doc()));
  }
  text += ".SH OPTIONS\n.TP\n.B \\-h, \\-\\-help\nprint help and exit\n";
  if (path.empty()) text += fmt::format(".TP\n.B \\-\\-version\n{}\n", kVersionDoc);
  for (const Option& option : command.options()) {
    text += ".TP\n.B " + roff(fmt::format("{}", fmt::join(names_of_option(option), ", ")));
    if (takes_value(option) && !option.positional())
      text += fmt::format(" \\fI{}{}\\fR", roff(value_of(option)), option.words != nullptr ? " ..." : "");
    text += '\n';
    std::string doc = option.doc;
    std::replace(doc.begin(), doc.end(), '\n', ' ');
    text += (doc.empty() ? "\\&" : doc.front() == '.' || doc.front() == '\'' ? "\\&" + roff(doc) : roff(doc)) + '\n';
    if (!option.preset.empty()) text += roff("(default " + option.preset + ")") + '\n';
  }
  if (!examples.empty()) text += ".SH EXAMPLES\n" + verbatim(examples);
  text += ".SH EXIT STATUS\n";
  int code = 0;
  for (const char* meaning : kExitCodes) text += fmt::format(".TP\n{}\n{}\n", code++, roff(meaning));
  text += ".SH SEE ALSO\n";
  return text + (path.empty() ? ".BR mrc\\-help (1)\n" : ".BR mrc (1)\n");
}

}  // namespace

std::vector<Page> manual_pages(const Command& root, const std::string& version) {
  std::vector<Page> pages;
  for_each(root, {}, [&](const Command& command, const std::vector<std::string>& path) {
    pages.push_back(
        {fmt::format("mrc{}{}", path.empty() ? "" : "-", fmt::join(path, "-")), page(command, path, version)});
  });
  return pages;
}

// --- completion ---

namespace {

/// What may stand behind a command: commands below it, options.
std::vector<std::string> words_of(const Command& command, bool root) {
  std::vector<std::string> words;
  for (const Command& below : command.commands()) words.push_back(below.name());
  for (const Option& option : command.options()) {
    if (!option.positional()) std::ranges::copy(names_of_option(option), std::back_inserter(words));
    if (option.positional()) std::ranges::copy(option.choices, std::back_inserter(words));
  }
  words.emplace_back("--help");
  if (root) words.emplace_back("--version");
  return words;
}

std::string quoted(const std::string& text, std::string_view specials) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += ' ';
    } else {
      if (specials.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

/// Single quotes of zsh and bash: none inside.
std::string in_quotes(const std::string& text) {
  return '\'' + std::regex_replace(text, std::regex("'"), "'\\''") + '\'';
}

}  // namespace

std::string bash_completion(const Command& root) {
  std::string paths, values, words;
  for_each(root, {}, [&](const Command& command, const std::vector<std::string>& path) {
    const std::string where = joined(path);
    if (!path.empty()) paths += fmt::format("{}\"{}\"", paths.empty() ? "" : " | ", where);
    words +=
        fmt::format("        {}) words={} ;;\n", in_quotes(where), in_quotes(joined(words_of(command, path.empty()))));
    for (const Option& option : command.options()) {
      if (option.positional() || !takes_value(option) || option.is_optional) continue;
      std::string cases;
      for (const std::string& name : names_of_option(option))
        cases += fmt::format("{}{}", cases.empty() ? "" : " | ", in_quotes(fmt::format("{} {}", where, name)));
      values += fmt::format("    {}) words={} ;;\n", cases, in_quotes(joined(option.choices)));
    }
  });
  return fmt::format(R"(# bash completion of mrc. Written by mrc help --completion bash.
_mrc() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command= words= i
  # --option=value comes as three words
  if [ "$current" = = ]; then
    current=
  elif [ "$previous" = = ]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{command:+$command }}${{COMP_WORDS[i]}}" in
      {}) command="${{command:+$command }}${{COMP_WORDS[i]}}" ;;
      *) break ;;
    esac
  done
  case "$command $previous" in
{}    *)
      case $command in
{}      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o bashdefault -o default -F _mrc mrc
)",
                     paths, values, words);
}

std::string zsh_completion(const Command& root) {
  std::string paths, cases;
  for_each(root, {}, [&](const Command& command, const std::vector<std::string>& path) {
    const std::string where = joined(path);
    if (!path.empty()) paths += fmt::format("{}{}", paths.empty() ? "" : "|", in_quotes(where));
    std::string known;
    for (const Command& below : command.commands())
      known += ' ' + in_quotes(below.name() + ':' + quoted(below.doc(), ":\\"));
    std::string specs;
    const auto spec = [&](const std::string& text) { specs += " \\\n        " + in_quotes(text); };
    spec("--help[print help and exit]");
    if (path.empty()) spec(fmt::format("--version[{}]", kVersionDoc));
    for (const Option& option : command.options()) {
      if (option.positional()) continue;
      for (const std::string& name : names_of_option(option)) {
        const std::string doc = quoted(option.doc, "[]:\\");
        std::string text = fmt::format("{}{}{}[{}]", option.words != nullptr ? "*" : "", name,
                                       !takes_value(option)     ? ""
                                       : name.starts_with("--") ? "="
                                                                : "+",
                                       doc);
        if (takes_value(option))
          text += option.choices.empty() ? std::string(":value:_files")
                                         : fmt::format(":value:({})", fmt::join(option.choices, " "));
        spec(text);
      }
    }
    std::vector<std::string> choices;
    for (const Option& option : command.options()) {
      if (option.positional()) std::ranges::copy(option.choices, std::back_inserter(choices));
    }
    if (known.empty()) spec(choices.empty() ? "*:file:_files" : fmt::format("*:word:({})", fmt::join(choices, " ")));
    cases += fmt::format("    {})\n", in_quotes(where));
    if (!known.empty())
      cases += fmt::format("      known=({})\n      _describe -t commands command known\n", known.substr(1));
    cases += fmt::format("      _arguments -S{}\n      ;;\n", specs);
  });
  return fmt::format(R"(#compdef mrc
# zsh completion of mrc. Written by mrc help --completion zsh.
_mrc() {{
  local command= word
  local -a known
  for word in ${{words[2,CURRENT-1]}}; do
    case "${{command:+$command }}$word" in
      {}) command="${{command:+$command }}$word" ;;
      *) break ;;
    esac
  done
  case $command in
{}  esac
}}
_mrc "$@"
)",
                     paths, cases);
}

std::string fish_completion(const Command& root) {
  std::string text = R"(# fish completion of mrc. Written by mrc help --completion fish.
function __mrc_at # COMMAND...: the words so far lead to this command
    set -l words (commandline -opc)
    set -e words[1]
    set -l depth (count $argv)
    if test $depth -eq 0
        test (count $words) -eq 0
        return
    end
    test (count $words) -ge $depth; and test "$words[1..$depth]" = "$argv"
end
)";
  for_each(root, {}, [&](const Command& command, const std::vector<std::string>& path) {
    const std::string at = fmt::format("complete -c mrc -n '__mrc_at {}'", fmt::join(path, " "));
    const auto doc = [](const std::string& words) { return '\'' + quoted(words, "'\\") + '\''; };
    for (const Command& below : command.commands())
      text += fmt::format("{} -f -a {} -d {}\n", at, below.name(), doc(below.doc()));
    text += fmt::format("{} -l help -d 'print help and exit'\n", at);
    for (const Option& option : command.options()) {
      if (option.positional()) {
        if (!option.choices.empty()) text += fmt::format("{} -a '{}'\n", at, fmt::join(option.choices, " "));
        continue;
      }
      std::string line = at;
      for (const std::string& name : names_of_option(option))
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty())
        line += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      else if (takes_value(option))
        line += " -r";
      text += fmt::format("{} -d {}\n", line, doc(option.doc));
    }
  });
  return text + fmt::format("complete -c mrc -n '__mrc_at' -l version -d '{}'\n", kVersionDoc);
}

}  // namespace mrc::cli
