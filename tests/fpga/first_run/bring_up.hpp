// SPDX-License-Identifier: Apache-2.0
/// Lists of fpga/bring_up: reads one, and runs it on boards. On several boards each access is done on all of them, one
/// after the other, before the next one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mrc {

/// A register: the `number`-th block with this name, and an offset there.
struct RegisterAt {
  std::string block, text;  ///< text: as the list has it
  unsigned number = 0;
  uint32_t offset = 0;
};

struct Access {
  enum class Kind : uint8_t { Write, Expect, Most, Least, Poll, Show };
  Kind kind = Kind::Show;
  RegisterAt at;
  std::string mask, value, limit, what;  ///< numbers, or $NAME
};

struct BringUpStep {
  std::string name, shows, fails;
  std::vector<std::pair<RegisterAt, std::string>> looks;
  std::vector<Access> accesses;
};

struct BringUpList {
  std::map<std::string, uint32_t> constants;
  std::vector<BringUpStep> steps;
};

/// Throws std::runtime_error with file, line and what is wrong.
BringUpList read_bring_up(const std::string& path);

/// A board's registers. A refused access (an answer that is not OKAY) throws std::runtime_error.
class RegisterBus {
 public:
  virtual ~RegisterBus() = default;
  virtual uint32_t read(uint16_t at) = 0;
  virtual void write(uint16_t at, uint32_t value) = 0;
};

struct BringUpBoard {
  RegisterBus* bus = nullptr;
  std::map<std::string, uint32_t> constants;  ///< in place of the list's
};

struct BringUpResult {
  std::string failed;                     ///< name of the step, "": none
  std::vector<std::string> said;          ///< what a person would read
  std::map<std::string, uint32_t> looks;  ///< of the step that failed, on the board where it did: text of AT, value
  std::map<std::string, uint32_t> shown;  ///< text of AT, newest value of board 0
};

/// `wait` lets so many microseconds pass, at least; it is asked between two reads of a poll.
BringUpResult run_bring_up(const BringUpList& list, const std::vector<BringUpBoard>& boards,
                           const std::function<void(uint32_t)>& wait);

}  // namespace mrc
