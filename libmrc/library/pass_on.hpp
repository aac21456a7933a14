// SPDX-License-Identifier: Apache-2.0
/// The library behind this one, for objects that are not ours.
#pragma once

#include <dlfcn.h>

#include <cerrno>

namespace mrc::libmrc {

/// Its function of that name; null: there is none.
template <class Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <class R, class... Args>
R pass_on(const char* name, R otherwise, Args... args) {
  using Function = R(Args...);
  if (auto* function = behind<Function>(name)) return function(args...);
  errno = ENOSYS;
  return otherwise;
}

}  // namespace mrc::libmrc
