// SPDX-License-Identifier: Apache-2.0
/// Errors as values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace mrc::wire {

/// Why an input cannot be used.
struct Error {
  std::string input;    ///< name of the file or argument
  uint64_t offset = 0;  ///< byte in it
  std::string what;     ///< one sentence without full stop
  std::string remedy;   ///< what the user can do, a sentence with full stop

  /// "capture.pcapng: byte 24: block length 3 is not a multiple of 4"
  std::string sentence() const { return input + ": byte " + std::to_string(offset) + ": " + what; }
};

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
