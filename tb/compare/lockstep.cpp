// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/lockstep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "input/json.hpp"
#include "wire/decode.hpp"
#include "wire/json.hpp"

namespace mrc::tb {
namespace {
using input::Json;

std::string flag(uint32_t value) { return value ? "1" : "0"; }

/// Bytes that differ: the first place, and what stands there on both sides.
void byte_differences(std::vector<Difference>& list, const std::string& name, const uint8_t* dut, const uint8_t* model,
                      unsigned size) {
  unsigned first = size, count = 0;
  for (unsigned i = 0; i < size; ++i) {
    if (dut[i] == model[i]) continue;
    first = std::min(first, i);
    ++count;
  }
  if (count == 0) return;
  const auto hex = [&](const uint8_t* bytes) {
    std::string text;
    for (unsigned i = first; i < std::min(first + 16, size); ++i) text += fmt::format("{:02x}", bytes[i]);
    return text;
  };
  list.push_back({fmt::format("{} bytes from {} on ({} differ)", name, first, count), hex(dut), hex(model)});
}

/// The values of a tree by their paths, "/bth/psn".
void flatten(const Json& json, const std::string& path, std::map<std::string, std::string>& to) {
  for (const input::JsonMember& m : json.members) flatten(m.value, path + "/" + m.name, to);
  for (std::size_t i = 0; i < json.items.size(); ++i) flatten(json.items[i], fmt::format("{}/{}", path, i), to);
  if (json.members.empty() && json.items.empty()) to[path] = json.dump();
}

/// A header of the NIC in words of the protocol: what its bytes say differently.
void header_differences(std::vector<Difference>& list, const uint32_t* dut, const uint8_t* dut_bytes,
                        const uint32_t* model, const uint8_t* model_bytes) {
  const auto decoded = [](const uint32_t* words, const uint8_t* bytes) {
    const Hdr h = Hdr::unpack(words);  // with as many zeros behind it as the packet will have
    std::vector<uint8_t> frame(bytes, bytes + std::min<unsigned>(h.hdr_len, kHdrBytes));
    frame.resize(frame.size() + (size_t{h.plen} + 3) / 4 * 4 + 4);
    std::map<std::string, std::string> flat;
    flatten(*input::parse_json(wire::to_json(wire::decode(frame), frame)), "", flat);
    return flat;
  };
  const auto d = decoded(dut, dut_bytes), m = decoded(model, model_bytes);
  for (const auto& [key, value] : m) {
    if (key.starts_with("/error") || key.starts_with("/payload") || key.starts_with("/icrc") || key.starts_with("/raw"))
      continue;
    if (const auto other = d.find(key); other != d.end() && other->second != value)
      list.push_back({key.substr(1), other->second, value});
  }
}

/// Fields of a stream that differ; `d` and `m` are its words.
void field_differences(std::vector<Difference>& list, const StreamInfo& info, const uint32_t* d, const uint32_t* m) {
  for (const FieldInfo& f : info.fields) {
    bool same = true;
    for (unsigned w = 0; w * 32 < f.width; ++w) same = same && f.word(d, w) == f.word(m, w);
    if (same) continue;
    if (f.width <= 128) {
      list.push_back({f.name, field_text(f, d), field_text(f, m)});
      continue;
    }
    uint8_t db[160]{}, mb[160]{};
    const unsigned size = f.width / 8;
    for (unsigned i = 0; i < size && i < sizeof db; ++i) {
      db[i] = static_cast<uint8_t>(f.word(d, i / 4) >> (8 * (i % 4)));
      mb[i] = static_cast<uint8_t>(f.word(m, i / 4) >> (8 * (i % 4)));
    }
    byte_differences(list, f.name, db, mb, size);
    if (std::string_view(info.struct_name) == "hdr_t") header_differences(list, d, db, m, mb);
  }
}

/// What pins of one group show differently.
struct PinGroup {
  std::string name;
  const char* block;
  std::vector<Difference> differences;
};

/// The pins that differ, group by group in the order of MRC_PINS_OUT; a port is a group.
std::vector<PinGroup> pin_differences(const mrc_pins_out& dut, const mrc_pins_out& model, unsigned planes,
                                      unsigned port_bytes, unsigned host_bytes) {
  std::vector<PinGroup> groups;
  const auto of = [&](const std::string& name, const char* block) -> std::vector<Difference>& {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const PinGroup& g) { return g.name == name; });
    return found != groups.end() ? found->differences : groups.emplace_back(PinGroup{name, block, {}}).differences;
  };
  const auto number = [](std::vector<Difference>& list, const char* pin, uint64_t d, uint64_t m) {
    if (d != m) list.push_back({pin, fmt::format("{:#x}", d), fmt::format("{:#x}", m)});
  };
  for_each_pin_out([&]<PinKind K, auto Pin, auto With, class S>(const PinOut<K, Pin, With, S>& pin) {
    const auto &d = dut.*Pin, &m = model.*Pin;
    const unsigned both = dut.*With & model.*With;
    if constexpr (K == PinKind::Valids || K == PinKind::Mask || K == PinKind::Keep || K == PinKind::Beat) {
      for (unsigned p = 0; p < planes; ++p) {
        auto& list = of(fmt::format("{}[{}]", pin.group, p), pin.block);
        if (K != PinKind::Valids && !(both >> p & 1)) continue;
        if constexpr (K == PinKind::Keep) {
          number(list, pin.name, d[p], m[p]);
        } else if constexpr (K == PinKind::Beat) {
          byte_differences(list, pin.name, d[p], m[p], port_bytes);
        } else {
          number(list, pin.name, d >> p & 1, m >> p & 1);
        }
      }
      return;
    } else {
      auto& list = of(pin.group, pin.block);
      if (K != PinKind::Bit && !both) return;
      if constexpr (K == PinKind::Words) {
        for (const FieldInfo& f : S::kFields) {
          if (f.low64(d) != f.low64(m)) list.push_back({f.name, field_text(f, d), field_text(f, m)});
        }
      } else if constexpr (K == PinKind::Line) {
        byte_differences(list, pin.name, d, m, host_bytes);
      } else {
        number(list, pin.name, d, m);
      }
    }
  });
  return groups;
}

}  // namespace

