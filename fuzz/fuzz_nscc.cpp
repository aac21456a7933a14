// SPDX-License-Identifier: Apache-2.0
/// Any text as a list of events (first byte 0 modulo 3), a configuration in JSON (1) or in TOML (2): refused with a
/// reason, or within its limits; the controller takes what was read.
#include "fuzz/checks.hpp"
#include "protocol/nscc_events.hpp"
#include "protocol/nscc_read.hpp"

namespace {
using namespace mrc;
using fuzz::must;

void configuration(std::string_view text, bool json) {
  fuzz::refuses_or_reads([&] {
    NsccParams params;
    if (json) {
      nscc_read_json(params, text, "fuzz.json");
    } else {
      nscc_read_toml(params, text, "fuzz.toml");
    }
    const auto real = nscc_resolve(params);
    if (!real) {
      must(!real.error().what.empty());
      fuzz::must_be_a_sentence(real.error().remedy);
      return;
    }
    const NsccWords words = nscc_words(*real);
    must(nscc_from_row(nscc_row(words)) == words);
  });
}

void events(std::string_view text) {
  const auto lines = nscc_read_events(text, "fuzz.csv");
  if (!lines) {
    must(lines.error().offset <= text.size() && !lines.error().what.empty());
    fuzz::must_be_a_sentence(lines.error().remedy);
    return;
  }
  static const NsccWords words = nscc_words(*nscc_resolve({}));
  uint64_t last = 0;
  NsccState state = nscc_init(words, 0);
  for (const NsccLine& line : *lines) {
    must(line.time_ns >= last && line.event.bytes < 1u << 28 && line.event.pen < 128);
    last = line.time_ns;
    nscc_step(state, words, line.event);
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 3 == 0) {
    events(text);
  } else {
    configuration(text, data[0] % 3 == 1);
  }
  return 0;
}
