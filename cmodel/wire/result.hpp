// SPDX-License-Identifier: Apache-2.0
/// Errors as values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "input/error.hpp"

namespace mrc::wire {

/// Why an input cannot be used.
struct Error {
  std::string input;              ///< name of the file or argument
  uint64_t offset = 0;            ///< byte in it
  std::string what;               ///< one sentence without full stop
  std::string remedy;             ///< what the user can do, a sentence with full stop
  uint32_t line = 0, column = 0;  ///< of texts, from 1 on; else 0

  /// "capture.pcapng: byte 24: block length 3 is not a multiple of 4", "packets.json:3:7: not valid JSON"
  std::string sentence() const {
    if (line == 0) return input + ": byte " + std::to_string(offset) + ": " + what;
    return input + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + what;
  }
};

/// What a reader of a text threw, as a value. `input` is the name it was given.
inline Error error_of(const InputError& error, const std::string& input, uint64_t offset) {
  Error out{input, offset, error.what(), error.remedy, error.line, error.column};
  const std::string place =
      error.line == 0 ? input + ": " : Error{input, 0, {}, {}, error.line, error.column}.sentence();
  if (out.what.starts_with(place)) out.what.erase(0, place.size());
  if (out.what.ends_with('.')) out.what.pop_back();
  return out;
}

/// A value or an Error.
template <class T>
class Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace mrc::wire
