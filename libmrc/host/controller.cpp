// SPDX-License-Identifier: Apache-2.0
#include "libmrc/host/controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <functional>

#include "util/rng.hpp"
#include "wire/bytes.hpp"

namespace mrc::libmrc {
namespace {

constexpr uint32_t kStev = 1, kSrv6 = 2, kUdp = 4;                                    // enum mrc_ctl_ev_fmt_mode
constexpr uint32_t kAuto = 1, kExplicit = 2, kGenerated = 4;                          // enum mrc_ctl_ev_mode
constexpr uint32_t kGood = 1, kAssumedBad = 2, kDenied = 4;                           // enum mrc_ctl_ev_state
constexpr uint32_t kReplace = 0, kModifyState = 1, kQueryState = 2, kQueryArray = 3;  // enum mrc_ctl_ev_op

bool has(uint32_t with, uint32_t bits) { return (with & bits) == bits; }

constexpr uint64_t ones(uint32_t bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

/// Bits of an EV, from the top of its first byte on.
class Reader {
 public:
  explicit Reader(const std::array<uint8_t, 32>& bytes) : bytes_(bytes) {}
  uint32_t take() {
    if (at_ >= 256) return 0;
    const uint32_t bit = bytes_[at_ / 8] >> (7 - at_ % 8) & 1u;
    ++at_;
    return bit;
  }

 private:
  const std::array<uint8_t, 32>& bytes_;
  unsigned at_ = 0;
};

class Writer {
 public:
  /// The low bits of a value, highest first.
  void put(uint64_t value, uint32_t bits) {
    for (uint32_t i = bits; i-- > 0 && at_ < 256; ++at_) {
      if ((value >> i & 1) != 0) bytes_[at_ / 8] = static_cast<uint8_t>(bytes_[at_ / 8] | 0x80 >> at_ % 8);
    }
  }
  const std::array<uint8_t, 32>& bytes() const { return bytes_; }

 private:
  std::array<uint8_t, 32> bytes_{};
  unsigned at_ = 0;
};

uint32_t width_of(const FormatProfile& format) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < format.fields; ++i) sum += format.width[i];
  return sum;
}

uint32_t most_bits(uint32_t mode) { return mode == kUdp ? 16 : mode == kStev ? 32 : 256; }

/// What all kinds of profile have in common: a profile that is in INIT is nowhere.
template <class Map, class Profile>
int look_up(const char* kind, uint32_t most, const Map& all, uint64_t id, Profile& profile, std::string& why) {
  if (id >= most) return why = fmt::format("{} are 0 to {}", kind, most - 1), EINVAL;
  const auto found = all.find(id);
  profile = found == all.end() ? Profile{} : static_cast<const Profile&>(found->second);
  profile.current = profile.state;
  return 0;
}

/// And what may be wanted of it.
struct Step {
  ProfileState from, to;
  uint32_t values;  ///< that change, besides the state
  int error = 0;
  bool done = false;  ///< nothing is to be done
};
/// INIT, OFFLINE, ONLINE and back, one step at a time. `in_use`: why it must stay ONLINE; empty: it need not.
template <class Wanted>
Step step_of(const Wanted& wanted, ProfileState from, const std::function<std::string()>& in_use, std::string& why) {
  Step s{.from = from,
         .to = has(wanted.with, With::kState) ? wanted.profile.state : from,
         .values = wanted.with & ~(With::kState | With::kCurrent)};
  const auto no = [&](const std::string& sentence, int error = EINVAL) {
    why = sentence;
    s.error = error;
    return s;
  };
  if (has(wanted.with, With::kCurrent) && wanted.profile.current != from) return no("it is in another state");
  const auto a = static_cast<int>(from), b = static_cast<int>(s.to);
  if (b < 0 || b > 2 || (a - b) * (a - b) > 1) return no("INIT, OFFLINE, ONLINE and back, one step at a time");
  if (from != ProfileState::Online) return s;
  if (s.values != 0) return no("nothing changes while it is ONLINE");
  s.done = s.to == from;
  const std::string users = s.done ? "" : in_use();
  return users.empty() ? s : no(users, EBUSY);
}

}  // namespace

