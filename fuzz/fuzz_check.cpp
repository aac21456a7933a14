// SPDX-License-Identifier: Apache-2.0
/// Any observations, judged: no harm, memory that does not grow beyond what few records can take, and a result that can
/// be printed. The input is the records of a block as they stand in a log; the first byte says whether ICRCs are made
/// right, of which mutants would otherwise keep the judge asleep.
#include <zlib.h>
#include <zstd.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

#include "log/format.hpp"
#include "log/reader.hpp"
#include "picture/check_page.hpp"
#include "reference/run.hpp"
#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace {

using namespace mrc;

void put(std::string& to, uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) to += static_cast<char>(value >> (8 * i));
}

uint32_t crc(const std::string& bytes) {
  return static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

/// A part with one block of these records; how many there are is not known.
std::string part(const uint8_t* data, std::size_t size) {
  std::string file(log::kMagic.begin(), log::kMagic.end());
  file += {'\1', '\0', '\1', '\0'};
  put(file, crc(file));
  std::string stored(ZSTD_compressBound(size), '\0');
  stored.resize(ZSTD_compress(stored.data(), stored.size(), data, size, -1));
  std::string head;
  put(head, log::kRecords);
  put(head, static_cast<uint32_t>(stored.size()));
  put(head, static_cast<uint32_t>(size));
  put(head, 0xffff);
  put(head, crc(head + stored));
  return file + head + stored;
}

/// Plain IPv6 or IPv4 frames get the ICRC that fits them.
void mend(log::Frame& frame) {
  constexpr std::size_t kIp = 14, kLeast = 70, kIcrc = 4;
  std::vector<uint8_t>& b = frame.bytes;
  if (b.size() < kLeast) return;
  const uint32_t value = wire::icrc({b.data() + kIp, b.size() - kIp - kIcrc}, {});
  wire::store_le32(b.data() + b.size() - kIcrc, value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string file = part(data + 1, size - 1);
  std::istringstream in(file);
  log::Reader reader(in, "fuzz");
  ref::Run run({});
  auto record = std::make_unique<log::Record>();
  try {
    while (reader.next(*record)) {
      auto* const frame = std::get_if<log::Frame>(&record->body);
      if (frame != nullptr && (data[0] & 1) != 0) mend(*frame);
      run.take(record);
    }
    run.finish();
  } catch (const InputError& error) {
    if (error.remedy.empty()) std::abort();
    return 0;
  }
  if (run.memory() > (64u << 20)) std::abort();
  if (run.to_json().empty() || run.to_text("").empty() || picture::check_page(run, "fuzz", "").empty()) std::abort();
  return 0;
}
