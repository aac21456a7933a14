// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/scenario.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "input/file.hpp"
#include "input/names.hpp"
#include "input/toml_tree.hpp"

namespace mrc::sim {
namespace {

#define NUMBER(T, name, min, max, integer, doc)                              \
  Key<T> {                                                                   \
#name, doc, min, max, integer, [](auto& t) -> double& { return t.name; } \
  }
#define ZERO_OR(T, name, min, max, integer, doc)                                                              \
  Key<T> {                                                                                                    \
#name, doc, min, max, integer, [](auto& t) -> double& { return t.name; }, nullptr, nullptr, nullptr, true \
  }
#define FLAG(T, name, doc)                                                    \
  Key<T> {                                                                    \
#name, doc, 0, 0, false, nullptr, [](auto& t) -> bool& { return t.name; } \
  }
#define TEXT(T, name, words, doc)                                                                    \
  Key<T> {                                                                                           \
#name, doc, 0, 0, false, nullptr, nullptr, [](auto& t) -> std::string& { return t.name; }, words \
  }

const Key<Scenario> kScenarioKeys[] = {
    TEXT(Scenario, description, nullptr, "one line for lists"),
    TEXT(Scenario, transport, "mrc|roce", "MRC, or RoCEv2 with go-back-N on one path, as a contrast"),
    TEXT(Scenario, endpoints, "fast|model|rtl", "fidelity of the NICs that no [[node]] table names"),
    TEXT(Scenario, preset, "asic800|fpga100|tiny", "which NIC those of fidelity model and rtl are"),
    FLAG(Scenario, nic_rules, "fast NICs do only what the NIC does; not written: if any NIC has fidelity model or rtl"),
    FLAG(Scenario, congestion, "NICs control congestion (NSCC)"),
    NUMBER(Scenario, seed, 0, 9007199254740992.0, true, "everything random follows from it; --seed wins"),
    NUMBER(Scenario, mtu, 256, 4096, true, "path MTU: 256, 512, 1024, 2048 or 4096"),
    NUMBER(Scenario, duration_us, 0.001, 1e9, false, "end of the run, simulated time"),
    FLAG(Scenario, open_end, "reaching duration_us with flows under way is how it should end"),
    NUMBER(Scenario, hang_us, 1, 1e9, false, "a run in which no byte arrives for so long is ended"),
    FLAG(Scenario, sampling, "curves over time are recorded"),
    ZERO_OR(Scenario, sample_us, 0.001, 1e9, false,
            "time between samples; 0: fine at first, coarser as the run gets longer"),
    FLAG(Scenario, shared_evs, "all QPs have the same entropy values"),
    NUMBER(Scenario, common_evs, 0, 256, true,
           "entropy values of each plane that all QPs have, the others are their own"),
    NUMBER(Scenario, mpr, 0, 32, true, "window in units of 128 PSNs; 0: what two round trips need, 8 to 32"),
    NUMBER(Scenario, reorder, 0, 32767, true,
           "packets above a gap before it counts as lost; 0: 1.5 times the largest congestion window"),
    FLAG(Scenario, same_ev, "a gap counts as lost once a later packet of its entropy value has arrived"),
    FLAG(Scenario, port_loss, "what a NIC gave to a plane whose port is down, its own or its peer's, is lost at once"),
    NUMBER(Scenario, overdue, 0, 64, true,
           "a packet is lost that is so many eighths of a round trip older than one that has arrived; 0: never"),
    NUMBER(Scenario, silence, 0, 64, true,
           "a QP that hears nothing for so many eighths of a round trip asks what has arrived; 0: never"),
    NUMBER(Scenario, silence_us, 0, 8000, false, "that time at least"),
    FLAG(Scenario, loss_spares, "where switches trim, what is lost without a trim makes no window smaller"),
    FLAG(Scenario, by_count, "a SACK that counts as many packets as are reported says that all others are missing"),
    FLAG(Scenario, lost_stays, "where the window is shut, what is lost stays in flight until its turn to go again"),
    FLAG(Scenario, other_plane, "a packet is sent again on another plane than before"),
    NUMBER(Scenario, copies, 1, 2, true,
           "of what was lost go at once, on as many planes, when a QP may send nothing else"),
    FLAG(Scenario, bad_waits,
         "a packet that finds no entropy value in use counts as sent and lost; off: it goes on a bad one"),
    NUMBER(
        Scenario, suspect, 0, 4, true,
        "entropy values of one plane that lose within a round trip before it is not used until a probe comes back; 0: "
        "never"),
    NUMBER(Scenario, strikes, 0, 255, true,
           "losses that make an entropy value bad while other planes lose too; 0, 1: one loss always does"),
    NUMBER(Scenario, loss_share, 0, 4, true,
           "in place of strikes, as NICs with a clock have it: while other planes lose too, one loss of 2^loss_share "
           "makes its entropy value bad; 0: strikes it is"),
    NUMBER(Scenario, timeout, -1, 24, true,
           "retransmission timer 1.024 us x 2^timeout; -1: 64 round trips, at least 131 us"),
    NUMBER(Scenario, sack_trigger, 0, 1048575, true, "bytes received before a SACK"),
    NUMBER(Scenario, roce_reopen_us, 0, 1e9, false,
           "RoCE: a QP of [[traffic]] that has failed is set up anew so long after, and its WRITEs that were not "
           "acknowledged are sent again; 0: its flows have failed"),
    NUMBER(Scenario, roce_timeout_us, 10, 1e8, false, "RoCE: without progress, back to the oldest packet"),
    NUMBER(Scenario, roce_retries, 0, 1000, true, "RoCE: timeouts in a row; one more, and the QP has failed"),
    NUMBER(Scenario, failure_rates, 0, 1e6, false, "every per_hour is so many times what is written"),
    NUMBER(Scenario, ar_shift, 0, 16, true,
           "a packet asks for a SACK when less than the window over 2^ar_shift is left; 0: less than a packet"),
    NUMBER(Scenario, min_active, 0, 2048, true, "entropy values of a QP that stay in use whatever they lose"),
    NUMBER(Scenario, probe_us, 0.128, 8000, false, "until the first probe of a bad entropy value"),
    NUMBER(Scenario, probe_kind, 0, 2, true, "probes that revive: 0 either kind, 1 EV probes, 2 reliability probes"),
    NUMBER(Scenario, ep_repeats, 0, 15, true, "times that a port status update is sent again; 15: for ever"),
    NUMBER(Scenario, nominal, 0, 2, true, "what a packet counts for: 0 UDP length + 40, 1 payload, 2 payload + 40"),
    FLAG(Scenario, trim_nack, "a trimmed packet is NACKed"),
    TEXT(Scenario, returned, "drop|learn|peer",
         "a NIC's own packet that comes back trimmed: counted, a loss that it knows at once, or taken for a peer's"),
    NUMBER(Scenario, returned_dscp, -1, 63, true,
           "code point by which NICs tell such packets, besides their addresses; -1: none"),
    NUMBER(Scenario, max_wimm, 0, 32, true, "WRITEs with immediate of a QP that may be on their way; 0: none at all"),
    NUMBER(Scenario, wimm_over, 0, 2, true, "one more of them: 0 waits, 1 is refused, 2 ends its QP"),
    NUMBER(Scenario, zero_length, 0, 2, true, "a WRITE of no bytes: 0 legal, 1 NAKed, 2 dropped"),
    NUMBER(Scenario, skip_mode, 0, 2, true,
           "a marked entropy value is passed over 0 once, 1 once more after a second mark, 2 for skip_us at least"),
    NUMBER(Scenario, skip_us, 0, 8000, false, "that time; 0: a round trip of the fabric"),
    FLAG(Scenario, share, "receivers of an incast shut and open the windows of those who send"),
    NUMBER(Scenario, share_epoch, -1, 15, true,
           "they count for 128 ns x 2^share_epoch; -1: two and a half round trips"),
    NUMBER(Scenario, share_least, 1, 255, true, "queue pairs that make an incast"),
    NUMBER(Scenario, share_trims, 1, 255, true, "packets trimmed in that time, from which on shares are evened out"),
    NUMBER(Scenario, share_pen, 0, 127, true, "rcv_cwnd_pen of who has more than 7/4 of its share"),
    NUMBER(Scenario, share_drain, 0, 4294967295.0, true,
           "bytes left of all messages below which windows are restored; 0: one and a half bandwidth-delay products"),
    TEXT(Scenario, windows, "auto|always|never",
         "node by node, each a window of time at once: results are the same, large fabrics are faster"),
};
const Key<TrafficConfig> kTrafficKeys[] = {
    TEXT(TrafficConfig, pattern, "flow|permutation|incast|ring|alltoall|nccl|trace", "who sends to whom"),
    TEXT(TrafficConfig, label, nullptr, "name in the results; not written: the pattern's"),
    NUMBER(TrafficConfig, bytes, 1, 1e15, true,
           "of a flow; ring: of the vector that all nodes sum up; alltoall, nccl: from each node to each other, or its "
           "next"),
    NUMBER(TrafficConfig, message, 0, 4294967295.0, true,
           "bytes of a WRITE; 0: the whole flow, at most 1 GiB; nccl: 4 KiB to 1 MiB by turns"),
    NUMBER(TrafficConfig, outstanding, 0, 1e6, true, "WRITEs a QP has posted at once; 0: all"),
    NUMBER(TrafficConfig, qps, 1, 256, true, "QPs that share a flow"),
    Key<TrafficConfig>{"class", "class of the fabric's profile that its QPs have; -1: none of their own", -1, 3, true,
                       [](auto& t) -> double& { return t.qp_class; }},
    TEXT(TrafficConfig, from, nullptr, "flow: the sender, \"nic0\""),
    TEXT(TrafficConfig, to, nullptr, "flow, incast: the receiver, \"nic1\""),
    NUMBER(TrafficConfig, nodes, 0, 1048576, true,
           "NICs that take part (incast: senders), in each group if there are several; 0: all there are"),
    NUMBER(TrafficConfig, first, 0, 1048575, true, "the first of them"),
    NUMBER(TrafficConfig, stride, 1, 1048575, true, "from one to the next"),
    NUMBER(TrafficConfig, groups, 0, 524288, true,
           "ring, alltoall, nccl, incast: groups of `nodes` that each do it, far from each other; 0: as many as there "
           "are"),
    NUMBER(TrafficConfig, fifo_class, -1, 3, true,
           "nccl: class of the QPs that say where to write; -1: none of their own"),
    NUMBER(TrafficConfig, shift, 0, 1048575, true,
           "permutation: NIC i sends to i + shift; 0: at random, never to itself"),
    NUMBER(TrafficConfig, victims, 0, 65535, true,
           "incast: flows of NICs that do not take part to neighbours of the receiver"),
    NUMBER(TrafficConfig, victim_bytes, 0, 1e15, true, "of a victim's flow; 0: as bytes"),
    NUMBER(TrafficConfig, window, 1, 65535, true, "alltoall, nccl: steps that a NIC has under way"),
    NUMBER(TrafficConfig, start_us, 0, 1e9, false, "when it begins"),
    NUMBER(TrafficConfig, jitter_us, 0, 1e9, false, "random delay of each flow's start, up to this"),
    TEXT(TrafficConfig, file, nullptr, "trace: CSV with columns id,start_us,from,to,bytes,after"),
};
const Key<JobConfig> kJobKeys[] = {
    TEXT(JobConfig, label, nullptr, "name in the results; not written: job"),
    TEXT(JobConfig, trace, nullptr,
         "a file of GOAL, or rank 0's of Chakra (\"job.0.et\"), that says what its ranks do, instead of phases"),
    TEXT(JobConfig, groups, nullptr,
         "Chakra: a file of JSON with the ranks of process groups, {\"name\": [0, 1], ...}, that the trace does not "
         "name"),
    NUMBER(JobConfig, steps, 1, 1e6, true, "how often all its phases are gone through"),
    NUMBER(JobConfig, ranks, 0, 1048576, true, "NICs that take part; 0: all from `first` on"),
    NUMBER(JobConfig, first, 0, 1048575, true, "packed: the first of them"),
    TEXT(JobConfig, placement, "packed|random|rail",
         "ranks to NICs: one after the other, at random, or those of one place in their server under the same T0s"),
    NUMBER(JobConfig, gpus, 1, 65536, true, "rail: ranks of a server"),
    NUMBER(JobConfig, tensor, 1, 1048576, true, "ranks of a tensor parallel group: neighbours"),
    NUMBER(JobConfig, pipeline, 1, 1048576, true, "stages of a pipeline; all else is data parallel"),
    NUMBER(JobConfig, expert, 1, 1048576, true, "data parallel neighbours of an expert parallel group"),
    NUMBER(JobConfig, start_us, 0, 1e9, false, "when it begins"),
    NUMBER(JobConfig, restart_us, 0, 1e9, false,
           "RoCE: a QP that has failed stops the job for so long, then QPs are set up anew; 0: it ends the job"),
    NUMBER(JobConfig, checkpoint, 1, 1e6, true,
           "it goes on from a multiple of so many steps; 1: the step that was under way is repeated"),
};
const Key<PhaseConfig> kPhaseKeys[] = {
    TEXT(PhaseConfig, collective, "none|ring|tree|hierarchical|alltoall|pipeline", "what moves bytes"),
    TEXT(PhaseConfig, over, "all|tensor|data|expert|pipeline", "groups of ranks that do it, all at once"),
    NUMBER(PhaseConfig, compute_us, 0, 1e9, false, "time that ranks compute in it"),
    NUMBER(PhaseConfig, jitter, 0, 100, false, "each piece of that takes up to this share longer, at random"),
    NUMBER(PhaseConfig, bytes, 1, 1e15, true,
           "of the vector that is summed up; alltoall: from each to each other, on average; pipeline: of a micro-batch "
           "from stage to stage"),
    NUMBER(PhaseConfig, buckets, 1, 64, true,
           "parts of the vector, each sent when its share of the compute is done; pipeline: micro-batches"),
    NUMBER(PhaseConfig, local, 2, 65536, true, "hierarchical: neighbours that sum up among themselves first"),
    NUMBER(PhaseConfig, pieces, 1, 65536, true, "tree: pieces that follow each other through it"),
    NUMBER(
        PhaseConfig, window, 1, 128, true,
        "alltoall: messages that a rank has under way; tree: pieces that it has sent up and whose sum it has not got"),
    NUMBER(PhaseConfig, skew, 0, 4, false,
           "alltoall: who is sent how much, by Zipf's law with that exponent, anew in each step; 0: all the same"),
};
const Key<EventConfig> kEventKeys[] = {
    TEXT(EventConfig, what, "link-down|link-up|link-flap|link-loss|link-rate|switch-reboot|bad-ev", "what happens"),
    NUMBER(EventConfig, at_us, 0, 1e9, false, "when"),
    NUMBER(EventConfig, within_us, 0, 1e9, false, "random delay on top, up to this"),
    NUMBER(EventConfig, for_us, 0, 1e9, false, "then it ends; 0: never (a flap and a reboot: 10 us)"),
    NUMBER(EventConfig, count, 1, 1e5, true, "times, with another link or switch each time if it is random"),
    NUMBER(EventConfig, every_us, 0, 1e9, false, "time between them"),
    ZERO_OR(EventConfig, per_hour, 1e-9, 1e12, false,
            "instead of once: so often in an hour for each of the links or switches, at random, from at_us on"),
    NUMBER(EventConfig, most_us, 0, 1e9, false,
           "with per_hour: it lasts for_us to most_us, each power of ten as often as any other; 0: for_us"),
    NUMBER(EventConfig, bundle, 1, 4096, true,
           "with per_hour: neighbours of the same T0, or NIC, that fail with a link"),
    TEXT(EventConfig, link, nullptr,
         "\"nic3/1\" (plane 1), \"T0-0-2:T1-0-5\", plane3 (all NICs'), or random, random-nic, random-uplink, "
         "random-plane"),
    TEXT(EventConfig, node, nullptr, "switch-reboot: \"T1-0-3\", or random, random-T0, random-T1, random-T2"),
    TEXT(EventConfig, direction, "both|up|down", "link-loss: up is from the NIC, or from T0 to T1"),
    NUMBER(EventConfig, loss, 0, 1, false, "link-loss, bad-ev: share of the packets that are lost"),
    NUMBER(EventConfig, gbps, 0.001, 6400, false, "link-rate: the new rate"),
    TEXT(EventConfig, from, nullptr, "bad-ev: the sender of the first QP whose entropy value it is"),
    TEXT(EventConfig, to, nullptr, "bad-ev: its receiver"),
    NUMBER(EventConfig, ev, 0, 2047, true, "bad-ev: index of the entropy value"),
};
const Key<NodeConfig> kNodeKeys[] = {
    TEXT(NodeConfig, fidelity, "fast|model|rtl", "of these NICs"),
    NUMBER(NodeConfig, first, 0, 1048575, true, "the first of them"),
    NUMBER(NodeConfig, count, 1, 1048576, true, "how many"),
};
#undef NUMBER
#undef ZERO_OR
#undef FLAG
#undef TEXT

constexpr const char* kScenarioRemedy =
    "Write TOML as in docs/guide/fabric.md, or use a name from 'mrc fabric --scenario list'.";
constexpr input::FileKind kScenarioFile{"scenario", input::kTomlBytes, kScenarioRemedy};
constexpr const char* kListRemedy = "'mrc fabric --scenario list' prints all keys.";

template <class T>
std::vector<T> read_tables(std::span<const Key<T>> keys, const input::TomlFile& file, const toml::node& node,
                           const std::string& name) {
  std::vector<T> list;
  for (const toml::table* table : file.tables(node, name)) {
    T item;
    item.source.begin(file, *table);
    for (const auto& [key, value] : *table) {
      if (!input::set_key<T>(keys, item, item.source, file, key.str(), value)) {
        input::unknown_key(file, key, "[[" + name + "]]", input::names_of<T>(keys), kListRemedy);
      }
    }
    list.push_back(std::move(item));
  }
  return list;
}

std::vector<JobConfig> read_jobs(const input::TomlFile& file, const toml::node& node) {
  std::vector<JobConfig> jobs;
  for (const toml::table* table : file.tables(node, "job")) {
    JobConfig job;
    job.source.begin(file, *table);
    for (const auto& [key, value] : *table) {
      if (key.str() == "phase") {
        job.phases = read_tables<PhaseConfig>(kPhaseKeys, file, value, "job.phase");
      } else if (!input::set_key<JobConfig>(kJobKeys, job, job.source, file, key.str(), value)) {
        auto known = input::names_of<JobConfig>(kJobKeys);
        known.emplace_back("phase");
        input::unknown_key(file, key, "[[job]]", known, kListRemedy);
      }
    }
    if (job.phases.empty() && job.trace.empty()) {
      throw InputError(job.source.at() + ": a job without phases.",
                       "Write [[job.phase]] tables behind it, or trace = \"job.goal\".");
    }
    if (job.trace.empty() && !job.groups.empty()) {
      throw InputError(job.source.at("groups") + ": groups without a trace.", "Leave out groups.");
    }
    for (const char* key : {"steps", "tensor", "pipeline", "expert"}) {
      if (job.trace.empty() || (job.phases.empty() && !job.source.has(key))) continue;
      throw InputError(fmt::format("{}: a job with a trace and {}.", job.source.at(job.phases.empty() ? key : "trace"),
                                   job.phases.empty() ? key : "phases"),
                       "Leave one of them out.");
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

const ShippedScenario* find_shipped(std::string_view name) {
  for (const ShippedScenario& s : shipped_scenarios()) {
    if (name == s.name) return &s;
  }
  return nullptr;
}

/// Name of the shipped scenario that a file starts from.
const ShippedScenario& base_of(const input::TomlFile& file, const toml::node& node) {
  const auto name = node.value_exact<std::string>();
  if (!name) file.refuse(node, "base is not a text", "Write base = \"incast\", for example.");
  if (const ShippedScenario* found = find_shipped(*name)) return *found;
  std::vector<std::string_view> names;
  for (const ShippedScenario& s : shipped_scenarios()) names.push_back(s.name);
  throw InputError(fmt::format("{}: base = {} names no scenario{}", file.at(node), input::shown(*name),
                               input::did_you_mean(*name, names)),
                   "'mrc fabric --scenario list' prints the names.");
}

void read_topology_key(const input::TomlFile& file, const toml::node& node, Scenario& s) {
  if (const auto name = node.value_exact<std::string>()) {
    const std::filesystem::path beside = std::filesystem::path(file.file()).parent_path() / *name;
    s.topology = load_topology(beside.string());
  } else if (const toml::table* inner = node.as_table()) {
    s.topology.source.begin(file, node);
    read_topology(file, *inner, s.topology);
  } else {
    file.refuse(node, "topology is neither a file's name nor a table",
                "Write topology = \"file.toml\", or a table [topology].");
  }
}

Scenario parse(std::string_view text, const std::string& name, bool needs_traffic) {
  const input::TomlFile file(text, name, "scenario", kScenarioRemedy);
  Scenario s;
  if (const toml::node* base = file.root().get("base")) {
    const ShippedScenario& from = base_of(file, *base);
    s = parse(from.text, from.name, false);
  }
  s.name = name;
  s.source = {};
  s.source.file = name;
  for (const auto& [key, node] : file.root()) {
    const std::string_view k = key.str();
    if (k == "base") continue;
    if (k == "topology") {
      read_topology_key(file, node, s);
    } else if (k == "traffic") {
      s.traffic = read_tables<TrafficConfig>(kTrafficKeys, file, node, "traffic");
    } else if (k == "job") {
      s.jobs = read_jobs(file, node);
    } else if (k == "event") {
      s.events = read_tables<EventConfig>(kEventKeys, file, node, "event");
    } else if (k == "node") {
      s.nodes = read_tables<NodeConfig>(kNodeKeys, file, node, "node");
    } else if (!input::set_key<Scenario>(kScenarioKeys, s, s.source, file, k, node)) {
      auto known = input::names_of<Scenario>(kScenarioKeys);
      known.insert(known.end(), {"base", "topology", "traffic", "job", "event", "node"});
      input::unknown_key(file, key, "the scenario", known, kListRemedy);
    }
  }
  const auto mtu = static_cast<unsigned>(s.mtu);
  if ((mtu & (mtu - 1)) != 0) {
    throw InputError(fmt::format("{}: mtu = {} is no path MTU.", s.source.at("mtu"), mtu),
                     "Use 256, 512, 1024, 2048 or 4096.");
  }
  if (needs_traffic && s.traffic.empty() && s.jobs.empty()) {
    throw InputError(name + ": the scenario has no traffic.",
                     "Write at least one [[traffic]] or [[job]] table, or base = \"incast\".");
  }
  const auto in_time = [&](const Source& source, const char* key, double value) {
    if (value < s.duration_us) return;
    throw InputError(fmt::format("{}: {} = {} is not before the end of the run, duration_us = {}.", source.at(key), key,
                                 input::digits(value), input::digits(s.duration_us)),
                     fmt::format("Give a smaller {}, or a longer duration_us.", key));
  };
  for (const TrafficConfig& t : s.traffic) in_time(t.source, "start_us", t.start_us);
  for (const JobConfig& j : s.jobs) in_time(j.source, "start_us", j.start_us);
  for (const EventConfig& e : s.events) {
    if (e.what.empty())
      throw InputError(e.source.at() + ": an event without what.", "Write what = \"link-down\", for example.");
    in_time(e.source, "at_us", e.at_us);
  }
  return s;
}

}  // namespace

std::span<const Key<Scenario>> scenario_keys() { return kScenarioKeys; }
std::span<const Key<TrafficConfig>> traffic_keys() { return kTrafficKeys; }
std::span<const Key<JobConfig>> job_keys() { return kJobKeys; }
std::span<const Key<PhaseConfig>> phase_keys() { return kPhaseKeys; }
std::span<const Key<EventConfig>> event_keys() { return kEventKeys; }
std::span<const Key<NodeConfig>> node_keys() { return kNodeKeys; }

void use_profile(Scenario& scenario, const FabricProfile& profile) { scenario.topology.profile = profile.name; }

Scenario parse_fabric_scenario(std::string_view text, const std::string& file) { return parse(text, file, true); }

Scenario load_fabric_scenario(const std::string& name, bool needs_traffic) {
  if (const ShippedScenario* s = find_shipped(name)) return parse(s->text, s->name, needs_traffic);
  std::error_code ignored;
  if (name != "-" && !std::filesystem::exists(name, ignored)) {
    std::vector<std::string_view> names;
    for (const ShippedScenario& s : shipped_scenarios()) names.push_back(s.name);
    throw InputError(fmt::format("{} is neither a shipped scenario nor a file{}", input::shown(name),
                                 input::did_you_mean(name, names)),
                     "'mrc fabric --scenario list' prints the names; a file must be TOML.");
  }
  return parse(input::read_text(name, kScenarioFile), input::file_name(name), needs_traffic);
}

}  // namespace mrc::sim
