// SPDX-License-Identifier: Apache-2.0
#include "tests/fpga/first_run/bring_up.hpp"

#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace mrc {
namespace {

std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

/// A line without its comment and the blanks at its end.
std::string bare(std::string line) {
  if (!line.empty() && line[0] == '#') return {};
  if (const auto at = line.find("   #"); at != std::string::npos) line.resize(at);
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::optional<uint32_t> number(const std::string& text) {
  try {
    std::size_t used = 0;
    const unsigned long long value = std::stoull(text, &used, 0);
    if (used == text.size() && value <= 0xffffffff) return static_cast<uint32_t>(value);
  } catch (const std::exception&) {
  }
  return {};
}

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  BringUpList read() {
    std::ifstream file(path_);
    if (!file) fail("cannot be read");
    for (std::string line; std::getline(file, line);) {
      ++line_;
      rest_ = std::istringstream(bare(line));
      std::string key;
      if (rest_ >> key) take(key);
    }
    return std::move(list_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_ + ":" + std::to_string(line_) + ": " + what);
  }
  std::string word() {
    std::string text;
    if (!(rest_ >> text)) fail("a word is missing");
    return text;
  }
  std::string text() {
    std::string all;
    std::getline(rest_ >> std::ws, all);
    return all;
  }
  std::string value() {
    std::string text = word();
    if (text[0] == '$' ? !list_.constants.contains(text.substr(1)) : !number(text)) fail("'" + text + "' is no number");
    return text;
  }
  RegisterAt at() {
    RegisterAt at;
    at.text = word();
    const auto colon = at.text.find(':');
    const auto offset = colon == std::string::npos ? std::nullopt : number(at.text.substr(colon + 1));
    if (!offset || *offset % 4 != 0) fail("'" + at.text + "' is no register");
    at.offset = *offset;
    at.block = at.text.substr(0, colon);
    if (const auto dot = at.block.find('.'); dot != std::string::npos) {
      const auto n = number(at.block.substr(dot + 1));
      if (!n) fail("'" + at.text + "' is no register");
      at.number = *n;
      at.block.resize(dot);
    }
    if (at.block.size() != 4) fail("'" + at.text + "' is no register");
    return at;
  }
  void take(const std::string& key) {
    if (key == "const") {
      const std::string name = word();
      list_.constants[name] = *number(value());
      return;
    }
    if (key == "step") {
      list_.steps.emplace_back().name = text();
      return;
    }
    if (list_.steps.empty()) fail("'" + key + "' stands in no step");
    BringUpStep& step = list_.steps.back();
    if (key == "shows" || key == "fails") {
      std::string& all = key == "shows" ? step.shows : step.fails;
      if (!all.empty()) all += ' ';
      all += text();
    } else if (key == "look") {
      const RegisterAt where = at();
      step.looks.emplace_back(where, text());
    } else {
      step.accesses.push_back(access(key));
    }
  }
  Access access(const std::string& key) {
    static const std::map<std::string, Access::Kind> kinds{
        {"write", Access::Kind::Write}, {"expect", Access::Kind::Expect}, {"most", Access::Kind::Most},
        {"least", Access::Kind::Least}, {"poll", Access::Kind::Poll},     {"show", Access::Kind::Show}};
    const auto kind = kinds.find(key);
    if (kind == kinds.end()) fail("'" + key + "' is not known");
    Access access;
    access.kind = kind->second;
    access.at = at();
    if (access.kind == Access::Kind::Show) {
      access.what = text();
      return access;
    }
    if (access.kind == Access::Kind::Expect || access.kind == Access::Kind::Poll) access.mask = value();
    access.value = value();
    if (access.kind == Access::Kind::Poll) access.limit = value();
    if (!text().empty()) fail("a word too many");
    return access;
  }

  std::string path_;
  unsigned line_ = 0;
  std::istringstream rest_;
  BringUpList list_;
};

/// A board with its map.
class Runner {
 public:
  Runner(const BringUpList& list, const BringUpBoard& board, const std::function<void(uint32_t)>& wait)
      : bus_(*board.bus), constants_(board.constants), wait_(wait) {
    constants_.insert(list.constants.begin(), list.constants.end());
  }

