// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a capture to be imported: no harm; every record can be written; devices are told of before they are
/// named; redaction leaves frames that can be read as far as before.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "log/import.hpp"
#include "log/packet.hpp"
#include "log/redact.hpp"
#include "log/writer.hpp"

namespace {

/// A name for each process; the file goes away with it.
class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::remove(path.c_str()); }
  const std::string path = "/dev/shm/mrc_fuzz_import_" + std::to_string(::getpid());
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mrc::log;
  static const File file;
  const std::string& path = file.path;
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  ImportOptions options;
  options.files = {{path, {}}};
  Redactor redactor({.payload = true, .addresses = true});
  std::ostringstream out;
  Writer writer(out, -1);
  std::set<uint32_t> known;
  uint64_t frames = 0;
  const auto imported = import_captures(options, [&](Record record) {
    if (std::holds_alternative<Device>(record.body)) known.insert(record.device);
    if (!known.contains(record.device) || !writer.write(record)) std::abort();
    const auto* frame = std::get_if<Frame>(&record.body);
    if (frame == nullptr) return;
    ++frames;
    const bool had = packet_of(*frame).bth.has_value();
    redactor.redact(record, {});
    frame = std::get_if<Frame>(&record.body);
    if (packet_of(*frame).bth.has_value() != had || !writer.write(record)) std::abort();
  });
  if (imported && imported->records != frames) std::abort();
  if (!imported && imported.error().remedy.empty()) std::abort();
  return 0;
}
