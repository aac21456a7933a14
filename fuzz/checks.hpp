// SPDX-License-Identifier: Apache-2.0
/// What every reader promises: a value within its ranges, or an error with one sentence and a remedy.
#pragma once

#include <cstdlib>
#include <string_view>

#include "input/toml.hpp"

namespace mrc::fuzz {

inline void must(bool good) {
  if (!good) std::abort();
}

/// One line that ends, without control characters.
inline void must_be_a_sentence(std::string_view text) {
  must(!text.empty() && (text.back() == '.' || text.back() == '?'));
  for (const char c : text) must(static_cast<unsigned char>(c) >= ' ');
}

/// Runs a reader; its error must be one that users can do something with.
template <class Read>
void refuses_or_reads(Read read) {
  try {
    read();
  } catch (const InputError& error) {
    must_be_a_sentence(error.what());
    must_be_a_sentence(error.remedy);
  }
}

/// Every number of `t` is one that its key may have.
template <class T>
void must_be_in_range(std::span<const input::Key<T>> keys, T t, const T& untouched) {
  T plain = untouched;
  for (const input::Key<T>& k : keys) {
    if (k.number || k.whole) must(k.range().has(k.value(t)) || k.value(t) == k.value(plain));
  }
}

}  // namespace mrc::fuzz
