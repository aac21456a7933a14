// SPDX-License-Identifier: Apache-2.0
#include "picture/check_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "picture/chart.hpp"
#include "picture/page.hpp"

namespace mrc::picture {
namespace {

using ref::Timeline;

struct Row {
  Timeline::Kind kind;
  const char* name;
  Ink ink;
};
constexpr Row kRows[] = {{Timeline::Packets, "packets", Ink::Plain},
                         {Timeline::Again, "sent again", Ink::Again},
                         {Timeline::Trimmed, "trimmed", Ink::Trimmed},
                         {Timeline::Marked, "marked CE", Ink::Marked},
                         {Timeline::Findings, "findings", Ink::Lost}};

}  // namespace

std::optional<Picture> timeline_picture(const Timeline& timeline) {
  if (timeline.counts().empty()) return {};
  constexpr double kWidth = 960, kLeft = 110, kRight = 16, kTop = 10, kRow = 50, kBar = 40, kBottom = 40;
  const std::size_t number = timeline.counts().size();
  const double width = us(timeline.width());
  const auto begin = [&](std::size_t i) { return us(timeline.begin()) + width * static_cast<double>(i); };
  Drawing d(kWidth, kTop + kRow * std::size(kRows) + kBottom, "Packets and findings in time");
  Frame f;
  f.x = {begin(0), begin(number), kLeft, kWidth - kRight};
  double floor = kTop + kBar;
  for (const Row& row : kRows) {
    uint64_t most = 0;
    for (const auto& counts : timeline.counts()) most = std::max(most, counts[row.kind]);
    d.text(kLeft - 8, floor - kBar / 2, row.name, 1, true, true);
    d.text(kLeft - 8, floor - kBar / 2 + 14, most == 0 ? "none" : fmt::format("up to {}", most), 1);
    d.box(kLeft, floor - kBar, f.x.end - kLeft, kBar, Ink::Edge, 0.06);
    for (std::size_t i = 0; i < number; ++i) {
      const uint64_t count = timeline.counts()[i][row.kind];
      if (count == 0) continue;
      const double height = std::max(1.0, kBar * static_cast<double>(count) / static_cast<double>(most));
      d.box(f.x.at(begin(i)), floor - height, f.x.at(begin(i + 1)) - f.x.at(begin(i)), height, row.ink, 0.85,
            fmt::format("{} {} from {} us on, in {} us", count, row.name, number_text(begin(i)), number_text(width)));
    }
    floor += kRow;
  }
  f.y = {0, 1, floor - kRow, floor - kRow};
  f.draw(d, "time, us", "", false);
  return Picture{
      "timeline", "Packets and findings in time",
      fmt::format("Each bar counts what happened in {} us. A row is scaled to its highest bar.", number_text(width)),
      d.svg()};
}

std::string check_page(const ref::Run& run, const std::string& title, const std::string& made_by) {
  Page page(title);
  page.verdict(fmt::format("{}, {} packets of {} devices", run.verdict_text(), run.packets(), run.devices()),
               run.verdict() == ref::Verdict::Pass);
  for (const std::string& line : run.remarks()) page.paragraph(line);
  const auto section = [&](const char* heading, const ref::Table& table) {
    if (table.rows.empty()) return;
    page.heading(heading);
    page.table(table.head, table.rows);
  };
  section("Queue pairs", run.ways_table());
  if (const auto picture = timeline_picture(run.timeline())) {
    page.heading("Timeline");
    page.picture(*picture);
  }
  section("What frames tell of queue pairs", run.facts_table());
  section("Readings", run.readings_table());
  const auto list = run.alike();
  if (!list.empty()) page.heading("Findings");
  for (const ref::Run::Alike& group : list) {
    const ref::Finding& f = group.first;
    const ref::RuleInfo& rule = ref::info(f.rule);
    page.subheading(fmt::format("{} {}, {}", rule.id, run.name_of_device(f.device), run.head(f)),
                    f.verdict == ref::Verdict::Pass);
    page.paragraph(fmt::format("{}. {}, mark {}.", rule.text, rule.cite, rule.mark));
    if (const std::string again = run.times(group); !again.empty()) page.paragraph(again);
    std::string lines = fmt::format("{}\ncame   {}\nright  {}\n", ref::time_text(f.time), f.came, f.right);
    for (const std::string& line : f.context) lines += "  " + line + "\n";
    page.lines(lines);
  }
  ref::Table rules{{"rule", "what must hold", "held", "broken", "rests"}, {}};
  for (std::size_t i = 0; i < ref::kNumRules; ++i) {
    const ref::Tally tally = run.tally(static_cast<ref::Rule>(i));
    std::string rests;
    for (const auto& [reason, times] : tally.rests) {
      rests += fmt::format("{}{}: {}", rests.empty() ? "" : "; ", reason, times);
    }
    rules.rows.push_back(
        {ref::kRules[i].id, ref::kRules[i].text, std::to_string(tally.checked), std::to_string(tally.broken), rests});
  }
  section("Rules", rules);
  page.paragraph(made_by);
  return page.html();
}

}  // namespace mrc::picture