std::array<uint8_t, 32> expand(const FormatProfile& format, const EvProfile& profile,
                               const std::array<uint8_t, 32>& value) {
  Reader bits(value);
  Writer out;
  for (uint32_t i = 0; i < format.fields; ++i) {
    if (i >= profile.fields) {
      out.put(0, format.width[i]);
      continue;
    }
    const EvField& f = profile.field[i];
    uint64_t field = f.init;
    for (uint32_t at = f.width; at-- > 0;) {
      if ((f.mask >> at & 1u) != 0) field = (field & ~(uint64_t{1} << at)) | uint64_t{bits.take()} << at;
    }
    out.put(field, format.width[i]);
  }
  return out.bytes();
}

Controller::Controller(Setup setup) : setup_(std::move(setup)) {
  // The NIC's own EVs, and no congestion control: what a queue pair has that names no profile.
  Evs& own = evs_[0];
  own.profile.state = ProfileState::Online;
  own.profile.mode = kAuto;
  own.profile.count = setup_.evs;
  cc_[0].state = ProfileState::Online;
}

uint32_t Controller::count() const {
  uint32_t sum = 0;
  for (const auto& [id, evs] : evs_) sum += static_cast<uint32_t>(evs.entries.size());
  return sum;
}

ControllerRow Controller::row() const {
  ControllerRow r{};
  r.formats = kFormats;
  r.ev_profiles = kEvProfiles;
  r.cc_profiles = kCcProfiles;
  r.evs_of_profile = setup_.evs;
  r.evs = setup_.evs * kEvProfiles;
  r.free_evs = r.evs - count();
  r.events = setup_.events;
  return r;
}

int Controller::query(uint64_t id, FormatProfile& profile, std::string& why) const {
  return look_up("formats", kFormats, formats_, id, profile, why);
}
int Controller::query(uint64_t id, EvProfile& profile, std::string& why) const {
  return look_up("EV profiles", kEvProfiles, evs_, id, profile, why);
}
int Controller::query(uint64_t id, CcProfile& profile, std::string& why) const {
  return look_up("CC profiles", kCcProfiles, cc_, id, profile, why);
}

// Formats.

int Controller::modify(const ModifyFormat& wanted, std::string& why) {
  FormatProfile now{};
  if (const int error = query(wanted.id, now, why); error != 0) return error;
  const FormatProfile& w = wanted.profile;
  const auto no = [&](const std::string& sentence, int error = EINVAL) {
    why = fmt::format("format {}: {}", wanted.id, sentence);
    return error;
  };
  const auto in_use = [&]() -> std::string {
    for (const auto& [id, evs] : evs_) {
      const EvProfile& p = evs.profile;
      if (p.state == ProfileState::Online && p.mode != kAuto && p.format == wanted.id)
        return fmt::format("EV profile {} is ONLINE", id);
    }
    return {};
  };
  const auto [from, to, values, error, done] = step_of(wanted, now.state, in_use, why);
  if (error != 0) return no(why, error);
  if (done) return 0;
  if (from == ProfileState::Init && (to == from || !has(values, With::kMode)))
    return no("out of INIT leads OFFLINE, with a mode");
  if (has(values, With::kMode)) {
    if (w.mode != kStev && w.mode != kSrv6 && w.mode != kUdp) return no("there is no such mode");
    now.mode = w.mode;
  }
  if (has(values, With::kFields)) {
    if (w.fields < 1) return no("it has a field at least");
    if (w.fields > kMaxFields) return no(fmt::format("it has {} fields at most", kMaxFields), E2BIG);
    now.fields = w.fields;
    now.width = w.width;
    for (uint32_t i = 0; i < w.fields; ++i) {
      if (w.width[i] < 1 || w.width[i] > 64) return no("a field has 1 to 64 bits");
    }
  }
  if (now.fields != 0 && width_of(now) > most_bits(now.mode))
    return no(fmt::format("{} bits are more than the {} of its mode", width_of(now), most_bits(now.mode)), E2BIG);
  if (to == ProfileState::Online && now.fields == 0) return no("ONLINE needs fields");
  now.state = to;
  if (to == ProfileState::Init) {
    formats_.erase(wanted.id);
  } else {
    formats_[wanted.id] = now;
  }
  return 0;
}

