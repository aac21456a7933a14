// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/report.hpp"

#include <fmt/format.h>

#include <numeric>

#include "input/json.hpp"

namespace mrc::tb {
namespace {

using input::Json;

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string verdict(const CosimResult& r) {
  switch (r.outcome) {
    case Outcome::Pass:
      return "PASS";
    case Outcome::Mismatch:
      return "MISMATCH";
    case Outcome::DataError:
      return "WRONG DATA";
    case Outcome::Hang:
      return "HANG";
    case Outcome::Empty:
      return "NOTHING MOVED";
    case Outcome::DeviceError:
      return "DEVICE FAILED";
    case Outcome::Assertion:
      return "ASSERTION";
    case Outcome::Incomplete:
      break;
  }
  return "INCOMPLETE";
}

std::string bytes_text(uint64_t bytes) {
  if (bytes >= 1000000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
}

PlaneCounters total(const CosimResult::Side& side) {
  PlaneCounters t;
  for (const PlaneCounters& p : side.planes) {
    t.tx_frames += p.tx_frames;
    t.rx_frames += p.rx_frames;
    t.tx_data += p.tx_data;
    t.tx_rtx += p.tx_rtx;
    t.tx_sack += p.tx_sack;
    t.tx_nack += p.tx_nack;
    t.tx_ack += p.tx_ack;
    t.tx_other += p.tx_other;
    t.tx_wire_bytes += p.tx_wire_bytes;
  }
  return t;
}

std::string event_line(const Event& e) {
  const StreamRef ref = stream_at(e.stream);
  return fmt::format("  {:>10} {:<20} {}\n", e.cycle, ref.name(), describe(ref.info->fields, e.data.data()));
}

Json event_json(const Event& e) {
  const StreamRef ref = stream_at(e.stream);
  Json fields = Json::object();
  for (const FieldInfo& f : ref.info->fields) {
    if (f.width <= 64 && f.names.empty()) {
      fields[f.name] = f.low64(e.data.data());
    } else {
      fields[f.name] = field_text(f, e.data.data());
    }
  }
  return {{"order", e.order}, {"cycle", e.cycle}, {"boundary", ref.name()}, {"fields", fields}};
}

Json side_json(const CosimResult::Side& s) {
  const PlaneCounters t = total(s);
  Json planes = Json::array();
  for (const PlaneCounters& p : s.planes) {
    planes.push_back({{"tx_frames", p.tx_frames},
                      {"rx_frames", p.rx_frames},
                      {"data", p.tx_data},
                      {"rtx", p.tx_rtx},
                      {"sack", p.tx_sack},
                      {"nack", p.tx_nack},
                      {"ack", p.tx_ack},
                      {"wire_bytes", p.tx_wire_bytes}});
  }
  Json counters;
  for (const CounterRegister& r : kCounterRegisters) counters[r.name] = s.counters.*r.value;
  counters["overflow"] = std::accumulate(s.counters.ovf.begin(), s.counters.ovf.end(), uint64_t{0});
  return {
      {"data_packets", s.packets},
      {"messages", s.messages},
      {"bytes", s.bytes},
      {"sent", {{"data", t.tx_data}, {"rtx", t.tx_rtx}, {"sack", t.tx_sack}, {"nack", t.tx_nack}, {"ack", t.tx_ack}}},
      {"link",
       {{"frames", s.link.frames},
        {"lost", s.link.lost},
        {"trimmed", s.link.trimmed},
        {"marked", s.link.marked},
        {"corrupt", s.link.corrupt},
        {"duplicates", s.link.duplicates},
        {"rogues", s.link.rogues},
        {"forged", s.link.forged},
        {"delayed", s.link.delayed},
        {"penalties", s.link.penalties},
        {"no_bytes", s.link.no_bytes},
        {"returned", s.link.returned}}},
      {"counters", counters},
      {"planes", planes},
      {"packets_per_ev",
       {{"evs", s.evs},
        {"min", s.ev_min},
        {"max", s.ev_max},
        {"mean", s.evs ? static_cast<double>(s.ev_packets) / static_cast<double>(s.evs) : 0}}},
      {"goodput_gbps", s.goodput_gbps},
      {"limit_gbps", s.limit_gbps},
      {"ports_busy", s.busy},
      {"recovery",
       {{"lost_at_ports", s.recovery.lost},
        {"recovered", s.recovery.recovered},
        {"worst_us", static_cast<double>(s.recovery.worst_ps) * 1e-6},
        {"lost_on_links", s.link_recovery.lost},
        {"links_recovered", s.link_recovery.recovered},
        {"links_worst_us", static_cast<double>(s.link_recovery.worst_ps) * 1e-6}}},
      {"bytes_per_us", s.series}};
}

}  // namespace

std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, 1, ' ');
  }
  return digits;
}

