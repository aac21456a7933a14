// SPDX-License-Identifier: Apache-2.0
// Chakra's execution traces: what their nodes do in an ideal fabric, and each error by its words and node.
#include "sim/job/chakra.hpp"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "input/error.hpp"
#include "sim/job/collectives.hpp"
#include "sim/job/ideal.hpp"

namespace mrc::test::chakra_test {

using namespace mrc::sim;

namespace {

enum : uint64_t { kMetadata = 1, kComp = 4, kSend = 5, kRecv = 6, kColl = 7 };

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  return out + static_cast<char>(value);
}
std::string number(uint32_t field, uint64_t value) { return varint(field << 3) + varint(value); }
std::string text(uint32_t field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}
/// With its value as Chakra's field of that type: 9 int64, 11 uint32, 15 sint32, 27 bool.
std::string attribute(const std::string& name, uint64_t value, uint32_t type = 9) {
  return text(10, text(1, name) + number(type, value));
}
std::string node(uint64_t id, uint64_t type, const std::vector<uint64_t>& after = {}, const std::string& more = {}) {
  std::string out = number(1, id) + text(2, "n" + std::to_string(id)) + number(3, type);
  for (const uint64_t on : after) out += number(5, on);
  return out + more;
}
std::string compute(uint64_t id, uint64_t micros, const std::vector<uint64_t>& after = {}) {
  return node(id, kComp, after, number(7, micros));
}
std::string collective(uint64_t id, uint64_t type, uint64_t bytes, const std::vector<uint64_t>& after = {}) {
  return node(id, kColl, after, attribute("comm_type", type) + attribute("comm_size", bytes));
}

using Files = std::vector<std::vector<std::string>>;

/// Files of ranks, as long as it lives.
struct Folder {
  explicit Folder(const Files& ranks, size_t cut = 0) {
    std::string name = (std::filesystem::temp_directory_path() / "chakra-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
    for (size_t r = 0; r < ranks.size(); ++r) {
      const std::string metadata = text(1, "0.0.4");
      std::string all = varint(metadata.size()) + metadata;
      for (const std::string& message : ranks[r]) all += varint(message.size()) + message;
      all.resize(all.size() - (r == 0 ? cut : 0));
      std::ofstream(path / ("job." + std::to_string(r) + ".et"), std::ios::binary) << all;
    }
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string first() const { return (path / "job.0.et").string(); }
  std::filesystem::path path;
};

IdealMessage network(uint32_t, uint32_t, uint64_t bytes) { return {10 * bytes, 10 * bytes + kUs, kUs}; }
IdealResult run(const Files& ranks) {
  const Folder folder(ranks);
  return run_ideal(*read_chakra(folder.first()), network);
}
/// What is said of rank 0's file, behind its name.
std::string error(const std::vector<std::string>& messages, size_t cut = 0) {
  const Folder folder({messages, {}}, cut);
  try {
    (void)read_chakra(folder.first());
  } catch (const InputError& e) {
    const std::string words = e.what(), path = folder.first() + ": ";
    return words.starts_with(path) ? words.substr(path.size()) : words;
  }
  return "none";
}

}  // namespace

TEST_CASE("compute, sends and receives of a Chakra trace wait as it says", "[sim][job][chakra]") {
  // Rank 0 computes 7 us and sends 100 bytes; rank 1 computes 2 us and 3 us behind what it has received.
  const std::string send =
      node(9, kSend, {4}, attribute("comm_dst", 1, 11) + attribute("comm_size", 100) + attribute("comm_tag", 5));
  const std::string receive =
      node(1, kRecv, {}, attribute("comm_src", 0, 15) + attribute("comm_size", 100) + attribute("comm_tag", 5));
  const IdealResult r = run({{send, compute(4, 7)}, {receive, compute(2, 2), compute(3, 3, {1, 2})}});
  CHECK(r.problem.text.empty());
  CHECK(r.messages == 1);
  CHECK(r.bytes == 100);
  CHECK(r.end == 7 * kUs + 1000 + kUs + 3 * kUs);
}

TEST_CASE("a Chakra trace of PyTorch: calls order nothing, and launch what the GPU does", "[sim][job][chakra]") {
  const std::string host = attribute("is_cpu_op", 1, 11);
  // Node 2 is the call that launches a collective: host's time, without comm_type. Its ctrl_deps name a call that was
  // left out, and itself; those of node 3 one that comes later.
  const std::string launch = node(2, kColl, {1}, number(4, 77) + number(4, 2) + number(7, 3) + host);
  const std::string later = compute(3, 5, {2}) + text(4, varint(4));
  const Folder folder(Files{{compute(1, 10) + host, launch, later, compute(4, 1, {3})}});
  const auto schedule = read_chakra(folder.first());
  CHECK(schedule->calls == 3);
  const IdealResult r = run_ideal(*schedule, network);
  CHECK(r.problem.text.empty());
  CHECK(r.messages == 0);
  CHECK(r.end == (10 + 3 + 5 + 1) * kUs);
}

TEST_CASE("collectives of a Chakra trace are those of our jobs", "[sim][job][chakra]") {
  constexpr uint64_t kBytes = 400'000;
  const auto all = [&](uint64_t type, uint64_t bytes) {
    return run(Files(4, {compute(0, 10), collective(1, type, bytes, {0}), compute(2, 5, {1})}));
  };
  JobPlan ring{.shape = {.data = 4},
               .steps = 1,
               .phases = {{.compute = 10 * kUs, .collective = Collective::Ring, .bytes = kBytes}},
               .seed = 1};
  const IdealResult ours = run_ideal(*make_schedule(ring), network);
  const IdealResult reduce = all(0, kBytes);
  CHECK(reduce.problem.text.empty());
  CHECK(reduce.messages == ours.messages);
  CHECK(reduce.bytes == ours.bytes);
  CHECK(reduce.end == ours.marks[0] + 5 * kUs);
  for (const uint64_t half : {2, 7, 8}) {  // all-gather, reduce-scatter
    const IdealResult r = all(half, kBytes);
    CHECK(r.messages == 4 * 3);
    CHECK(r.end == 15 * kUs + 3 * (kBytes / 4 * 10 + kUs));
  }
  const IdealResult each = all(6, kBytes);
  CHECK(each.messages == 4 * 3);
  CHECK(each.bytes == 3 * kBytes);
  CHECK(each.end == 15 * kUs + 3 * kBytes / 4 * 10 + kUs);
  CHECK(all(9, 0).messages == 4 * 6);  // a barrier
}

namespace {

/// As PyTorch's traces say them: an item of a list of Python, which is a list of JSON.
std::string process_groups(uint64_t id, const std::string& list) {
  return node(id, kMetadata, {}, text(8, text(1, "['" + list + "']")));
}
std::string in_group(const std::string& name) { return text(10, text(1, "pg_name") + text(29, name)); }

}  // namespace

TEST_CASE("process groups of a Chakra trace do their collectives by themselves", "[sim][job][chakra]") {
  // Ranks 0 and 2, 3 and 1, and all of them (no ranks).
  const std::string groups = process_groups(
      1, R"([{"pg_name": "a", "ranks": [0, 2]}, {"pg_name": "b", "ranks": [3, 1]}, {"pg_name": "all", "ranks": []}])");
  const auto rank = [&](const std::string& group) {
    return std::vector<std::string>{groups, collective(5, 0, 1000) + in_group(group),
                                    collective(6, 2, 4000, {5}) + in_group("all")};
  };
  const IdealResult r = run({rank("a"), rank("b"), rank("a"), rank("b")});
  CHECK(r.problem.text.empty());
  // In pairs two messages of 500 bytes each; then all of them three of 1000.
  CHECK(r.messages == 4 * (2 + 3));
  CHECK(r.bytes == 4 * (2 * 500 + 3 * 1000));
  CHECK(r.end == 2 * (5000 + kUs) + 3 * (10'000 + kUs) + kUs);  // until the last sender knows

  // Collectives of two groups of the same ranks, in another order at each rank, are not taken for each other.
  const std::string two =
      process_groups(1, R"([{"pg_name": "a", "ranks": [0, 1]}, {"pg_name": "b", "ranks": [0, 1]}])");
  const std::string small = collective(5, 0, 1000) + in_group("a"), large = collective(6, 0, 4000) + in_group("b");
  const IdealResult crossed = run({{two, small, large}, {two, large, small}});
  CHECK(crossed.problem.text.empty());
  CHECK(crossed.bytes == 2 * 2 * (500 + 2000));
}

TEST_CASE("process groups of a Chakra trace from a file", "[sim][job][chakra]") {
  const std::string pair = collective(5, 0, 1000) + in_group("a");
  const Folder folder(Files{{pair}, {compute(1, 1)}, {pair}});
  const std::string file = (folder.path / "groups.json").string();
  const auto read = [&](const std::string& json) -> std::string {
    std::ofstream(file) << json;
    try {
      return std::to_string(run_ideal(*read_chakra(folder.first(), {}, file), network).messages);
    } catch (const InputError& e) {
      const std::string words = e.what();
      return words.starts_with(file) ? words.substr(file.size()) : words.substr(folder.first().size());
    }
  };
  CHECK(read(R"({"a": [0, 2]})") == "4");
  CHECK(read(R"({"a": [0, 1]})") == ": node 5 (n5) is of process group a, which has no rank 2.");
  CHECK(read("{\n\"a\": [0, 3]}") == ":2: process group a has rank 3, but ranks are 0 to 2.");
  CHECK(read(R"({"a": [0, 0]})") == ":1: process group a has rank 0 twice.");
  CHECK(read(R"({"a": 5})") == ":1: process group a is no list of ranks.");
  CHECK(read("[]") == ": not an object of process groups.");
}

TEST_CASE("a broadcast and a reduce of a Chakra trace go from rank to rank in pieces", "[sim][job][chakra]") {
  for (const uint64_t type : {5, 1}) {
    const IdealResult r = run(Files(4, {compute(0, 10), collective(1, type, 4000, {0}), compute(2, 5, {1})}));
    CHECK(r.problem.text.empty());
    // Four pieces of 1000 bytes over three links: three pieces leave before the last, which takes three links.
    CHECK(r.messages == 3 * 4);
    CHECK(r.bytes == 3 * 4000);
    CHECK(r.end == 15 * kUs + 3 * (10'000 + kUs) + 3 * 10'000);
  }
}

TEST_CASE("errors of a Chakra trace name the node", "[sim][job][chakra]") {
  CHECK(error({compute(1, 5, {8})}) == "node 1 waits for node 8, which is not there.");
  CHECK(error({compute(1, 5, {2}), compute(2, 5, {1})}) == "node 1 waits for itself, by others.");
  CHECK(error({compute(1, 5), compute(1, 6)}) == "node 1 (n1) is there twice.");
  CHECK(error({node(3, 77)}) == "node 3 (n3) has type 77, which is none of Chakra's.");
  CHECK(error({node(3, kComp, {}, attribute("num_ops", 7))}) == "node 3 (n3) has num_ops and no duration_micros.");
  CHECK(error({node(3, kSend)}) == "node 3 (n3) has no comm_dst.");
  CHECK(error({node(3, kRecv, {}, attribute("comm_src", 2))}) == "node 3 (n3) has comm_src = 2, but ranks are 0 to 1.");
  CHECK(error({node(3, kSend, {}, attribute("comm_dst", 0))}) == "node 3 (n3) has comm_dst = 0, its own rank.");
  CHECK(error({node(3, kSend, {}, attribute("comm_dst", 1))}) == "node 3 (n3) has no comm_size.");
  CHECK(error({node(3, kColl, {}, attribute("comm_size", 1))}) == "node 3 (n3) has no comm_type.");
  CHECK(error({collective(3, 3, 10)}) == "node 3 (n3) is a GATHER.");
  CHECK(error({collective(3, 12, 10)}) == "node 3 (n3) has comm_type = 12.");
  CHECK(error({node(
            3, kColl, {},
            text(10, text(1, "pg_name") + text(29, "7")) + attribute("comm_type", 0) + attribute("comm_size", 8))}) ==
        "node 3 (n3) is of process group 7, which nobody above has named.");
  CHECK(error({process_groups(4, R"([{"pg_name": "a", "ranks": [5]}])")}) ==
        "node 4 (n4) says: process group a has rank 5, but ranks are 0 to 1.");
  CHECK(error({process_groups(4, R"([{"pg_name": "a", "ranks": 5}])")}) ==
        "node 4 (n4) has a process group whose ranks are no list.");
  CHECK(error({process_groups(4, R"([{"pg_name": "a", "ranks": [0]}, {"pg_name": "a", "ranks": [1]}])")}) ==
        "node 4 (n4) says: process group a is there twice, with other ranks.");
  CHECK(error({process_groups(4, "[{no JSON}]")}) == "none");
  CHECK(error({compute(1, 5)}, 3) == "it ends within message 1, behind 7 of 10 bytes.");
  CHECK(error({std::string("\x0a\xff", 2)}) == "message 1 is no node.");
  CHECK(error({node(4, kMetadata)}) == "none");
  const Folder folder({{compute(1, 5)}});
  CHECK_THROWS_AS(read_chakra((folder.path / "job.1.et").string()), InputError);
}

TEST_CASE("a message of a Chakra trace that nobody sends is named with its node", "[sim][job][chakra]") {
  const std::string receive = node(17, kRecv, {}, attribute("comm_src", 0) + attribute("comm_size", 100));
  const IdealResult r = run({{compute(1, 1)}, {receive}});
  CHECK(r.problem.text == "rank 1 waits for 100 bytes from rank 0 with tag 0");
  CHECK(r.problem.line == 17);
}

}  // namespace mrc::test::chakra_test
