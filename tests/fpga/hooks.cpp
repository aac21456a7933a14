// SPDX-License-Identifier: Apache-2.0
#include "tests/fpga/hooks.hpp"

#include <cstdarg>
#include <cstdio>
#include <utility>

#include "tb/dut/verilated_hooks.h"

namespace {

std::string said;
std::vector<std::string> failures;

}  // namespace

/// Verilator's runtime tells with it which assertion failed, then calls vl_stop.
int mrc_verilated_print(const char* format, ...) {
  char text[1000];
  va_list arguments;
  va_start(arguments, format);
  const int size = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  said = text;
  return size;
}

void vl_stop(const char*, int, const char*) { failures.push_back(said); }

namespace mrc {

std::vector<std::string> failed_assertions() { return std::exchange(failures, {}); }

}  // namespace mrc
