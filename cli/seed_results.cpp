// SPDX-License-Identifier: Apache-2.0
#include "cli/seed_results.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "cli/context.hpp"
#include "cli/version.hpp"

namespace mrc::cli {
namespace {

using input::Json;

/// A text without its numbers, decimal or 0x..., so that failures of one kind have one.
std::string without_numbers(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size();) {
    const auto is = [&](const char* set) { return i < text.size() && std::strchr(set, text[i]) != nullptr; };
    const bool hex = text.compare(i, 2, "0x") == 0;
    if (hex) i += 2;
    const std::size_t begin = i;
    while (is(hex ? "0123456789abcdef" : "0123456789")) ++i;
    if (hex || i != begin) {
      plain += '#';
    } else {
      plain += text[i++];
    }
  }
  return plain;
}

const char* word_of(int exit_code) {
  switch (exit_code) {
    case kPass:
      return "pass";
    case kHang:
      return "hang";
    case kUnsupported:
      return "unsupported";
    case kInconclusive:
      return "inconclusive";
    default:
      return "fail";  // kUsage as well: the device ended, or the evidence is broken
  }
}

/// Rules of the judge that were broken with this verdict, each once.
Json rules_of(const Json& result, std::string_view verdict) {
  Json rules = Json::array();
  const Json* judge = result.find("judge");
  const Json* findings = judge == nullptr ? nullptr : judge->find("findings");
  if (findings == nullptr) return rules;
  for (const Json& finding : findings->items) {
    const std::string& rule = finding.text_of("rule");
    const auto is = [&](const Json& known) { return known.text == rule; };
    if (finding.text_of("verdict") == verdict && std::ranges::none_of(rules.items, is)) rules.push_back(rule);
  }
  return rules;
}

}  // namespace

std::string signature_of(const Json& result) {
  const std::string& outcome = result.text_of("result");
  if (outcome == "pass") return "";
  if (const Json* d = result.find("divergence")) {
    const Json* differences = d->find("differences");
    const bool none = differences == nullptr || differences->items.empty();
    return d->text_of("block") + (none ? "" : "." + differences->items[0].text_of("field"));
  }
  if (const Json* a = result.find("failed_assertion")) return "assertion " + a->text_of("name");
  for (const char* verdict : {"fail", "deviates"}) {
    const bool requested = verdict == std::string_view("fail") || outcome == verdict;
    const Json rules = rules_of(result, verdict);
    if (requested && !rules.items.empty()) return rules.items.front().text;
  }
  if (const Json* p = result.find("problem")) {
    const std::string& block = p->text_of("block");
    return outcome + ": " + (block.empty() ? without_numbers(p->text_of("text")) : block);
  }
  return outcome;
}

SeedResults::SeedResults(const std::string& path) : path_(path) {
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("cannot open", errno);
  try {
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      throw UsageError("another run is writing the results " + path + ".", "Wait for it, or name another file.");
    }
    read_seeds();
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

SeedResults::~SeedResults() { ::close(fd_); }

void SeedResults::fail(const std::string& what, int why) const {
  throw UsageError(fmt::format("{} the results {}: {}.", what, path_, std::strerror(why)),
                   "Free some space, or name a file that may be written; seeds that have a line are not run again.");
}

void SeedResults::read_seeds() {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::pread(fd_, buffer, sizeof buffer, static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read", errno);
    if (got == 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  size_t begin = 0;
  for (unsigned number = 1;; ++number) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    const auto line = input::parse_json(std::string_view(text).substr(begin, end - begin));
    if (const Json* made_by = line && line->find("seed") == nullptr ? line->find("versions") : nullptr) {
      made_by_ = made_by->dump();
      begin = end + 1;
      continue;
    }
    const Json* of = line ? line->find("seed") : nullptr;
    const auto seed = of != nullptr ? of->whole() : std::nullopt;
    if (!seed) {
      throw UsageError(fmt::format("{}:{} is no line of results.", path_, number),
                       "Name a file that 'mrc cosim --results' wrote, or one that does not exist.");
    }
    seeds_.insert(*seed);
    begin = end + 1;
  }
  size_ = static_cast<int64_t>(begin);
  if (begin != text.size() && ::ftruncate(fd_, size_) != 0) fail("cannot cut", errno);
}

void SeedResults::add(uint64_t seed, int exit_code, const Json& result) {
  Json line;
  line["seed"] = seed;
  const bool deviates = exit_code == kPass && result.text_of("result") == "deviates";
  line["result"] = deviates ? "deviates" : word_of(exit_code);
  line["exit_code"] = exit_code;
  const auto member = [&](const char* name, const Json& otherwise) {
    const Json* found = result.find(name);
    return found != nullptr ? *found : otherwise;
  };
  line["seconds"] = member("seconds", 0.0);
  line["packets"] = member("data_packets", 0);
  for (const char* name : {"cycles", "drawn", "reason", "bins"}) {
    const bool wanted = std::string_view(name) != "bins" || exit_code == kPass;
    if (const Json* found = result.find(name); found != nullptr && wanted) line[name] = *found;
  }
  line["signature"] = signature_of(result);
  for (const auto& [name, verdict] : {std::pair("rules", "fail"), std::pair("deviations", "deviates")}) {
    Json rules = rules_of(result, verdict);
    if (!rules.items.empty()) line[name] = std::move(rules);
  }
  line["repro"] = result.text_of("repro");
  Json made_by;
  made_by["versions"] = versions();
  if (made_by_ != made_by["versions"].dump()) write(made_by);
  made_by_ = made_by["versions"].dump();
  write(line);
  seeds_.insert(seed);
}

/// The whole line, or none of it.
void SeedResults::write(const Json& line) {
  const std::string text = line.dump() + "\n";
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t got = ::write(fd_, text.data() + written, text.size() - written);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const int why = errno;
      if (::ftruncate(fd_, size_) != 0) fail("cannot cut", errno);
      fail("cannot write", why);
    }
    written += static_cast<size_t>(got);
  }
  if (::fdatasync(fd_) != 0 && errno != EINVAL) fail("cannot write", errno);  // EINVAL: a pipe, a device
  size_ += static_cast<int64_t>(text.size());
}

}  // namespace mrc::cli