std::string summary_text(const RunInfo& info, const CosimResult& r) {
  std::string t = fmt::format("{}  scenario {}{}, preset {}, seed {}{}\n", verdict(r), info.scenario,
                              info.drawn.empty() ? "" : " (" + info.drawn + ")", info.preset, info.seed,
                              info.bug.empty() ? "" : ", RTL bug " + info.bug);
  if (r.outcome == Outcome::Incomplete)
    t += fmt::format("  incomplete   {}; the figures are those up to there\n", r.reason);
  if (r.outcome == Outcome::Empty) t += fmt::format("  nothing      {}\n", r.reason);
  t += fmt::format("  device       {}{}, in {}\n", r.dut_name, r.dut_version.empty() ? "" : ", " + r.dut_version,
                   r.dut_in_process ? "the process of the bench" : "a process of its own");
  if (r.device_fault && r.outcome != Outcome::DeviceError)
    t += fmt::format("  warning      {}\n", r.device_fault->text);
  if (r.assertions > 0 || r.model_checks) {
    t += fmt::format("  assertions   {} in the device{}, {} failed\n", grouped(r.assertions),
                     r.model_checks ? ", and those of the models" : "", r.failed_assertion ? 1 : 0);
  }
  t += fmt::format("  lockstep     {} cycles, {} stream events, {} mismatches, event log {:016x}\n", grouped(r.cycles),
                   grouped(r.events), r.divergences.empty() ? 0 : 1, r.event_hash);
  t += fmt::format(
      "  data         {} packets in {} messages, {}; {} messages verified byte by byte, {} immediates in order\n",
      grouped(r.data_packets), grouped(r.messages), bytes_text(r.bytes), grouped(r.writes_verified),
      grouped(r.immediates));
  if (r.refused + r.failed_qps > 0) {
    t += fmt::format("  refused      {} WQEs at the requestor, {} QPs failed, as they must\n", r.refused, r.failed_qps);
  }
  const auto row = [&](const char* name, const CosimResult::Side& s) {
    const LinkCounters& l = s.link;
    const PlaneCounters p = total(s);
    t += fmt::format("  {:<12} {} data + {} retransmitted, {} SACKs, {} NACKs, {} ACKs\n", name, grouped(p.tx_data),
                     grouped(p.tx_rtx), grouped(p.tx_sack), grouped(p.tx_nack), grouped(p.tx_ack));
    t += fmt::format(
        "  {:<12} link lost {}, trimmed {}, marked {}, corrupted {}, duplicated {}, added {} rogue copies, delayed "
        "{}{}\n",
        "", grouped(l.lost), grouped(l.trimmed), grouped(l.marked), grouped(l.corrupt), grouped(l.duplicates),
        grouped(l.rogues), grouped(l.delayed),
        (l.forged > 0 ? fmt::format(", forged {}", grouped(l.forged)) : "") +
            (l.returned > 0 ? fmt::format(", sent back {}", l.returned) : ""));
    if (s.goodput_gbps > 0) {
      t += fmt::format(
          "  {:<12} goodput {:.1f} Gb/s of {:.1f} that these packets allow ({:.1f} %); ports {:.1f} % busy\n", "",
          s.goodput_gbps, s.limit_gbps, percent(s.goodput_gbps, s.limit_gbps), 100 * s.busy);
    }
    if (s.recovery.lost > 0) {
      t += fmt::format(
          "  {:<12} ports that were down lost {} data frames to it; {} came again, the last {:.1f} us later\n", "",
          grouped(s.recovery.lost), grouped(s.recovery.recovered), static_cast<double>(s.recovery.worst_ps) * 1e-6);
    }
    if (s.evs > 0) {
      t += fmt::format("  {:<12} {} entropy values, {} to {} packets each, {:.1f} on average\n", "", grouped(s.evs),
                       s.ev_min, s.ev_max, static_cast<double>(s.ev_packets) / static_cast<double>(s.evs));
    }
    const NicCounters& c = s.counters;
    uint64_t overflow = 0;
    for (const uint32_t n : c.ovf) overflow += n;
    t += fmt::format(
        "  {:<12} dropped: {} unparsed, {} ICRC, {} QP, {} P_Key, {} length, {} for want of buffer; {} duplicates, {} "
        "out of window, {} timeouts\n",
        "", c.drop_parse, c.drop_icrc, c.drop_qp, c.drop_pkey, c.drop_len, overflow, c.dup, c.oor, c.rto);
  };
  row("device sent", r.dut);
  row("peer sent", r.peer);
  t += "  plane        sent: data      rtx     SACK     NACK      ACK   share   received\n";
  const PlaneCounters all = total(r.dut);
  for (std::size_t p = 0; p < r.dut.planes.size(); ++p) {
    const PlaneCounters& c = r.dut.planes[p];
    t += fmt::format("  {:>5} {:>16} {:>8} {:>8} {:>8} {:>8} {:>6.2f}% {:>10}\n", p, c.tx_data, c.tx_rtx, c.tx_sack,
                     c.tx_nack, c.tx_ack, percent(static_cast<double>(c.tx_data), static_cast<double>(all.tx_data)),
                     c.rx_frames);
  }
  t += fmt::format("  speed        {} cycles in {:.1f} s: {} cycles/s\n", grouped(r.cycles), r.seconds,
                   grouped(r.seconds > 0 ? static_cast<uint64_t>(static_cast<double>(r.cycles) / r.seconds) : 0));
  return t;
}

