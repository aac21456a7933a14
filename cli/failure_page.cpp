// SPDX-License-Identifier: Apache-2.0
#include "cli/failure_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/version.hpp"
#include "gen/protocol.hpp"
#include "picture/page.hpp"
#include "picture/pictures.hpp"
#include "reference/profile.hpp"
#include "reference/run.hpp"
#include "tb/environment/frame.hpp"

namespace mrc::cli {
namespace {

constexpr unsigned kPreamble = 8, kFcs = 4;

uint64_t time_on_wire(std::size_t bytes, const Preset& preset) {
  return static_cast<uint64_t>(static_cast<double>(bytes) * 8000 / preset.port_gbps);
}

std::string last_part(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// Where in the story the trouble is, for pictures: its QP if it is known there.
picture::Choice choice_at(const picture::Story& story, int qp, picture::Time time) {
  picture::Choice c;
  c.mark = time;
  c.most = 2;
  if (qp < 0) return c;
  c.qp = static_cast<uint32_t>(qp);
  const bool known = std::ranges::any_of(story.flows, [&](const picture::Flow& f) {
    return (f.requestor == picture::kNone ? f.peer_qp : f.qp) == *c.qp && !f.packets.empty();
  });
  if (!known) c.qp.reset();
  return c;
}

void first_divergence(picture::Page& page, const tb::CosimResult& r, const std::string& contract) {
  if (r.divergences.empty()) return;
  const tb::Divergence& d = r.divergences.front();
  page.heading("First divergence");
  page.paragraph(fmt::format("Cycle {}, block {}, at {}{}.{}", tb::grouped(d.cycle), d.block, d.where,
                             d.qp >= 0 ? fmt::format(", QP {}", d.qp) : "", d.note.empty() ? "" : " " + d.note));
  if (!d.context.empty()) page.lines("the model has: " + d.context);
  if (!d.differences.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const tb::Difference& x : d.differences) rows.push_back({x.field, x.dut, x.model});
    page.table({"field", "device", "model"}, rows);
  }
  if (r.divergences.size() > 1) {
    std::string more;
    for (std::size_t i = 1; i < r.divergences.size() && i < 9; ++i) more += " " + r.divergences[i].where;
    page.paragraph("In the same cycle, further down the data flow:" + more + ".");
  }
  if (!contract.empty()) page.paragraph("What holds there: " + contract + ".");
}

std::string event_lines(const std::vector<tb::Event>& events) {
  std::string text;
  for (const tb::Event& e : events) {
    const tb::StreamRef ref = tb::stream_at(e.stream);
    text += fmt::format("{:>10} {:<20} {}\n", e.cycle, ref.name(), tb::describe(ref.info->fields, e.data.data()));
  }
  return text;
}

std::string title_of(const tb::CosimResult& r) {
  const std::string cycle = tb::grouped(r.wrong_cycle());
  switch (r.outcome) {
    case tb::Outcome::Mismatch:
      return fmt::format("Mismatch in {}, cycle {}", r.divergences.front().block, cycle);
    case tb::Outcome::DataError:
      return "Wrong data in cycle " + cycle;
    case tb::Outcome::Hang:
      return "Hang in cycle " + cycle;
    case tb::Outcome::Assertion:
      return fmt::format("Assertion {} failed in cycle {}", r.failed_assertion->name, cycle);
    default:
      return "The device failed in cycle " + cycle;
  }
}

}  // namespace

void add_stages(picture::Story& story, uint32_t device, std::span<const tb::StagedPacket> packets, uint64_t clock_ps) {
  uint32_t number = 0;
  for (const tb::StagedPacket& p : packets) {
    const bool comes = p.way == tb::StagedPacket::Way::Receives;
    const uint32_t qpn = p.qp < 0 ? picture::kNone : static_cast<uint32_t>(p.qp) + kQpnBase;
    // Of data the flow is known; answers have numbers of somebody else's data.
    uint32_t flow = picture::kNone;
    if (qpn != picture::kNone && p.opcode >= static_cast<uint8_t>(wire::Opcode::WriteFirst) &&
        p.opcode <= static_cast<uint8_t>(wire::Opcode::WriteOnlyImm)) {
      for (uint32_t i = 0; i < story.flows.size(); ++i) {
        const picture::Flow& f = story.flows[i];
        if (comes ? f.responder == device && f.peer_qp == qpn : f.requestor == device && f.qp == qpn) flow = i;
      }
    }
    static constexpr const char* kWays[] = {"sends", "answers", "receives"};
    for (const tb::Stage& s : p.stages) {
      picture::Stay stay;
      stay.device = device;
      stay.block = s.block;
      stay.text = fmt::format("{}{}", p.qp < 0 ? "" : fmt::format("QP 0x{:x} ", qpn), p.name);
      stay.way = kWays[static_cast<std::size_t>(p.way)];
      stay.packet = number;
      stay.from = s.from * clock_ps;
      stay.until = s.until * clock_ps;
      stay.flow = flow;
      if (flow != picture::kNone) stay.psn = (p.psn - story.flows[flow].first_psn) & 0xffffffu;
      story.stays.push_back(std::move(stay));
    }
    ++number;
  }
}

std::size_t frame_of_failure(const tb::CosimResult& r, std::string& comment) {
  const std::string what = r.divergences.empty() ? (r.problem.empty() ? std::string("the failure") : r.problem)
                                                 : fmt::format("block {} differs at {}", r.divergences.front().block,
                                                               r.divergences.front().where);
  for (std::size_t i = r.frames.size(); i-- > 0;) {
    const tb::FrameInfo info = tb::look_at(r.frames[i].bytes);
    const bool sent = r.frames[i].comments[0].starts_with("sent");
    const uint32_t at = info.dqp - kQpnBase;
    const int qp = !info.mrc ? -1 : !sent ? static_cast<int>(at) : at < r.qp_names.size() ? r.qp_names[at] : -1;
    if (r.qp < 0 || qp != r.qp) continue;
    comment = fmt::format("the newest frame of QP {} before cycle {}: {}", r.qp, r.wrong_cycle(), what);
    return i;
  }
  comment = fmt::format("the newest frame before cycle {}: {}", r.wrong_cycle(), what);
  return r.frames.empty() ? 0 : r.frames.size() - 1;
}

FailureWindow failure_window(const tb::CosimResult& r, const Preset& preset) {
  FailureWindow w;
  ref::Profile profile;
  profile.planes = preset.num_planes;
  profile.port_gbps = preset.port_gbps;
  profile.read_as(r.wire);
  w.story.add({0, 0, log::Device{"dut", ref::to_json(profile)}});
  std::vector<tb::PortFrame> frames;
  for (std::size_t i = 0; i < r.frames.size(); ++i) {
    const wire::CapturedFrame& f = r.frames[i];
    log::Frame frame;
    frame.sent = !f.comments.empty() && f.comments[0].starts_with("sent");
    frame.plane = static_cast<uint8_t>(f.interface);
    frame.bytes = f.bytes;
    frame.length = static_cast<uint32_t>(f.bytes.size());
    frame.number = i + 1;
    const uint64_t begin = f.time_ns * 1000 + time_on_wire(kPreamble, preset);
    frame.last = begin + time_on_wire(f.bytes.size() + kFcs, preset);
    if (const auto at = tb::port_frame(frame.sent, f.interface, f.bytes, begin, frame.last)) frames.push_back(*at);
    w.story.add({0, begin, std::move(frame)});
  }
  w.story.finish();
  // The link says of each frame that was sent what it did to it.
  for (picture::Packet& p : w.story.packets) {
    const std::string& comment = r.frames[p.number - 1].comments[0];
    if (p.sent && comment.find("link: lost") != std::string::npos) p.fate = picture::Fate::Lost;
  }
  w.packets = tb::staged_packets(r.window, r.qp_names, frames, preset.clock_ps);
  add_stages(w.story, 0, w.packets, preset.clock_ps);
  return w;
}

std::string failure_page(const tb::RunInfo& info, const tb::CosimResult& r, const Preset& preset,
                         const FailureWindow& window, const std::string& contract) {
  picture::Page page(title_of(r));
  page.verdict(fmt::format("preset {}, scenario {}{}, seed {}{}", info.preset, info.scenario,
                           info.drawn.empty() ? "" : " (" + info.drawn + ")", info.seed,
                           info.bug.empty() ? "" : ", RTL bug " + info.bug),
               false);
  page.heading("Command");
  page.lines(info.repro + (info.wave_file.empty() ? "\n" + info.repro + " --wave" : ""));
  first_divergence(page, r, contract);
  if (r.divergences.empty()) {
    page.heading("What is wrong");
    const std::string text = tb::failure_text(info, r);
    page.lines(text.substr(0, text.find("Last ")));
  }
  const picture::Time wrong = r.wrong_cycle() * preset.clock_ps;
  const int qp = r.qp < 0 ? -1 : r.qp + static_cast<int>(kQpnBase);
  const picture::Choice choice = choice_at(window.story, qp, wrong);
  page.heading("Packets in blocks before it");
  if (const auto blocks = picture::stage_picture(window.story, 0, choice)) page.picture(*blocks);
  page.heading("Ports before it");
  page.paragraph(
      fmt::format("The newest {} frames at the device's ports. Whether a frame that was sent arrived is what the link "
                  "says; times are those of the device.",
                  window.story.packets.size()));
  for (const picture::Picture& p : picture::pictures(window.story, choice)) page.picture(p);
  page.heading("Last events");
  page.lines(event_lines(r.last_events));
  if (r.qp >= 0 && !r.qp_events.empty()) {
    page.heading(fmt::format("Last events of QP {}", r.qp));
    page.lines(event_lines(r.qp_events));
  }
  page.heading("Files");
  std::vector<std::pair<std::string, std::string>> files;
  const auto file = [&](const std::string& path, const std::string& what) {
    if (!path.empty()) files.emplace_back(last_part(path), what);
  };
  file(info.pcap_file, "frames at the ports, with comments (Wireshark)");
  file(info.trace_file, "frames and blocks as a trace (ui.perfetto.dev)");
  file(info.kanata_file, "packets as instructions, blocks as stages (Konata)");
  file(info.wave_file, fmt::format("waves from cycle {} on (GTKWave, Surfer)", info.wave_from));
  file(info.scenario_file, "the scenario, to be edited");
  file(info.json_file, "all of this for programs");
  page.links(files);
  page.paragraph(versions_line());
  return page.html();
}

std::string finding_page(const ref::Finding& f, const std::string& device, const std::string& repro,
                         const picture::Story& story, const std::vector<std::pair<std::string, std::string>>& files) {
  const ref::RuleInfo& rule = ref::info(f.rule);
  picture::Page page(fmt::format("{}: {}", device, rule.id));
  page.verdict(
      fmt::format("{}{}{}, at {} us", ref::name_of(f.verdict), f.qp >= 0 ? fmt::format(", QP 0x{:x}", f.qp) : "",
                  f.frame != 0 ? fmt::format(", packet {}", f.frame) : "", picture::us_text(f.time)),
      f.verdict == ref::Verdict::Pass);
  page.heading("Command");
  page.lines(repro);
  page.heading("Rule");
  page.paragraph(std::string(rule.text) + ".");
  page.paragraph(fmt::format("Source: {}. Mark {}. Held by {}.", rule.cite, rule.mark, rule.part));
  page.heading("What is wrong");
  page.table({"", ""}, {{"came", f.came}, {"right", f.right}});
  if (f.since != 0) page.paragraph(fmt::format("It was owed since {} us.", picture::us_text(f.since)));
  if (!f.context.empty()) {
    page.heading("Last events of the queue pair");
    std::string lines;
    for (const std::string& line : f.context) lines += line + "\n";
    page.lines(lines);
  }
  page.heading("Pictures around it");
  // Some packets before what it was owed for, and some behind.
  constexpr picture::Time kBefore = 20'000'000, kBehind = 5'000'000;
  picture::Choice c = choice_at(story, static_cast<int>(f.qp), f.time);
  const picture::Time begin = f.since != 0 ? std::min(f.since, f.time) : f.time;
  c.from = begin - std::min(begin, kBefore);
  c.until = f.time + kBehind;
  if (c.qp) c.side = f.device;
  auto list = picture::pictures(story, c);
  if (list.empty()) page.paragraph("No packet in this stretch of time.");
  for (const picture::Picture& p : list) page.picture(p);
  page.heading("Files");
  page.links(files);
  page.paragraph(versions_line());
  return page.html();
}

}  // namespace mrc::cli
