// SPDX-License-Identifier: Apache-2.0
#include "reference/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "input/json.hpp"
#include "log/address.hpp"
#include "log/digest.hpp"
#include "log/format.hpp"

namespace mrc::ref {
namespace {

using input::Json;

/// Of what a device promises; which QPs and regions there are is of a run.
std::string profile_digest(Profile profile) {
  profile.qps.clear();
  profile.regions.clear();
  profile.addresses.clear();
  profile.controllers.clear();
  const std::string text = to_json(profile);
  return fmt::format("{:016x}", log::digest({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
}

/// A device's readings, by what it sends, and what came to it before.
class ReadingObserver final : public Checker {
 public:
  ReadingObserver(Readings& readings, const Profile& profile) : readings_(readings), wire_(profile.wire()) {}
  void sent(const Seen& seen) override {
    if ((seen.frame.flags & log::kFcsBad) != 0) return;
    readings_.packet(seen.packet, wire_, seen.frame.number, seen.frame.capture);
  }

  void received(const Seen& seen) override {
    if ((seen.frame.flags & log::kFcsBad) == 0) readings_.came(seen.packet, wire_);
  }

 private:
  Readings& readings_;
  const wire::WireConfig wire_;
};

}  // namespace

std::optional<Rule> rule_of(std::string_view id) {
  for (std::size_t i = 0; i < kNumRules; ++i) {
    if (id == kRules[i].id) return static_cast<Rule>(i);
  }
  return {};
}

bool Run::requested_for(const log::Device& device, const Profile& profile) const {
  if (options_.devices.empty()) return true;
  return std::ranges::any_of(options_.devices, [&](const std::string& wanted) {
    if (wanted == device.name || wanted == profile.name) return true;
    const auto ip = log::address_of(wanted);
    return ip && std::ranges::find(profile.addresses, *ip) != profile.addresses.end();
  });
}

void Run::comes(const log::Record& record, const log::Device& device) {
  if (devices_.contains(record.device)) return;  // appended logs say it again
  Profile profile;
  if (!device.profile.empty()) profile = read_profile(device.profile, "profile of device '" + device.name + "'");
  const bool wanted = requested_for(device, profile);
  if (options_.profile) profile = *options_.profile;
  if (options_.shows) profile.shows &= *options_.shows;
  Device& made = devices_[record.device];
  made.name = device.name;
  if (wanted) judge(record.device, made, std::move(profile));
}

void Run::judge(uint32_t number, Device& device, Profile profile) {
  device.judge = std::make_unique<Judge>(number, std::move(profile), spare_);
  load_.judged();
  Judge& judge = *device.judge;
  judge.also(traffic_->observer(number, judge.profile()));
  if (options_.readings) {
    device.readings = std::make_unique<Readings>();
    judge.also(std::make_unique<ReadingObserver>(*device.readings, judge.profile()));
  }
  if (!options_.also) return;
  if (auto checker = options_.also(number, judge.profile(), judge.report())) judge.also(std::move(checker));
}

void Run::take(std::unique_ptr<log::Record>& record) {
  load_.named(*record);
  if (const auto* device = std::get_if<log::Device>(&record->body)) return comes(*record, *device);
  if (newest_.second == nullptr || newest_.first != record->device) {
    const auto [at, fresh] = devices_.try_emplace(record->device);
    newest_ = {record->device, &at->second};
    if (fresh) {
      at->second.name = fmt::format("device {}", record->device);
      if (options_.devices.empty()) {
        judge(record->device, at->second, options_.profile.value_or(Profile{}));
      }
    }
  }
  if (!newest_.second->judge) return;
  if (std::holds_alternative<log::Qp>(record->body)) load_.weigh(*record);
  newest_.second->judge->take(record);
}

void Run::finish() {
  for (auto& [number, device] : devices_) {
    if (device.judge) device.judge->finish();
  }
}

uint64_t Run::packets() const {
  if (evidence_) return evidence_->imported.counts.judged;
  uint64_t sum = 0;
  for (const auto& [number, device] : devices_) sum += device.judge ? device.judge->packets() : 0;
  return sum;
}

uint64_t Run::memory() const {
  uint64_t sum = traffic_->memory() + spare_->memory();
  for (const auto& [number, device] : devices_) sum += device.judge ? device.judge->memory() : 0;
  return sum;
}

std::size_t Run::devices() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(devices_, [](const auto& entry) { return entry.second.judge != nullptr; }));
}

Tally Run::tally(Rule rule) const {
  Tally sum;
  for (const auto& [number, device] : devices_) {
    if (!device.judge) continue;
    const Tally& tally = device.judge->report().tally(rule);
    sum.checked += tally.checked;
    sum.broken += tally.broken;
    sum.inconclusive += tally.inconclusive;
    for (const auto& [reason, times] : tally.rests) sum.rests[reason] += times;
  }
  return sum;
}

Run::Share Run::share() const {
  Share share;
  for (std::size_t i = 0; i < kNumRules; ++i) {
    const Tally sum = tally(static_cast<Rule>(i));
    share.applied += sum.checked + sum.broken;
    for (const auto& [reason, times] : sum.rests) share.rests += times;
    share.inconclusive += sum.inconclusive;
  }
  return share;
}

namespace {
Verdict verdict_when_broken(Rule rule) {
  const Severity severity = info(rule).severity;
  return severity == Severity::Fail       ? Verdict::Fail
         : severity == Severity::Deviates ? Verdict::Deviates
                                          : Verdict::Broken;
}
}  // namespace

/// Of one device, without what is waived.
Verdict Run::verdict_of(const Report& report) const {
  Verdict worst = Verdict::Pass;
  for (std::size_t i = 0; i < kNumRules; ++i) {
    const auto rule = static_cast<Rule>(i);
    if (waived(rule)) continue;
    const Tally& tally = report.tally(rule);
    if (tally.inconclusive != 0) worst = std::max(worst, Verdict::Inconclusive);
    if (tally.broken != 0) worst = std::max(worst, verdict_when_broken(rule));
  }
  return worst;
}

Verdict Run::verdict() const {
  Verdict worst = packets() == 0 || !stopped_.empty() ? Verdict::Inconclusive : Verdict::Pass;
  if (evidence_ && evidence_->too_little()) worst = Verdict::Inconclusive;
  for (const auto& [number, device] : devices_) {
    if (!device.judge) continue;
    const Verdict verdict = verdict_of(device.judge->report());
    if (verdict != Verdict::Inconclusive || options_.about.value_or(number) == number) worst = std::max(worst, verdict);
  }
  return worst;
}

std::pair<uint64_t, unsigned> Run::waived() const {
  uint64_t findings = 0;
  unsigned rules = 0;
  for (const auto& [id, waiver] : options_.waive) {
    const auto rule = rule_of(id);
    const uint64_t broken = rule ? tally(*rule).broken : 0;
    findings += broken;
    rules += broken != 0;
  }
  return {findings, rules};
}

Tightness Run::tightness() const {
  Tightness sum;
  for (const auto& [number, device] : devices_) {
    if (!device.judge) continue;
    const Tightness& of = device.judge->report().tightness();
    sum.answers += of.answers;
    sum.open += of.open;
    sum.most = std::max(sum.most, of.most);
  }
  return sum;
}

std::string Run::verdict_text() const {
  std::string text = ref::name_of(verdict());
  const auto [findings, rules] = waived();
  if (findings != 0)
    text += fmt::format(", {} finding{} of {} rule{} waived", findings, findings == 1 ? "" : "s", rules,
                        rules == 1 ? "" : "s");
  for (const auto& [number, device] : devices_) {
    if (!device.judge || options_.about.value_or(number) == number) continue;
    uint64_t open = 0;
    for (std::size_t i = 0; i < kNumRules; ++i) {
      const auto rule = static_cast<Rule>(i);
      if (!waived(rule)) open += device.judge->report().tally(rule).inconclusive;
    }
    if (open != 0) text += fmt::format(", {} inconclusive of {}, which do not count", open, device.name);
  }
  const Tightness all = tightness();
  if (all.open != 0) text += fmt::format(", {} of {} answers left open by profiles", all.open, all.answers);
  return text;
}

void Run::add_to(Coverage& coverage, std::optional<uint32_t> only) const {
  coverage.add_run();
  for (const auto& [number, device] : devices_) {
    if (device.judge && only.value_or(number) == number)
      coverage.add(device.judge->report(),
                   device.judge->profile().name.empty() ? device.name : device.judge->profile().name);
  }
}

std::vector<Finding> Run::findings() const {
  std::vector<Finding> all;
  for (const auto& [number, device] : devices_) {
    if (!device.judge) continue;
    const auto& some = device.judge->report().findings();
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::stable_sort(all, [](const Finding& a, const Finding& b) {
    return a.device != b.device ? a.device < b.device : a.time < b.time;
  });
  return all;
}

std::vector<Run::Alike> Run::alike() const {
  std::vector<Alike> all;
  std::set<std::pair<uint32_t, Rule>> known;
  for (Finding& f : findings()) {
    if (!known.emplace(f.device, f.rule).second) continue;
    const Report& report = devices_.at(f.device).judge->report();
    const uint64_t count = report.tally(f.rule).broken;
    const Place last = report.last(f.rule);
    all.push_back({std::move(f), count, last});
  }
  return all;
}

std::string Run::packet(uint32_t capture, uint64_t number) const {
  return evidence_ ? evidence_->packet(capture, number) : fmt::format("packet {}", number);
}

std::string Run::head(const Finding& f) const {
  std::string text;
  if (f.qp >= 0) text += fmt::format("QP 0x{:x}, ", f.qp);
  if (f.frame != 0) text += packet(f.capture, f.frame) + ", ";
  return text + ref::name_of(f.verdict);
}

std::string Run::times(const Alike& group) const {
  if (group.count < 2) return {};
  std::string text = fmt::format("{} times, the last time at {}", group.count, time_text(group.last.time));
  if (group.last.frame != 0) text += ", " + packet(group.last.capture, group.last.frame);
  return text;
}

std::span<const Finding> Run::found(uint32_t device) const {
  const auto at = devices_.find(device);
  if (at == devices_.end() || !at->second.judge) return {};
  return at->second.judge->report().findings();
}

std::vector<std::pair<uint32_t, const Profile*>> Run::judged() const {
  std::vector<std::pair<uint32_t, const Profile*>> all;
  for (const auto& [number, device] : devices_) {
    if (device.judge) all.emplace_back(number, &device.judge->profile());
  }
  return all;
}

const std::string& Run::name_of_device(uint32_t device) const {
  static const std::string none;
  const auto at = devices_.find(device);
  return at == devices_.end() ? none : at->second.name;
}

std::vector<std::string> Run::unused_waivers() const {
  std::vector<std::string> unused;
  for (const auto& [id, reason] : options_.waive) {
    const auto rule = rule_of(id);
    if (!rule || tally(*rule).broken == 0) unused.push_back(id);
  }
  return unused;
}

std::string to_text(const Finding& f) {
  const RuleInfo& rule = info(f.rule);
  std::string text = fmt::format("{}: {}.\n    came   {}\n", rule.id, rule.text, f.came);
  if (!f.right.empty()) text += fmt::format("    right  {}\n", f.right);
  return text;
}

std::string Run::to_json() const {
  Json json;
  json["verdict"] = ref::name_of(verdict());
  json["versions"] = options_.versions;
  json["versions"]["log"] = fmt::format("{}.{}", log::kMajor, log::kMinor);
  json["versions"]["rules"] = rules_version();
  json["packets"] = packets();
  if (options_.about && devices_.contains(*options_.about)) json["about"] = devices_.at(*options_.about).name;
  if (evidence_) json["captures"] = evidence_->json();
  if (!stopped_.empty()) json["stopped"] = stopped_;
  Json devices = Json::array();
  for (const auto& [number, device] : devices_) {
    if (!device.judge) continue;
    devices.push_back({{"name", device.name},
                       {"profile", device.judge->profile().name},
                       {"profile_digest", profile_digest(device.judge->profile())},
                       {"verdict", ref::name_of(verdict_of(device.judge->report()))},
                       {"packets", device.judge->packets()}});
    const Tightness& tight = device.judge->report().tightness();
    devices.items.back()["tightness"] = {{"answers", tight.answers}, {"open", tight.open}, {"most_values", tight.most}};
    const Delays& answers = device.judge->report().answers();
    if (answers.count() == 0) continue;
    const Profile& profile = device.judge->profile();
    devices.items.back()["answers"] = {{"count", answers.count()},
                                       {"promised_ps", profile.take + profile.answer},
                                       {"half_ps", answers.within(0.5)},
                                       {"p99_ps", answers.within(0.99)},
                                       {"longest_ps", answers.longest()}};
  }
  json["devices"] = std::move(devices);
  const Share sum = share();
  json["obligations"] = {{"applied", sum.applied}, {"rests", sum.rests}, {"inconclusive", sum.inconclusive}};
  Json rules = Json::array();
  for (std::size_t i = 0; i < kNumRules; ++i) {
    const auto rule = static_cast<Rule>(i);
    const Tally one = tally(rule);
    Json entry;
    entry["id"] = info(rule).id;
    entry["checked"] = one.checked;
    entry["broken"] = one.broken;
    entry["inconclusive"] = one.inconclusive;
    Json rests = Json::object();
    for (const auto& [reason, times] : one.rests) rests[reason] = times;
    entry["rests"] = std::move(rests);
    if (waived(rule)) entry["waived"] = ref::to_text(options_.waive.at(info(rule).id));
    rules.push_back(std::move(entry));
  }
  json["rules"] = std::move(rules);
  json["qps"] = ways_json();
  if (options_.readings) json["readings"] = readings_json();
  Json list = Json::array();
  for (const Alike& group : alike()) {
    const Finding& f = group.first;
    const RuleInfo& rule = info(f.rule);
    Json entry;
    entry["rule"] = rule.id;
    entry["packet"] = f.frame;
    entry["text"] = fmt::format("{}: came {}; right would be {}", rule.text, f.came, f.right);
    entry["verdict"] = ref::name_of(f.verdict);
    entry["mark"] = rule.mark;
    entry["cite"] = rule.cite;
    entry["device"] = name_of_device(f.device);
    if (f.qp >= 0) entry["qp"] = f.qp;
    entry["time_ps"] = f.time;
    if (f.since != 0) entry["since_ps"] = f.since;
    entry["capture"] = f.capture;
    if (evidence_) entry["file"] = evidence_->file(f.capture);
    entry["count"] = group.count;
    entry["last"] = {{"packet", group.last.frame}, {"capture", group.last.capture}, {"time_ps", group.last.time}};
    entry["came"] = f.came;
    entry["right"] = f.right;
    entry["context"] = f.context;
    if (waived(f.rule)) entry["waived"] = true;
    list.push_back(std::move(entry));
  }
  json["findings"] = std::move(list);
  if (!options_.waive.empty()) {
    Json& waivers = json["waivers"] = Json::array();
    for (const auto& [id, waiver] : options_.waive) {
      const auto rule = rule_of(id);
      Json entry{{"rule", id}, {"reason", waiver.reason}, {"findings", rule ? tally(*rule).broken : 0}};
      if (!waiver.who.empty()) entry.update({{"who", waiver.who}, {"until", waiver.until}});
      waivers.push_back(std::move(entry));
    }
  }
  Json unused = unused_waivers();
  if (!unused.items.empty()) json["unused_waivers"] = std::move(unused);
  return json.dump(1) + "\n";
}

std::vector<std::string> Run::remarks() const {
  std::vector<std::string> lines;
  if (evidence_) {
    lines = evidence_->words();
    if (const auto why = evidence_->too_little()) {
      lines.push_back(*why);
      for (const std::string& remedy : evidence_->remedies()) lines.push_back("  " + remedy);
    }
  }
  if (!stopped_.empty()) lines.push_back(stopped_ + ": what follows in the evidence was not looked at");
  return lines;
}

std::string Run::to_text(const std::string& repro) const {
  constexpr std::size_t kMostShown = 3;  // of those that broke a rule, in full
  std::string text;
  std::map<Rule, std::size_t> shown;
  for (const Alike& group : alike()) {
    const Finding& f = group.first;
    if (shown[f.rule]++ >= kMostShown) continue;
    text += fmt::format("{} {}: {}{}\n  {}", time_text(f.time), name_of_device(f.device), head(f),
                        waived(f.rule) ? " (waived)" : "", ref::to_text(f));
    if (const std::string again = times(group); !again.empty()) text += "    again  " + again + "\n";
    text += fmt::format("    rule   {}, {}, mark {}\n", info(f.rule).cite, info(f.rule).part, info(f.rule).mark);
    if (!f.context.empty()) text += "    the QP's last packets, oldest first\n";
    for (const std::string& line : f.context) text += "      " + line + "\n";
    text += "\n";
  }
  text += ways_text();
  bool titled = false;
  for (std::size_t i = 0; i < kNumRules; ++i) {
    const auto rule = static_cast<Rule>(i);
    const Tally one = tally(rule);
    if (one.broken == 0) continue;
    if (!titled) text += fmt::format("  {:<20} {:>10} {:>10}\n", "broken rules", "broken", "held");
    titled = true;
    text += fmt::format("  {:<20} {:>10} {:>10}{}\n", info(rule).id, one.broken, one.checked,
                        waived(rule) ? "  waived: " + ref::to_text(options_.waive.at(info(rule).id)) : "");
  }
  std::map<std::string, std::vector<std::string>> resting;
  for (std::size_t i = 0; i < kNumRules; ++i) {
    for (const auto& [reason, times] : tally(static_cast<Rule>(i)).rests) {
      resting[reason].push_back(fmt::format("{} ({})", kRules[i].id, times));
    }
  }
  for (const auto& [reason, rules] : resting) {
    text += fmt::format("  rests because {}:\n", reason);
    std::string line = "   ";
    for (const std::string& rule : rules) {
      if (line.size() + rule.size() > 110) {
        text += line + "\n";
        line = "   ";
      }
      line += " " + rule;
    }
    text += line + "\n";
  }
  const Share sum = share();
  const uint64_t all = std::max<uint64_t>(sum.applied + sum.rests, 1);
  text +=
      fmt::format("  {} packets of {} devices; rules applied {} times, at rest {:.2f} %, inconclusive {:.2f} %\n",
                  packets(), devices(), sum.applied, 100.0 * static_cast<double>(sum.rests) / static_cast<double>(all),
                  100.0 * static_cast<double>(sum.inconclusive) / static_cast<double>(all));
  for (const std::string& line : remarks()) text += "  " + line + "\n";
  text += readings_text();
  for (const auto& [number, device] : devices_) {
    if (!device.judge || device.judge->report().answers().count() == 0) continue;
    const Delays& answers = device.judge->report().answers();
    const Profile& profile = device.judge->profile();
    text += fmt::format("  {} promises SACKs within {}; half of {} took {}, 99 % {}, the longest {}\n", device.name,
                        time_text(profile.take + profile.answer), answers.count(), time_text(answers.within(0.5)),
                        time_text(answers.within(0.99)), time_text(answers.longest()));
  }
  for (const std::string& id : unused_waivers()) {
    text += fmt::format("  the waiver of {} was not needed: take it away\n", id);
  }
  const Verdict worst = verdict();
  text += verdict_text() + "\n";
  if (worst != Verdict::Pass && !repro.empty()) text += fmt::format("  again: {}\n", repro);
  return text;
}

}  // namespace mrc::ref