// EVs.

int Controller::check_fields(const EvProfile& p, std::string& why) const {
  if (p.mode == kAuto) return 0;
  const auto format = formats_.find(p.format);
  if (format == formats_.end()) return why = fmt::format("format {} is in INIT", p.format), EINVAL;
  const FormatProfile& f = format->second;
  if (p.fields > f.fields)
    return why = fmt::format("{} fields are more than the format's {}", p.fields, f.fields), E2BIG;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < p.fields; ++i) {
    const EvField& e = p.field[i];
    sum += e.width;
    if (e.width < 1 || e.width > 32 || e.width > f.width[i])
      return why = fmt::format("field {} has 1 to {} bits", i, std::min<unsigned>(32, f.width[i])), EINVAL;
    if (e.init > ones(e.width) || e.mask > ones(e.width))
      return why = fmt::format("field {}: init_val and mask have {} bits", i, e.width), EINVAL;
    if (e.max > ones(static_cast<uint32_t>(std::popcount(e.mask))) || e.min > e.max)
      return why = fmt::format("field {}: 0 <= min_val <= max_val, within the bits of the mask", i), EINVAL;
  }
  if (sum > width_of(f)) return why = fmt::format("{} bits are more than the format's {}", sum, width_of(f)), E2BIG;
  return 0;
}

int Controller::to_offline(Evs& evs, const ModifyEvProfile& wanted, std::string& why) {
  EvProfile& p = evs.profile;
  const bool automatic = has(wanted.with, With::kMode) && wanted.profile.mode == kAuto;
  if (!has(wanted.with, automatic ? With::kMode : With::kMode | With::kFormat | With::kCount))
    return why = "out of INIT it needs mode, format and count", EINVAL;
  if (has(wanted.with, With::kFields)) return 0;
  // None are named: each of the format's fields is bits of the EV, all of them.
  const auto format = formats_.find(wanted.profile.format);
  if (automatic || format == formats_.end()) return 0;
  p.fields = format->second.fields;
  for (uint32_t i = 0; i < p.fields; ++i) {
    const uint32_t width = std::min<uint32_t>(format->second.width[i], 32);
    p.field[i] = {width, 0, 0, 0, static_cast<uint32_t>(ones(width))};
  }
  return 0;
}

/// Each field's bits are drawn from min to max; max 0: from all that the mask has. No EV is 0 in a packet.
void Controller::generate(uint64_t id, Evs& evs) {
  Rng rng(setup_.seed, fmt::format("EV profile {}", id));
  for (uint32_t i = 0; i < evs.entries.size(); ++i) {
    Entry& entry = evs.entries[i];
    entry = {};
    entry.ev.port = i % setup_.planes + 1;
    for (unsigned tries = 0; tries < 16; ++tries) {
      Writer bits;
      for (uint32_t k = 0; k < evs.profile.fields; ++k) {
        const EvField& f = evs.profile.field[k];
        const auto width = static_cast<uint32_t>(std::popcount(f.mask));
        const uint64_t most = f.max == 0 ? ones(width) : f.max;
        bits.put(f.min + rng.below(most - f.min + 1), width);
      }
      entry.ev.value = bits.bytes();
      const bool again = std::any_of(evs.entries.begin(), evs.entries.begin() + i,
                                     [&](const Entry& e) { return e.ev.value == entry.ev.value; });
      if (!again && of_packets(evs, entry) != 0) break;
    }
  }
}

