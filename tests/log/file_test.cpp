// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "log/format.hpp"
#include "log/reader.hpp"
#include "log/writer.hpp"
#include "tests/log/samples.hpp"
#include "util/rng.hpp"

namespace mrc::test::file_test {

using namespace mrc::log;

namespace {

std::string file_of(const std::vector<Record>& records, bool finish = true, std::size_t flush_each = 0) {
  std::ostringstream out;
  Writer writer(out);
  for (std::size_t i = 0; i < records.size(); ++i) {
    REQUIRE(writer.write(records[i]));
    if (flush_each != 0 && (i + 1) % flush_each == 0) writer.flush();
  }
  if (finish) {
    writer.finish();
  } else {
    writer.flush();
  }
  return out.str();
}

struct Readout {
  std::vector<Record> records;
  std::string error;
  uint64_t offset = 0, unfinished = 0, parts = 0, skipped = 0;
};

Readout read(const std::string& file) {
  std::istringstream in(file);
  Reader reader(in, "a.mrclog");
  Readout r;
  for (Record record; reader.next(record);) r.records.push_back(record);
  if (reader.error()) {
    r.error = reader.error()->sentence();
    r.offset = reader.error()->offset;
    CHECK(!reader.error()->remedy.empty());
  }
  r.unfinished = reader.unfinished();
  r.parts = reader.parts();
  r.skipped = reader.skipped();
  return r;
}

}  // namespace

TEST_CASE("every kind of record comes back as it was written", "[log][file]") {
  const std::vector<Record> records = samples();
  std::array<bool, kKinds> seen{};
  for (const Record& r : records) seen[r.body.index()] = true;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    INFO("kind " << kind << " has no sample");
    CHECK(seen[kind]);
  }
  const Readout r = read(file_of(records));
  CHECK(r.error.empty());
  CHECK(r.unfinished == 0);
  REQUIRE(r.records.size() == records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    INFO("record " << i << " of kind " << records[i].body.index());
    CHECK(r.records[i] == records[i]);
  }
}

TEST_CASE("a record that is used again keeps nothing of the one before", "[log][file]") {
  std::vector<Record> records;
  for (const Record& full : samples()) {
    records.push_back(full);
    Record plain{.device = 1, .time = 7, .body = full.body};
    std::visit([](auto& body) { body = std::decay_t<decltype(body)>{}; }, plain.body);
    records.push_back(plain);
  }
  CHECK(read(file_of(records)).records == records);
}

TEST_CASE("a log that is cut gives its whole blocks and says that it is not finished", "[log][file]") {
  const std::vector<Record> records = samples();
  const std::string whole = file_of(records, true, 3);
  std::vector<std::size_t> ends;  // of blocks
  for (std::size_t at = kPartHeader; at < whole.size();) {
    const auto* p = reinterpret_cast<const uint8_t*>(whole.data() + at);
    at += kBlockHeader + (p[4] | p[5] << 8 | p[6] << 16);
    ends.push_back(at);
  }
  REQUIRE(ends.size() == (records.size() + 2) / 3 + 1);
  REQUIRE(ends.back() == whole.size());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Readout r = read(whole.substr(0, size));
    INFO("cut to " << size << " bytes");
    if (size < kPartHeader) {
      CHECK(!r.error.empty());
      CHECK(r.records.empty());
      continue;
    }
    const auto blocks =
        static_cast<std::size_t>(std::count_if(ends.begin(), ends.end(), [&](auto e) { return e <= size; }));
    CHECK(r.error.empty());
    CHECK(r.unfinished == 1);
    CHECK(r.records.size() == std::min(records.size(), 3 * blocks));
  }
}

TEST_CASE("each flipped bit of a log is told", "[log][file]") {
  const std::vector<Record> records = samples();
  const std::string whole = file_of(records, true, 7);
  for (std::size_t bit = 0; bit<8 * whole.size(); bit += whole.size()> 4000 ? 3 : 1) {
    std::string bad = whole;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    const Readout r = read(bad);
    INFO("bit " << bit);
    // A length of which the file is too short looks as if it had been cut.
    if (r.error.empty()) CHECK(r.unfinished == 1);
    if (!r.error.empty()) CHECK(r.offset <= bit / 8);
    CHECK(r.records.size() <= records.size());
    CHECK(std::equal(r.records.begin(), r.records.end(), records.begin()));
  }
}

TEST_CASE("logs may follow each other in one file, finished or not", "[log][file]") {
  const std::vector<Record> records = samples();
  std::vector<Record> twice = records;
  twice.insert(twice.end(), records.begin(), records.end());
  const Readout both = read(file_of(records) + file_of(records));
  CHECK(both.records == twice);
  CHECK(both.parts == 2);
  CHECK(both.unfinished == 0);
  const Readout first_open = read(file_of(records, false) + file_of(records));
  CHECK(first_open.records == twice);
  CHECK(first_open.error.empty());
  CHECK(first_open.unfinished == 1);
  const Readout foreign = read(file_of(records) + "something else");
  CHECK(foreign.records == records);
  CHECK(foreign.error.find("what follows the end of the log is no log of mrc") != std::string::npos);
}