Lockstep::Lockstep(const Preset& preset, std::size_t event_words)
    : planes_(preset.num_planes),
      port_bytes_(preset.port_bytes),
      host_bytes_(preset.host_bytes),
      beyond_(~((1u << preset.num_planes) - 1)),
      rules_(preset),
      log_(event_words) {
  for (const StreamInfo& b : kCoreStreams) places_.push_back({b.word_offset + 1, b.data_words});
  for (unsigned p = 0; p < planes_; ++p) {
    for (const StreamInfo& b : kLaneStreams) places_.push_back({p * kObsLaneWords + b.word_offset + 1, b.data_words});
  }
}

void Lockstep::spread(const Flags& flags, const uint32_t* data, uint32_t* core, uint32_t* lanes) const {
  for (unsigned number = 0; number < places_.size(); ++number) {
    const bool in_core = number < kNumCoreStreams;
    const unsigned bit = in_core ? number : number - kNumCoreStreams;
    const uint64_t word = flags.words[in_core ? bit / 32 : Flags::kCoreWords];
    uint32_t* to = (in_core ? core : lanes) + places_[number].offset;
    to[-1] = static_cast<uint32_t>(word >> (2 * (bit % 32))) & 3;
    if (!(to[-1] & 1)) continue;
    std::memcpy(to, data, places_[number].words * sizeof *to);
    data += places_[number].words;
  }
}

bool Lockstep::explain_stream(const StreamRef& ref, const uint32_t* d, const uint32_t* m, Divergence& x) const {
  const StreamInfo& info = *ref.info;
  const bool valid = (*d ^ *m) & 1, ready = (*d ^ *m) & 2;
  const bool data = (*m & *d & 1) && std::memcmp(d + 1, m + 1, size_t{info.data_words} * 4) != 0;
  if (!valid && !ready && !data) return false;
  x.where = ref.name();
  x.rank = 2 * flow_rank(info);
  x.block = ref.producer();
  if (x.block == "host" || !(valid || data)) {  // the host side is the same for both: the taker's ready differs
    x.block = consumer_of(info);
    ++x.rank;
  }
  if (valid) x.differences.push_back({"valid", flag(*d & 1), flag(*m & 1)});
  if (ready) x.differences.push_back({"ready", flag(*d >> 1 & 1), flag(*m >> 1 & 1)});
  if (data) field_differences(x.differences, info, d + 1, m + 1);
  if (x.differences.empty()) x.note = "words of the device have bits beyond their fields";
  const uint32_t* shown = *m & 1 ? m : d;
  if (*shown & 1) {
    x.qp = event_qp(ref, shown + 1, own_);
    x.context = describe(info.fields, shown + 1);
  }
  return true;
}

void Lockstep::explain_pins(uint64_t cycle, const mrc_pins_out& dut, const mrc_pins_out& model) {
  constexpr unsigned kLate = 1000;  // pins show what a stream or a block behind it has done
  const auto divergence = [cycle](const std::string& group, const char* block, unsigned rank) {
    Divergence x;
    x.cycle = cycle;
    x.where = "pins " + group;
    x.block = block;
    x.rank = rank;
    return x;
  };
  for (const PinRules::Stray& s : rules_.list(dut)) {
    Divergence& x = divergences_.emplace_back(divergence(s.where, s.block, kLate - 1));
    x.note = s.text;
    x.differences.push_back({s.pin, fmt::format("{:#x}", s.value), fmt::format("{:#x} at most", s.largest)});
  }
  for (PinGroup& group : pin_differences(dut, model, planes_, port_bytes_, host_bytes_)) {
    if (group.differences.empty()) continue;
    divergences_.push_back(divergence(group.name, group.block, kLate));
    divergences_.back().differences = std::move(group.differences);
  }
}

void Lockstep::explain(uint64_t cycle, const mrc_pins_out& dut, const mrc_pins_out& model, const uint32_t* dc,
                       const uint32_t* dl, const uint32_t* mc, const uint32_t* ml) {
  divergences_.clear();
  for (unsigned number = 0; number < num_streams(planes_); ++number) {
    const StreamRef ref = stream_at(number);
    const std::size_t lane = ref.plane < 0 ? 0 : static_cast<std::size_t>(ref.plane) * kObsLaneWords;
    Divergence x;
    x.cycle = cycle;
    if (explain_stream(ref, (ref.plane < 0 ? dc : dl + lane) + ref.info->word_offset,
                       (ref.plane < 0 ? mc : ml + lane) + ref.info->word_offset, x)) {
      divergences_.push_back(std::move(x));
    }
  }
  explain_pins(cycle, dut, model);
  std::stable_sort(divergences_.begin(), divergences_.end(),
                   [](const Divergence& a, const Divergence& b) { return a.rank < b.rank; });
}

}  // namespace mrc::tb