/// The 32 bits that the NIC puts into flow label and source port.
uint32_t Controller::of_packets(const Evs& evs, const Entry& entry) const {
  const FormatProfile& format = formats_.at(evs.profile.format);
  const auto bytes = expand(format, evs.profile, entry.ev.value);
  const uint32_t word = uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
  return format.mode == kUdp ? word & 0xffff0000u : word;
}

int Controller::to_online(uint64_t id, Evs& evs, std::string& why) {
  EvProfile& p = evs.profile;
  if (p.min_active > p.count) return why = "min_active is count at most", EINVAL;
  if (p.min_active > setup_.min_active)
    setup_.say(
        fmt::format("EV profile {}: ev_min_active is {}, our NIC keeps {} EVs of a queue pair in use (mrc host "
                    "--min-active)",
                    id, p.min_active, setup_.min_active));
  if (p.mode == kAuto) return 0;
  const auto format = formats_.find(p.format);
  if (format == formats_.end() || format->second.state != ProfileState::Online)
    return why = fmt::format("format {} is not ONLINE", p.format), EINVAL;
  if (p.mode == kGenerated) generate(id, evs);
  std::vector<uint32_t> of_port(setup_.planes + 1);
  for (const Entry& entry : evs.entries) {
    if (entry.ev == EvValue{}) return why = "some of its EVs are not populated", EINVAL;
    ++of_port[entry.ev.port];
  }
  if (*std::ranges::max_element(of_port) > setup_.evs / setup_.planes)
    return why = fmt::format("one port has {} EVs at most", setup_.evs / setup_.planes), E2BIG;
  for (uint32_t i = 0; setup_.show && i < evs.entries.size(); ++i) {
    const EvValue& ev = evs.entries[i].ev;
    std::string bits, packet;
    for (const uint8_t byte : ev.value) bits += fmt::format("{:02x}", byte);
    for (const uint8_t byte : expand(format->second, p, ev.value)) packet += fmt::format("{:02x}", byte);
    setup_.show(fmt::format("{},{},{},0x{},0x{}", id, i, ev.port, bits, packet));
  }
  return 0;
}

int Controller::modify(const ModifyEvProfile& wanted, std::string& why) {
  EvProfile now{};
  if (const int error = query(wanted.id, now, why); error != 0) return error;
  const auto no = [&](int error) {
    why = fmt::format("EV profile {}: {}", wanted.id, why);
    return error;
  };
  if (wanted.id == 0) return why = "it is the NIC's own", no(EINVAL);
  const EvProfile& w = wanted.profile;
  const auto [from, to, values, wrong, done] = step_of(
      wanted, now.state, [&] { return setup_.ev_in_use(wanted.id) ? "queue pairs have it" : ""; }, why);
  if (wrong != 0) return no(wrong);
  if (done) return 0;
  Evs evs = evs_.contains(wanted.id) ? evs_.at(wanted.id) : Evs{};
  EvProfile& p = evs.profile;
  if (from == ProfileState::Init) {
    if (to == from) return why = "it is in INIT", no(EINVAL);
    if (const int error = to_offline(evs, wanted, why); error != 0) return no(error);
  }
  if (has(values, With::kMode)) {
    if (w.mode != kAuto && w.mode != kExplicit && w.mode != kGenerated)
      return why = "there is no such mode", no(EINVAL);
    p.mode = w.mode;
  }
  if (has(values, With::kFormat)) p.format = w.format;
  if (has(values, With::kFields)) {
    if (w.fields > kMaxFields) return why = fmt::format("it has {} fields at most", kMaxFields), no(E2BIG);
    p.fields = w.fields;
    p.field = w.field;
  }
  if (has(values, With::kMinActive)) p.min_active = w.min_active;
  if (has(values, With::kEvents)) {
    if ((w.events & ~(kGood | kAssumedBad)) != 0) return why = "events are of GOOD and ASSUMED_BAD", no(EINVAL);
    p.events = w.events;
  }
  if (has(values, With::kCount)) {
    if (w.count < 1 || w.count > setup_.evs)
      return why = fmt::format("it has 1 to {} EVs, not {}", setup_.evs, w.count), no(w.count < 1 ? EINVAL : E2BIG);
    p.count = w.count;
  }
  if (p.mode == kAuto) p.count = setup_.evs;
  evs.entries.resize(p.mode == kAuto ? 0 : p.count);
  if (const int error = check_fields(p, why); error != 0) return no(error);
  if (to == ProfileState::Online && from != to) {
    if (const int error = to_online(wanted.id, evs, why); error != 0) return no(error);
  }
  p.state = to;
  if (to == ProfileState::Init) {
    evs_.erase(wanted.id);
  } else {
    evs_[wanted.id] = std::move(evs);
  }
  return 0;
}

