// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a log: no harm, and what was read can be written and read again. The first byte says whether the rest
/// is a file, or the records of a block, of which zstd and CRC-32 would otherwise keep nearly all mutants away.
#include <zlib.h>
#include <zstd.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "log/format.hpp"
#include "log/reader.hpp"
#include "log/text.hpp"
#include "log/writer.hpp"
#include "wire/bytes.hpp"

namespace {

using namespace mrc::log;

void put(std::string& to, uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) to += static_cast<char>(value >> (8 * i));
}

uint32_t crc(const std::string& bytes) {
  return static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

/// A part with one block of these records.
std::string part(const uint8_t* data, std::size_t size, uint8_t minor, uint8_t records) {
  std::string file(kMagic.begin(), kMagic.end());
  file += {'\1', '\0', static_cast<char>(minor), '\0'};
  put(file, crc(file));
  std::string stored(ZSTD_compressBound(size), '\0');
  stored.resize(ZSTD_compress(stored.data(), stored.size(), data, size, -1));
  std::string head;
  put(head, kRecords);
  put(head, static_cast<uint32_t>(stored.size()));
  put(head, static_cast<uint32_t>(size));
  put(head, records);
  put(head, crc(head + stored));
  return file + head + stored;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const std::string file =
      (data[0] & 1) != 0 ? part(data + 3, size - 3, data[1] & 1, data[2]) : std::string(data + 3, data + size);
  std::istringstream in(file);
  Reader reader(in, "fuzz");
  std::ostringstream out;
  Writer writer(out, -1);
  uint64_t count = 0;
  for (Record record; reader.next(record); ++count) {
    if (!writer.write(record)) std::abort();
    if (to_text(record).find('\n') != std::string::npos || to_json(record).empty()) std::abort();
  }
  writer.finish();
  if (reader.error() && (reader.error()->offset > file.size() || reader.error()->remedy.empty())) std::abort();
  // The same records once more.
  std::istringstream first(file), second(out.str());
  Reader a(first, "a"), b(second, "b");
  Record one, two;
  for (uint64_t i = 0; i < count; ++i) {
    if (!a.next(one) || !b.next(two) || !(one == two)) std::abort();
  }
  if (b.next(two) || b.error() || b.unfinished() != 0) std::abort();
  return 0;
}