TEST_CASE("a log of another version is refused, of a newer minor one read as far as it is known", "[log][file]") {
  const std::string whole = file_of(samples());
  const auto with_version = [&](uint8_t major, uint8_t minor) {
    std::string file = whole;
    file[8] = static_cast<char>(major);
    file[10] = static_cast<char>(minor);
    mend_header(file);
    return file;
  };
  CHECK(read(with_version(2, 0)).error == "a.mrclog: byte 8: a log of version 2.0, this reader knows version 1");
  CHECK(read(with_version(1, 9)).records == samples());
  std::string unknown;
  {
    std::string block;
    block += '\x63';  // kind 99, three bytes: device 0, time 0, something
    block.append("\x03\x00\x00\x05", 4);
    block += '\x0d';                                // Note
    block.append("\x07\x00\x00\x02hi\x01\x01", 8);  // and two fields that came later
    unknown = file_with_block(block, 2, 9);
  }
  const Readout r = read(unknown);
  CHECK(r.error.empty());
  CHECK(r.skipped == 1);
  REQUIRE(r.records.size() == 1);
  CHECK(std::get<Note>(r.records[0].body).text == "hi");
  std::string known = unknown;
  known[10] = 0;
  mend_header(known);
  CHECK(read(known).error == "a.mrclog: byte 16: a record of kind 99 in this block");
}

TEST_CASE("blocks that lie are refused", "[log][file]") {
  const auto refusal = [](const std::string& block, uint32_t records = 1) {
    return read(file_with_block(block, records, 0)).error;
  };
  const auto bytes = [](std::initializer_list<int> list) {
    std::string text;
    for (const int b : list) text += static_cast<char>(b);
    return text;
  };
  CHECK(refusal(bytes({13, 9, 0, 0, 1, 'x'})) ==
        "a.mrclog: byte 16: a record that is longer than its block in this block");
  CHECK(refusal(bytes({13, 4, 0, 0, 5, 'x'})) == "a.mrclog: byte 16: a record that ends inside a field in this block");
  CHECK(refusal(bytes({13, 5, 0, 0, 1, 'x', 0})) == "a.mrclog: byte 16: a record that is too long in this block");
  CHECK(refusal(bytes({1, 4, 0, 0, 0, 2})) == "a.mrclog: byte 16: a field beyond its range in this block");
  CHECK(refusal(bytes({13, 6, 0, 0, 0xff, 0xff, 0xff, 0x7f})) ==
        "a.mrclog: byte 16: a field that is too long in this block");
  CHECK(refusal(bytes({13, 4, 0, 0, 1, 'x', 0})) == "a.mrclog: byte 16: bytes behind the last record of this block");
  CHECK(refusal(bytes({13, 4, 0, 0, 1, 'x'}), 2) ==
        "a.mrclog: byte 16: a record that ends inside a field in this block");
  CHECK(refusal("x", 0) == "a.mrclog: byte 16: a block of no records that has bytes");
  CHECK(refusal(std::string(10, '\xff') + '\x7f') == "a.mrclog: byte 16: a number beyond 64 bits in this block");
}

TEST_CASE("what the format has no room for is not written", "[log][file]") {
  std::ostringstream out;
  Writer writer(out);
  Frame frame;
  frame.bytes.resize(kMaxFrameBytes + 1);
  CHECK(!writer.write({0, 0, frame}));
  CHECK(!writer.write({0, 0, Note{std::string(kMaxText + 1, 'x')}}));
  Qp qp;
  qp.evs.resize(kMaxEvs + 1);
  CHECK(!writer.write({0, 0, qp}));
  frame.bytes.resize(kMaxFrameBytes);
  qp.evs.assign(kMaxEvs, ~0u);
  CHECK(writer.write({0, 0, frame}));
  CHECK(writer.write({0, 0, Note{std::string(kMaxText, 'x')}}));
  CHECK(writer.write({0, 0, qp}));
  writer.finish();
  CHECK(!writer.write({0, 0, Note{"late"}}));
  CHECK(writer.records() == 3);
  CHECK(read(out.str()).records.size() == 3);
}

TEST_CASE("a million records go through in bounded memory", "[log][file]") {
  // A stream that holds nothing: what the writer puts in comes out at the reader a block later.
  std::stringstream pipe;
  Writer writer(pipe);
  Rng rng(1, "records");
  Frame frame;
  for (uint64_t i = 0; i < 1'000'000; ++i) {
    frame.sent = i % 2 != 0;
    frame.plane = static_cast<uint8_t>(i % 8);
    frame.last = 1000 * i + 5;
    frame.bytes.assign(64, static_cast<uint8_t>(rng.next()));
    frame.length = 64;
    REQUIRE(writer.write({0, 1000 * i, frame}));
  }
  writer.finish();
  Reader reader(pipe, "pipe");
  Record record;
  uint64_t count = 0;
  const uint8_t* memory = nullptr;
  uint64_t moved = 0;
  while (reader.next(record)) {
    const auto& read = std::get<Frame>(record.body);
    REQUIRE(record.time == 1000 * count);
    REQUIRE(read.bytes.size() == 64);
    moved += read.bytes.data() != memory;
    memory = read.bytes.data();
    ++count;
  }
  CHECK(!reader.error());
  CHECK(count == 1'000'000);
  CHECK(moved == 1);
}

}  // namespace mrc::test::file_test
