// SPDX-License-Identifier: Apache-2.0
/// Any text as a trace: refused with a reason, or flows between NICs that exist and that all can begin. The same text
/// as a log of htsim: refused, or times of the flows it is about. And as GOAL: refused, or operations of ranks that
/// exist, of which each waits for earlier ones.
#include <sstream>

#include "fuzz/checks.hpp"
#include "sim/experiment/htsim.hpp"
#include "sim/experiment/trace.hpp"
#include "sim/job/goal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mrc;
  using fuzz::must;
  static const sim::Topology topology(sim::parse_topology("leaves = 2\nhosts_per_leaf = 2\nspines = 2\n", "net.toml"));
  fuzz::refuses_or_reads([&] {
    const auto flows = sim::parse_trace({reinterpret_cast<const char*>(data), size}, "fuzz.csv", topology);
    must(!flows.empty());
    for (const sim::TraceFlow& f : flows) {
      must(f.from < topology.hosts() && f.to < topology.hosts() && f.from != f.to);
      must(f.bytes >= 1 && f.bytes <= 1'000'000'000'000'000 && f.start_us >= 0 && f.start_us <= 1e9);
      for (const uint32_t before : f.after) must(before < flows.size());
    }
  });
  fuzz::refuses_or_reads([&] {
    sim::Traffic traffic;
    traffic.flows.resize(2);
    traffic.flows[0].to = traffic.flows[1].from = 1;
    const auto flows = sim::read_htsim({reinterpret_cast<const char*>(data), size}, "fuzz.log", traffic);
    must(flows.size() == 2);
    for (const sim::HtsimFlow& f : flows) must(f.done == sim::kNever || f.begun <= f.done);
  });
  fuzz::refuses_or_reads([&] {
    std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
    const auto schedule =
        sim::is_goal_binary(in) ? sim::read_goal_binary(in, "fuzz.bin") : sim::read_goal(in, "fuzz.goal");
    if (schedule->ranks() > 64) return;
    for (uint32_t r = 0; r < schedule->ranks(); ++r) {
      const auto stream = schedule->open(r);
      uint64_t number = 0;
      for (sim::Op op; stream->next(op); ++number) {
        must(op.kind == sim::Op::Kind::Calc || (op.peer < schedule->ranks() && op.peer != r && op.amount >= 1));
        for (const uint64_t before : op.after) must(before < number);
        for (const uint64_t before : op.after_begin) must(before < number);
      }
    }
  });
  return 0;
}
