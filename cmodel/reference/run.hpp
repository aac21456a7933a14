// SPDX-License-Identifier: Apache-2.0
/// Judges for all devices of a log, and what they found as text and JSON.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/json.hpp"
#include "reference/coverage.hpp"
#include "reference/evidence.hpp"
#include "reference/judge.hpp"
#include "reference/load.hpp"
#include "reference/readings.hpp"
#include "reference/traffic.hpp"
#include "reference/waivers.hpp"

namespace mrc::ref {

struct RunOptions {
  std::optional<Profile> profile;    ///< of every device, instead of what the log says of it
  std::vector<std::string> devices;  ///< names or own addresses; empty: all
  std::optional<uint64_t> shows;     ///< of the events that a device shows these alone count (Profile::shows)
  /// The device that the run is about. What is inconclusive of the others does not count, only what they did wrong.
  std::optional<uint32_t> about;
  Waivers waive;           ///< what breaks these rules is counted and does not count
  input::Json versions;    ///< of the program, for the result
  bool readings = false;   ///< tell which reading of each open question a device follows
  bool every_way = false;  ///< the text has all ways between QPs, however many there are
  /// One more checker of a device, which outlives the run's records; null: none.
  std::function<std::unique_ptr<Checker>(uint32_t device, const Profile&, const Report&)> also;
};

/// A log is pushed record by record; then everything can be asked for.
class Run {
 public:
  explicit Run(RunOptions options) : options_(std::move(options)) {}

  /// Throws InputError: a device's profile cannot be read; more devices, QPs or regions than are allowed.
  void push(const log::Record& record) {
    auto copy = std::make_unique<log::Record>(record);
    take(copy);
  }
  /// The same without a copy: `record` becomes another one, whose memory can be used again.
  void take(std::unique_ptr<log::Record>& record);
  void finish();
  /// What was pushed is not all that there is, and why: no verdict is better than Inconclusive. Before finish().
  void stopped(std::string why) { stopped_ = std::move(why); }

  /// What was pushed comes from captures. Before finish().
  void evidence(Evidence evidence) { evidence_ = std::move(evidence); }

  /// The worst of all devices, without what is waived; Inconclusive when there was no packet, or when too little of the
  /// captures could be judged.
  Verdict verdict() const;
  /// Frames; of captures each counts once, else once for each device that sent or got it.
  uint64_t packets() const;
  uint64_t memory() const;
  std::size_t devices() const;
  /// Times a rule was applied (checked or broken), was at rest, stayed inconclusive.
  struct Share {
    uint64_t applied = 0, rests = 0, inconclusive = 0;
  };
  Share share() const;
  /// Sum of all devices.
  Tally tally(Rule rule) const;
  /// In the order of devices and of time.
  std::vector<Finding> findings() const;
  /// Findings of one rule and device are alike: the first one in full, how many, and where the last one is.
  struct Alike {
    Finding first;
    uint64_t count = 0;
    Place last;
  };
  /// In the order of devices and of the time of the first one.
  std::vector<Alike> alike() const;
  /// Of one device, in the order in which they were found; more come behind them.
  std::span<const Finding> found(uint32_t device) const;
  /// Devices that are judged, with what they say of themselves.
  std::vector<std::pair<uint32_t, const Profile*>> judged() const;
  const std::string& name_of_device(uint32_t device) const;
  /// Rules that were waived and held.
  std::vector<std::string> unused_waivers() const;
  bool waived(Rule rule) const { return options_.waive.contains(info(rule).id); }
  /// Findings that do not count; of how many rules.
  std::pair<uint64_t, unsigned> waived() const;
  /// "pass", and what of it was waived or left open by profiles.
  std::string verdict_text() const;
  /// Which rules were applied, and in which situations: of a device, or (nothing) of all of them.
  void add_to(Coverage& coverage, std::optional<uint32_t> device = {}) const;

  /// "QP 0x11, packet 6652, fail": of whom a finding is.
  std::string head(const Finding& finding) const;
  /// "12 times, the last time at 391.506 us, packet 6652"; "" for a single one.
  std::string times(const Alike& group) const;
  /// What of the evidence was not judged, and what helps; why it was stopped.
  std::vector<std::string> remarks() const;
  /// Who sent data to whom, and how it went.
  Table ways_table() const;
  /// What frames alone tell of the QPs of these ways, and the packets that it stands on; of captures.
  Table facts_table() const;
  /// Readings of open questions: device, question, reading, packets, the first of them.
  Table readings_table() const;
  /// Frames and findings, in time.
  Timeline timeline() const;

  /// One object: verdict, packets, devices, rules (id, checked, broken, rests), findings (rule, packet, text, ...).
  std::string to_json() const;
  /// For people: findings in full, counts, the verdict last. `repro`: the command that shows it again.
  std::string to_text(const std::string& repro) const;

 private:
  struct Device {
    std::string name;
    std::unique_ptr<Judge> judge;        ///< null: not asked for
    std::unique_ptr<Readings> readings;  ///< null: not asked for
  };
  Verdict verdict_of(const Report& report) const;
  std::string packet(uint32_t capture, uint64_t number) const;
  Tightness tightness() const;
  void judge(uint32_t number, Device& device, Profile profile);
  std::string who(std::optional<uint32_t> device, const log::Ip& address) const;
  std::span<const log::Fact> facts_of(const Way& way) const;
  std::string ways_text() const;
  std::string readings_text() const;
  input::Json ways_json() const;
  input::Json readings_json() const;
  void comes(const log::Record& record, const log::Device& device);
  bool requested_for(const log::Device& device, const Profile& profile) const;

  RunOptions options_;
  std::optional<Evidence> evidence_;
  std::string stopped_;  ///< why there is more; empty: there is not
  std::unique_ptr<Traffic> traffic_ = std::make_unique<Traffic>();
  std::shared_ptr<SpareRecords> spare_ = std::make_shared<SpareRecords>();
  std::map<uint32_t, Device> devices_;
  Load load_;
  std::pair<uint32_t, Device*> newest_{0, nullptr};  ///< that a record named
};

/// A finding in words, without the QP's last events: rule, what came, what would have been right.
std::string to_text(const Finding& finding);
/// The rule of that id; nothing: there is none.
std::optional<Rule> rule_of(std::string_view id);

}  // namespace mrc::ref