int Controller::entry(const EvEntry& wanted, EvEntryRow& row, std::string& why,
                      const std::function<void(uint32_t, bool)>& denied) {
  const auto found = wanted.id < kEvProfiles ? evs_.find(wanted.id) : evs_.end();
  const auto no = [&](int error, const std::string& sentence) {
    why = fmt::format("EV profile {}: {}", wanted.id, sentence);
    return error;
  };
  if (found == evs_.end() || found->second.profile.mode == kAuto) return no(EINVAL, "it has no EVs of a controller's");
  Evs& evs = found->second;
  const auto state_of = [](const Entry& e) { return e.denied ? kDenied : e.bad_at.empty() ? kGood : kAssumedBad; };
  const auto same = [&](const Entry& e) { return e.ev == wanted.ev; };
  if (wanted.op == kQueryArray) {
    if (wanted.index >= evs.entries.size()) return no(EINVAL, "it has fewer EVs");
    row.ev = evs.entries[wanted.index].ev;
    row.state = state_of(evs.entries[wanted.index]);
    return 0;
  }
  const auto at = std::ranges::find_if(evs.entries, same);
  if (at == evs.entries.end()) return no(ENOENT, "it has no such EV");
  const bool online = evs.profile.state == ProfileState::Online;
  switch (wanted.op) {
    case kReplace: {
      if (evs.profile.mode != kExplicit) return no(EINVAL, "its EVs are not listed");
      if (online) return no(EINVAL, "no EV is replaced while it is ONLINE");
      if (wanted.replacement.port < 1 || wanted.replacement.port > setup_.planes)
        return no(EINVAL, fmt::format("ports are 1 to {}", setup_.planes));
      if (wanted.state != kGood && wanted.state != kDenied && wanted.state != 0)
        return no(EINVAL, "an EV begins GOOD or DENIED");
      for (Entry& e : evs.entries) {
        if (!same(e) || (&e != &*at && wanted.all_copies == 0)) continue;
        Entry changed;
        changed.ev = wanted.replacement;
        changed.denied = wanted.state == kDenied;
        e = changed;
        if (wanted.all_copies == 0) break;
      }
      return 0;
    }
    case kModifyState: {
      if (wanted.state != kGood && wanted.state != kDenied) return no(EINVAL, "an EV is made GOOD or DENIED");
      for (Entry& e : evs.entries) {
        if (same(e)) e.denied = wanted.state == kDenied;
      }
      if (online) denied(of_packets(evs, *at), wanted.state == kDenied);
      return 0;
    }
    case kQueryState:
      row.ev = at->ev;
      row.state = state_of(*at);
      return 0;
    default:
      return no(EINVAL, "there is no such operation");
  }
}