std::string failure_text(const RunInfo& info, const CosimResult& r) {
  std::string t;
  if (r.outcome == Outcome::Mismatch) {
    const Divergence& d = r.divergences.front();
    t += fmt::format("First divergence in cycle {}, block {}, at {}{}\n", grouped(d.cycle), d.block, d.where,
                     d.qp >= 0 ? fmt::format(", QP {}", d.qp) : "");
    if (!d.note.empty()) t += "  " + d.note + "\n";
    if (!d.context.empty()) t += "  the model has: " + d.context + "\n";
    t += fmt::format("  {:<34} {:<36} {}\n", "field", "device", "model");
    for (const Difference& x : d.differences) t += fmt::format("  {:<34} {:<36} {}\n", x.field, x.dut, x.model);
    if (r.divergences.size() > 1) {
      t += "  in the same cycle, further down the data flow:";
      for (std::size_t i = 1; i < r.divergences.size() && i < 9; ++i) t += " " + r.divergences[i].where;
      t += "\n";
    }
  } else if (r.outcome == Outcome::DataError) {
    t += fmt::format("Wrong in cycle {}{}: {}\n", grouped(r.problem_cycle),
                     r.problem_block.empty() ? "" : ", seen at the pins of " + r.problem_block, r.problem);
    t += "  device and model agree: either the contract is wrong, or the bench is\n";
  } else if (r.outcome == Outcome::Hang) {
    t += fmt::format("Hang in cycle {}: {}\n", grouped(r.problem_cycle), r.problem);
    for (std::size_t i = 0; i < r.stuck.size() && i < 16; ++i) {
      const StuckQp& s = r.stuck[i];
      t += fmt::format("  {} QP {} -> QP {}: {} messages, oldest MSN {} ({} of {} bytes arrived{})\n", s.side, s.qp,
                       s.oldest.peer_qp, s.messages, s.oldest.msn, s.arrived, s.oldest.length,
                       s.oldest.imm_valid ? ", with immediate" : "");
    }
    if (r.stuck.size() > 16) t += fmt::format("  and {} more QPs\n", r.stuck.size() - 16);
  } else if (r.outcome == Outcome::DeviceError) {
    t += fmt::format("Without a device from cycle {} on: {}\n", grouped(r.device_fault->cycle), r.device_fault->text);
    t += "  device and model agree up to there\n";
  } else if (r.outcome == Outcome::Assertion) {
    const FailedAssertion& a = *r.failed_assertion;
    t += fmt::format("Assertion {} failed in cycle {}, in {}: {}\n", a.name, grouped(a.cycle), a.place, a.text);
    t += "  device and model agree up to there\n";
  } else {
    return t;
  }
  t += fmt::format("Last {} events before it (cycle, stream, fields that are not zero)\n", r.last_events.size());
  for (const Event& e : r.last_events) t += event_line(e);
  if (r.qp >= 0) {
    t += fmt::format("Last {} events of QP {}\n", r.qp_events.size(), r.qp);
    for (const Event& e : r.qp_events) t += event_line(e);
  }
  if (!info.pcap_file.empty()) t += fmt::format("Frames around it: {} ({} frames)\n", info.pcap_file, r.frames.size());
  if (!info.wave_file.empty())
    t += fmt::format("Waves around it:  {} (from cycle {})\n", info.wave_file, grouped(info.wave_from));
  if (!info.page_file.empty()) t += fmt::format("To look at:       {}\n", info.page_file);
  if (!info.trace_file.empty()) t += fmt::format("As a trace:       {}\n", info.trace_file);
  if (!info.kanata_file.empty()) t += fmt::format("For Konata:       {}\n", info.kanata_file);
  if (!info.json_file.empty()) t += fmt::format("As JSON:          {}\n", info.json_file);
  if (!info.scenario_file.empty()) t += fmt::format("Scenario to edit: {}\n", info.scenario_file);
  t += fmt::format("Again with:       {}\n", info.repro);
  if (info.wave_file.empty()) t += fmt::format("With waves:       {} --wave\n", info.repro);
  return t;
}