  void walk() {
    uint32_t at = 0;
    do {
      const uint32_t id = bus_.read(static_cast<uint16_t>(at));
      std::string name;
      for (int i = 3; i >= 0; --i) name += static_cast<char>(id >> 8 * i & 0xff);
      blocks_[name].push_back(at);
      const uint32_t next = bus_.read(static_cast<uint16_t>(at + 0xc));
      if (next != 0 && next <= at) throw std::runtime_error("the list of blocks goes back");
      at = next;
    } while (at != 0);
  }
  uint32_t read(const RegisterAt& at) { return bus_.read(place(at)); }

  /// "" or what is not as it should be.
  std::string run(const Access& access, BringUpResult& result) {
    using Kind = Access::Kind;
    if (access.kind == Kind::Write) {
      bus_.write(place(access.at), value(access.value));
      return {};
    }
    uint32_t got = read(access.at);
    if (access.kind == Kind::Show) {
      result.shown[access.at.text] = got;
      result.said.push_back("  " + access.at.text + " = " + hex(got) + "  " + access.what);
      return {};
    }
    const uint32_t wanted = value(access.value);
    const uint32_t mask = access.mask.empty() ? 0xffffffff : value(access.mask);
    if (access.kind == Kind::Poll) {
      const uint32_t limit = value(access.limit);
      for (uint32_t waited = 0, pause = 1; (got & mask) != wanted && waited < limit; waited += pause, pause *= 2) {
        wait_(pause);
        got = read(access.at);
      }
    }
    const bool good = access.kind == Kind::Most    ? got <= wanted
                      : access.kind == Kind::Least ? got >= wanted
                                                   : (got & mask) == wanted;
    if (good) return {};
    return access.at.text + " is " + hex(got) + ", " +
           (access.kind == Kind::Most    ? "at most "
            : access.kind == Kind::Least ? "at least "
                                         : "wanted ") +
           hex(wanted) + " of bits " + hex(mask);
  }

 private:
  uint32_t value(const std::string& text) const {
    return text[0] == '$' ? constants_.at(text.substr(1)) : *number(text);
  }
  uint16_t place(const RegisterAt& at) const {
    const auto found = blocks_.find(at.block);
    if (found == blocks_.end() || at.number >= found->second.size()) {
      throw std::runtime_error("the board has no block " + at.text);
    }
    return static_cast<uint16_t>(found->second[at.number] + at.offset);
  }

  RegisterBus& bus_;
  std::map<std::string, uint32_t> constants_;
  const std::function<void(uint32_t)>& wait_;
  std::map<std::string, std::vector<uint32_t>> blocks_;
};

}  // namespace

BringUpList read_bring_up(const std::string& path) { return Reader(path).read(); }

BringUpResult run_bring_up(const BringUpList& list, const std::vector<BringUpBoard>& boards,
                           const std::function<void(uint32_t)>& wait) {
  BringUpResult result;
  std::vector<Runner> runners;
  runners.reserve(boards.size());
  for (const BringUpBoard& board : boards) runners.emplace_back(list, board, wait);
  bool walked = false;
  for (const BringUpStep& step : list.steps) {
    result.said.push_back("step: " + step.name);
    std::string wrong;
    Runner* where = nullptr;
    try {
      for (std::size_t i = 0; !walked && i < runners.size(); ++i) (where = &runners[i])->walk();
      walked = true;
      for (const Access& access : step.accesses) {
        for (std::size_t i = 0; wrong.empty() && i < runners.size(); ++i)
          wrong = (where = &runners[i])->run(access, result);
        if (!wrong.empty()) break;
      }
    } catch (const std::runtime_error& error) {
      wrong = error.what();
    }
    if (wrong.empty()) continue;
    result.failed = step.name;
    result.said.push_back("  FAILED: " + wrong);
    result.said.push_back("  should show: " + step.shows);
    result.said.push_back("  look at: " + step.fails);
    for (const auto& [at, text] : step.looks) {
      try {
        const uint32_t value = where->read(at);
        result.looks[at.text] = value;
        result.said.push_back("  " + at.text + " = " + hex(value) + "  " + text);
      } catch (const std::runtime_error& error) {
        result.said.push_back("  " + at.text + ": " + error.what());
      }
    }
    break;
  }
  return result;
}

}  // namespace mrc