/// The NIC has no list of addresses: it makes one of a template, the plane, and low bits of an EV of 32 bits. So the
/// profile's addresses must be such ones. The upper bits of the EV tell those apart that share an uplink.
int Controller::srv6(const Evs& evs, Places& places, std::vector<uint32_t>& words, std::string& why) const {
  const FormatProfile& format = formats_.at(evs.profile.format);
  const Srv6Rule& rule = setup_.rule;
  const unsigned uplink_lsb = 80 - 16 * rule.uplink_usid + rule.uplink_lsb;
  const auto uplinks = static_cast<uint32_t>(ones(rule.uplink_bits));
  for (uint32_t i = 0; i < evs.entries.size(); ++i) {
    const EvValue& ev = evs.entries[i].ev;
    const auto bytes = expand(format, evs.profile, ev.value);
    const auto half = [&](unsigned at) {
      return U128{wire::load_be<8>(bytes.data() + at)} << 64 | wire::load_be<8>(bytes.data() + at + 8);
    };
    const U128 address = half(0);
    const std::optional<U128> segment = width_of(format) > 128 ? std::optional(half(16)) : std::nullopt;
    if (i == 0) {
      // What of the first address the NIC would put in.
      U128 own = U128{uplinks} << uplink_lsb;
      for (unsigned usid = 0; usid < 6; ++usid)
        own |= U128{std::bit_ceil(setup_.planes) - 1} << (80 - 16 * usid + rule.plane_lsb);
      places.path = address & ~own;
      places.segment = segment;
    }
    words.push_back((i + 1) << rule.uplink_bits | (static_cast<uint32_t>(address >> uplink_lsb) & uplinks));
    const U128 made = srv6_address(*places.path, ev.port - 1, words.back(), rule);
    if (address != made || segment != places.segment)
      return why = fmt::format(
                 "entry {} (port {}): our NIC makes addresses of a template, the plane and an uplink "
                 "(register SRV6): {:016x}{:016x} of this profile's one, not {:016x}{:016x}",
                 i, ev.port, static_cast<uint64_t>(made >> 64), static_cast<uint64_t>(made),
                 static_cast<uint64_t>(address >> 64), static_cast<uint64_t>(address)),
             ENOTSUP;
  }
  return 0;
}

int Controller::places(uint64_t id, std::optional<Places>& places, std::string& why) const {
  const auto found = evs_.find(id);
  if (found == evs_.end() || found->second.profile.state != ProfileState::Online)
    return why = fmt::format("EV profile {} is not ONLINE", id), EINVAL;
  const Evs& evs = found->second;
  if (evs.profile.mode == kAuto) return 0;
  Places found_places;
  std::vector<uint32_t> words;
  if (formats_.at(evs.profile.format).mode == kSrv6) {
    if (const int error = srv6(evs, found_places, words, why); error != 0)
      return why = fmt::format("EV profile {}: {}", id, why), error;
  } else {
    for (const Entry& entry : evs.entries) words.push_back(of_packets(evs, entry));
  }
  const unsigned planes = setup_.planes;
  std::vector<std::vector<uint32_t>> of_plane(planes);
  for (uint32_t i = 0; i < evs.entries.size(); ++i) of_plane[evs.entries[i].ev.port - 1].push_back(i);
  std::size_t groups = 0;
  for (const auto& list : of_plane) groups = std::max(groups, list.size());
  places = found_places;
  for (std::size_t g = 0; g < groups; ++g) {
    for (unsigned plane = 0; plane < planes; ++plane) {
      const auto& list = of_plane[plane];
      if (list.empty()) {  // a value of nobody, which is denied
        places->evs.push_back(~static_cast<uint32_t>(g * planes + plane));
        places->entry.emplace_back();
        continue;
      }
      const Entry& entry = evs.entries[list[g % list.size()]];
      places->evs.push_back(words[list[g % list.size()]]);
      places->entry.emplace_back(list[g % list.size()]);
      if (entry.denied) places->denied.insert(places->evs.back());
    }
  }
  return 0;
}