std::string result_json(const RunInfo& info, const CosimResult& r) {
  Json j;
  j["result"] = name_of(r.outcome);
  if (!r.reason.empty()) j["reason"] = r.reason;
  j["evidence"] = {{"packets", r.data_packets},
                   {"messages_verified", r.writes_verified},
                   {"cycles", r.cycles},
                   {"boundaries", r.compared_events}};
  if (r.assertions > 0) j["evidence"]["assertions"] = r.assertions;
  if (!info.run_id.empty()) j["run"] = info.run_id;
  j["preset"] = info.preset;
  j["scenario"] = info.scenario;
  if (!info.drawn.empty()) j["drawn"] = info.drawn;
  if (info.drawn_anew != 0) j["drawn_anew"] = info.drawn_anew;
  j["seed"] = info.seed;
  j["packets"] = info.packets;
  if (!info.bug.empty()) j["rtl_bug"] = info.bug;
  j["mismatches"] = r.divergences.empty() ? 0 : 1;
  j["data_packets"] = r.data_packets;
  j["messages"] = r.messages;
  j["messages_verified"] = r.writes_verified;
  j["bytes"] = r.bytes;
  j["immediates"] = r.immediates;
  j["immediates_held"] = r.held;
  j["empty_messages"] = r.no_bytes;
  j["wqes_refused"] = r.refused;
  j["qps_failed"] = r.failed_qps;
  if (r.lives > 1) j["lives"] = r.lives;
  j["cycles"] = r.cycles;
  j["traffic_cycles"] = r.traffic_cycles;
  j["seconds"] = r.seconds;
  j["cycles_per_second"] = r.seconds > 0 ? static_cast<double>(r.cycles) / r.seconds : 0;
  j["events"] = r.events;
  j["event_log_hash"] = fmt::format("{:016x}", r.event_hash);
  j["register_accesses"] = r.csr_accesses;
  j["versions"] = info.versions;
  j["versions"]["dut"] = r.dut_name;
  j["versions"]["dut_tool"] = r.dut_version;
  j["model_checks"] = r.model_checks;
  j["dut_process"] = r.dut_in_process ? "shared" : "own";
  if (r.device_fault)
    j["device_fault"] = {
        {"cycle", r.device_fault->cycle}, {"call", r.device_fault->call}, {"text", r.device_fault->text}};
  if (const auto& a = r.failed_assertion)
    j["failed_assertion"] = {{"cycle", a->cycle}, {"name", a->name}, {"place", a->place}, {"text", a->text}};
  j["device"] = side_json(r.dut);
  j["peer"] = side_json(r.peer);
  j["repro"] = info.repro;
  if (!r.divergences.empty()) {
    Json list = Json::array();
    for (const Divergence& d : r.divergences) {
      Json differences = Json::array();
      for (const Difference& x : d.differences)
        differences.push_back({{"field", x.field}, {"device", x.dut}, {"model", x.model}});
      list.push_back(
          {{"cycle", d.cycle}, {"block", d.block}, {"where", d.where}, {"qp", d.qp}, {"differences", differences}});
      if (!d.note.empty()) list.items.back()["note"] = d.note;
    }
    j["divergence"] = list.items.front();
    j["divergences_in_that_cycle"] = list;
  }
  if (!r.problem.empty())
    j["problem"] = {{"cycle", r.problem_cycle}, {"block", r.problem_block}, {"qp", r.problem_qp}, {"text", r.problem}};
  if (!r.stuck.empty()) {
    Json list = Json::array();
    for (const StuckQp& s : r.stuck) {
      list.push_back({{"side", s.side},
                      {"qp", s.qp},
                      {"peer_qp", s.oldest.peer_qp},
                      {"messages", s.messages},
                      {"msn", s.oldest.msn},
                      {"length", s.oldest.length},
                      {"arrived", s.arrived}});
    }
    j["stuck"] = list;
  }
  if (!r.last_events.empty()) {
    Json list = Json::array(), of_qp = Json::array();
    for (const Event& e : r.last_events) list.push_back(event_json(e));
    for (const Event& e : r.qp_events) of_qp.push_back(event_json(e));
    j["last_events"] = list;
    j["last_events_of_qp"] = of_qp;
  }
  if (!info.pcap_file.empty()) j["pcapng"] = info.pcap_file;
  if (!info.scenario_file.empty()) j["scenario_file"] = info.scenario_file;
  if (!info.page_file.empty()) j["page"] = info.page_file;
  if (!info.trace_file.empty()) j["trace"] = info.trace_file;
  if (!info.kanata_file.empty()) j["kanata"] = info.kanata_file;
  if (!info.wave_file.empty()) {
    j["waves"] = info.wave_file;
    j["waves_from_cycle"] = info.wave_from;
  }
  return j.dump(2) + "\n";
}

