// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/log_input.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/version.hpp"
#include "input/names.hpp"
#include "input/number.hpp"
#include "picture/page.hpp"
#include "picture/pictures.hpp"

namespace mrc::cli {
namespace picture_command {
namespace {

constexpr uint64_t kMostNs = 1'000'000'000'000'000;

struct Options {
  std::vector<std::string> files;
  std::string out, device;
  std::optional<uint64_t> qp, wr_id;
  uint64_t from_ns = 0, until_ns = kMostNs, most = 3;
};

picture::Story story_of(const std::vector<std::string>& files) {
  picture::Story story;
  for (const std::string& file : files) {
    LogInput input(file);
    for (log::Record record; !g_stop && !story.full() && input.reader().next(record);) story.add(record);
    if (g_stop) throw UsageError("stopped before the pictures were drawn.", "Let it come to its end.");
    input.refuse_damage();
    if (story.full())
      throw UsageError(input.name() + ": more than 2^24 frames.",
                       "Record fewer packets, or fewer NICs (--record-nics).");
  }
  story.finish();
  return story;
}

picture::Choice choice_of(const Options& o, const picture::Story& story) {
  picture::Choice c;
  c.from = o.from_ns * 1000;
  c.until = o.until_ns == kMostNs ? log::kNever : o.until_ns * 1000;
  if (c.until <= c.from) {
    throw UsageError(fmt::format("--from-ns {} --until-ns {} is no stretch of time.", o.from_ns, o.until_ns),
                     "Write the smaller time first.");
  }
  if (o.qp) c.qp = static_cast<uint32_t>(*o.qp);
  c.wr_id = o.wr_id;
  c.most = static_cast<unsigned>(o.most);
  if (o.device.empty()) return c;
  std::vector<std::string_view> names;
  for (const auto& [number, device] : story.devices) {
    if (device.name == o.device) c.device = number;
    names.push_back(device.name);
  }
  if (!c.device) {
    throw UsageError(with_full_stop("--device: the log has no device " + input::shown(o.device) +
                                    input::did_you_mean(o.device, names)),
                     "'mrc log info' names them.");
  }
  return c;
}

int run(const Options& o) {
  Outputs outputs("mrc picture");
  for (const std::string& file : o.files) outputs.reads(file);
  const StopOnSignal stop;
  const picture::Story story = story_of(o.files);
  const auto list = picture::pictures(story, choice_of(o, story));
  if (list.empty()) {
    throw UsageError("there is nothing to draw: no packet of such a queue pair, in that time.",
                     "Look into the log with 'mrc log info', or leave out --qp, --device, --from-ns, --until-ns.");
  }
  const OutputFolder folder("--out", o.out);
  picture::Page page("Pictures of " + o.files.front());
  for (const picture::Picture& p : list) {
    page.picture(p);
    Output* const file = outputs.add("--out", (folder.path() / (p.name + ".svg")).string());
    outputs.write(file, [&](std::ostream& out) { out << p.svg; });
    text_out() << fmt::format("{}  {}\n", file->path(), p.title);
  }
  page.paragraph(versions_line());
  Output* const index = outputs.add("--out", (folder.path() / "index.html").string());
  outputs.write(index, [&](std::ostream& out) { out << page.html(); });
  text_out() << fmt::format("{}  all of them\n", index->path());
  return outputs.finish(kPass);
}

}  // namespace
}  // namespace picture_command

void register_picture(Command& app, Context& context) {
  using namespace picture_command;
  auto options = std::make_shared<Options>();
  Command& command = app.command("picture", "draw what NICs did, from a log: docs/guide/pictures.md");
  command.footer(R"(
Examples:
  mrc cosim --preset tiny --scenario loss --packets 500 --record run.mrclog
  mrc picture run.mrclog --out pictures          PSNs, entropy values, windows, a ladder: SVG and index.html
  mrc picture run.mrclog --out pictures --device dut --qp 0x12 --from-ns 2000 --until-ns 9000)");
  command.words("file", options->files, "logs (mrc cosim --record)").required().called("FILE");
  command.text("--out", options->out, "folder for the pictures and index.html").required().called("FOLDER");
  command.text("--device", options->device, "of this requestor alone: its name in the log");
  command.number("--qp", options->qp, 0, 0xffffff, "this queue pair alone");
  command.number("--wr-id", options->wr_id, 0, kAnySeed, "the work request of the ladder");
  command.number("--from-ns", options->from_ns, 0, kMostNs, "nothing before");
  command.number("--until-ns", options->until_ns, 0, kMostNs, "nothing after");
  command.number("--most", options->most, 1, 64, "queue pairs that are drawn, those with most losses first");
  command.action([options, &context] { context.exit_code = run(*options); });
}

}  // namespace mrc::cli