void Controller::state(uint64_t id, uint32_t qp, uint32_t entry, bool bad) {
  const auto found = evs_.find(id);
  if (found == evs_.end() || entry >= found->second.entries.size()) return;
  Entry& e = found->second.entries[entry];
  const bool was = !e.bad_at.empty();
  if (bad) {
    e.bad_at.insert(qp);
  } else {
    e.bad_at.erase(qp);
  }
  const uint32_t state = e.bad_at.empty() ? kGood : kAssumedBad;
  if (was != !e.bad_at.empty() && (found->second.profile.events & state) != 0) setup_.happened({id, e.ev, state});
}

void Controller::forget(uint32_t qp) {
  for (auto& [id, evs] : evs_) {
    for (Entry& entry : evs.entries) entry.bad_at.erase(qp);
  }
}

// Congestion control.

namespace {

tb::ControllerNumbers numbers_of(const CcConfig& c) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  return {{"disable_qa", number(c.disable_qa != 0)},
          {"adjust_bytes_threshold", number(c.adjust_bytes_threshold)},
          {"adjust_period_threshold", number(c.adjust_period_threshold)},
          {"base_rtt", number(c.base_rtt)},
          {"eta", number(c.eta)},
          {"fi", number(c.fi)},
          {"fi_scale", number(c.fi_scale)},
          {"gamma", number(c.gamma)},
          {"max_md_jump", number(c.max_md_jump)},
          {"max_cwnd", number(c.max_cwnd)},
          {"qa_gate", number(c.qa_gate)},
          {"qa_threshold", number(c.qa_threshold)},
          {"target_delay", number(c.target_delay)}};
}

/// What no controller could have, whatever the rate and the MTU; empty: nothing.
std::string problem_of(const CcConfig& c) {
  NsccParams params;
  params.path_mtu = 256;
  for (const auto& [name, value] : numbers_of(c)) {
    if (const auto error = nscc_set(params, name, value); error) return error->what;
  }
  const auto real = nscc_resolve(params);
  return real ? "" : real.error().what;
}

}  // namespace

int Controller::modify(const ModifyCcProfile& wanted, std::string& why) {
  CcProfile now{};
  if (const int error = query(wanted.id, now, why); error != 0) return error;
  const auto no = [&](const std::string& sentence, int error = EINVAL) {
    why = fmt::format("CC profile {}: {}", wanted.id, sentence);
    return error;
  };
  if (wanted.id == 0) return no("it is the NIC's own");
  const CcProfile& w = wanted.profile;
  const auto [from, to, values, error, done] = step_of(
      wanted, now.state, [&] { return setup_.cc_in_use(wanted.id) ? "queue pairs have it" : ""; }, why);
  if (error != 0) return no(why, error);
  if (done) return 0;
  if (from == ProfileState::Init && (to == from || !has(values, With::kAlgorithm)))
    return no("out of INIT leads OFFLINE, with an algorithm");
  if (has(values, With::kAlgorithm)) now.nscc = w.nscc;
  if (has(values, With::kConfig)) {
    const CcConfig& c = w.config;
    if (now.nscc == 0) return no("without an algorithm there is nothing to configure");
    if (const std::string bad = problem_of(c); !bad.empty()) return no(bad);
    now.config = c;
    now.configured = 1;
  }
  if (to == ProfileState::Online && from != to && now.nscc != 0 && now.configured == 0)
    return no("ONLINE needs a configuration");
  now.state = to;
  if (to == ProfileState::Init) {
    cc_.erase(wanted.id);
  } else {
    cc_[wanted.id] = now;
  }
  return 0;
}

int Controller::control(uint64_t id, std::optional<tb::ControllerNumbers>& numbers, std::string& why) const {
  const auto found = cc_.find(id);
  if (found == cc_.end() || found->second.state != ProfileState::Online)
    return why = fmt::format("CC profile {} is not ONLINE", id), EINVAL;
  if (found->second.nscc != 0) numbers = numbers_of(found->second.config);
  return 0;
}

}  // namespace mrc::libmrc