void Sweep::add(const RunInfo& info, const CosimResult& r) {
  runs.push_back(
      {info.seed, name_of(r.outcome), info.drawn, info.drawn_anew, r.data_packets, r.cycles, r.event_hash, r.seconds});
  run_id = info.run_id;
  versions = info.versions;
  drawn_anew += info.drawn_anew;
  packets += r.data_packets;
  cycles += r.cycles;
  if (r.outcome == Outcome::Pass) {
    ++passed;
  } else if (r.outcome == Outcome::Incomplete || r.outcome == Outcome::Empty) {
    stopped = true;
    reason = r.reason;
  } else {
    failure = result_json(info, r);
  }
}

std::string sweep_line(const RunInfo& info, const CosimResult& r) {
  std::string drawn = info.drawn;
  if (info.drawn_anew != 0) drawn += fmt::format("; {} before it moved nothing", info.drawn_anew);
  return fmt::format("{:<10} seed {:<6} {:>9} packets {:>11} cycles {:>6.1f} s  {:016x}  {}\n", verdict(r), info.seed,
                     grouped(r.data_packets), grouped(r.cycles), r.seconds, r.event_hash, drawn);
}

std::string sweep_text(const Sweep& s, double seconds) {
  std::string t = fmt::format("{}  {} passed, {} failed; {} packets, {} cycles in {:.1f} s",
                              s.stopped           ? "INCOMPLETE"
                              : s.failure.empty() ? "PASS"
                                                  : "FAIL",
                              s.passed, s.failure.empty() ? 0 : 1, grouped(s.packets), grouped(s.cycles), seconds);
  if (s.stopped) t += "; " + s.reason;
  if (s.drawn_anew != 0) t += fmt::format("; {} scenarios that moved nothing were drawn anew", s.drawn_anew);
  return t + "\n";
}

std::string sweep_json(const Sweep& s, double seconds) {
  Json runs = Json::array();
  for (const Sweep::Run& r : s.runs) {
    runs.push_back({{"seed", r.seed},
                    {"result", r.result},
                    {"drawn", r.drawn},
                    {"drawn_anew", r.drawn_anew},
                    {"data_packets", r.packets},
                    {"cycles", r.cycles},
                    {"seconds", r.seconds},
                    {"event_log_hash", fmt::format("{:016x}", r.event_hash)}});
  }
  Json j;
  j["result"] = s.stopped || s.runs.empty() ? "incomplete" : s.runs.back().result;
  if (s.stopped) j["reason"] = s.reason;
  if (!s.run_id.empty()) j["run"] = s.run_id;
  j["versions"] = s.versions;
  j["passed"] = s.passed;
  j["failed"] = s.failure.empty() ? 0 : 1;
  j["drawn_anew"] = s.drawn_anew;
  j["data_packets"] = s.packets;
  j["cycles"] = s.cycles;
  j["seconds"] = seconds;
  j["runs"] = runs;
  if (!s.failure.empty()) j["failure"] = *input::parse_json(s.failure);
  return j.dump(2) + "\n";
}

}  // namespace mrc::tb
