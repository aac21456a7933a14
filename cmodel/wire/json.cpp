// SPDX-License-Identifier: Apache-2.0
#include "wire/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <type_traits>

#include "input/json.hpp"
#include "input/names.hpp"
#include "wire/choices.hpp"
#include "wire/decode.hpp"
#include "wire/link_layer.hpp"
#include "wire/text.hpp"

namespace mrc::wire {

namespace {

using input::Json;
using Tree = Json;  // that was read

template <class Header>
Json header_json(const Header& header) {
  Json out = Json::object();
  Header::visit(header, [&](const HeaderField& field, const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_integral_v<Value>) {
      if (!field.reserved || value != 0) out[field.name] = value;
    } else {
      out[field.name] = to_text(value);
    }
  });
  return out;
}

Json packet_json(const Packet& p, std::span<const uint8_t> frame, const WireConfig& config) {
  Json out = Json::object();
  out["kind"] = kind_of(p);
  if (p.ipv4 || p.ipv6 || p.outer_ipv6) out["dscp_class"] = name_of(p.dscp_class);
  if (p.trimmed()) out["trimmed"] = true;
  if (p.udp) out["entropy"] = p.entropy(config);
  const auto header = [&](const auto& h, const char* key) {
    if (h) out[key] = header_json(*h);
  };
  header(p.eth, "eth");
  header(p.outer_ipv6, "outer_ipv6");
  header(p.srh, "srh");
  header(p.ipv6, "ipv6");
  header(p.ipv4, "ipv4");
  header(p.udp, "udp");
  header(p.bth, "bth");
  Extensions::visit(p, [&](const auto& h) { header(h, std::decay_t<decltype(*h)>::kName); });
  if (p.seth && p.seth->pr) out["seth"]["probe_id"] = static_cast<uint16_t>(p.seth->ack_psn_offset);
  if (!p.payload.empty()) out["payload"] = to_hex(p.payload);
  if (!p.padding.empty()) out["padding"] = to_hex(p.padding);
  if (!p.rest.empty()) out["rest"] = to_hex(p.rest);
  if (p.icrc) out["icrc"] = {{"value", p.icrc->value}, {"ok", p.icrc->ok}};
  if (!p.trailer.empty()) out["trailer"] = to_hex(p.trailer);
  if (p.error) {
    out["error"] = {{"name", name_of(p.error->code)}, {"offset", p.error->offset}, {"message", p.error->message()}};
    if (p.error->code != ErrorCode::BadIcrc) out["raw"] = to_hex(frame);
  }
  return out;
}

/// What is wrong with one object: where in it, and how to mend it.
struct Problem {
  std::string what;
  std::string remedy;
  uint32_t line = 0, column = 0;  ///< 0: those of the object
};

Problem at(const Tree& value, std::string what, std::string remedy) {
  return {std::move(what), std::move(remedy), value.line, value.column};
}

/// One object to one frame.
class ObjectReader {
 public:
  ObjectReader(const Tree& json, const WireConfig& config, const std::function<void(WireConfig&)>& given)
      : json_(json), config_(config), given_(given) {}

  std::optional<Problem> run(CapturedFrame& frame) {
    if (!json_.is_object()) return Problem{"a packet must be an object", "See docs/reference/wire.md for the format."};
    if (auto problem = capture(frame)) return problem;
    if (given_) given_(config_);
    frame.wire = config_;
    if (json_.contains("raw")) return bytes("raw", frame.bytes, kMaxFrameBytes);
    if (auto problem = known_keys()) return problem;
    if (auto problem = start()) return problem;
    if (auto problem = body()) return problem;
    if (auto problem = headers()) return problem;
    complete(p_);
    // What the JSON says counts, also where it contradicts the rest: that makes malformed packets.
    if (auto problem = headers()) return problem;
    if (json_.contains("padding")) {
      if (auto problem = bytes("padding", p_.padding)) return problem;
    }
    if (auto problem = icrc()) return problem;
    frame.bytes = encode(p_, config_);
    // What follows the IP header must fit its length field, the trailer the capture.
    const size_t headers = Eth::kBytes + (p_.ipv4 ? 0 : Ipv6::kBytes);
    if (frame.bytes.size() - p_.trailer.size() > kMaxBytes + headers || frame.bytes.size() > kMaxFrameBytes) {
      return Problem{fmt::format("{} bytes are no frame that IP lengths can describe", frame.bytes.size()),
                     "Give less payload and trailer, or the whole frame as raw."};
    }
    return std::nullopt;
  }

 private:
  std::optional<Problem> known_keys() {
    std::set<std::string_view> known = {"capture", "kind", "dscp_class", "trimmed", "entropy", "payload", "padding",
                                        "rest",    "icrc", "trailer",    "error",   "raw",     "eth",     "outer_ipv6",
                                        "srh",     "ipv6", "ipv4",       "udp",     "bth"};
    Extensions::visit(p_, [&](const auto& h) { known.insert(std::decay_t<decltype(*h)>::kName); });
    return only(json_, "key ", "", known);
  }

  /// No other names than these.
  static std::optional<Problem> only(const Tree& object, const char* what, const std::string& before,
                                     const std::set<std::string_view>& known) {
    const std::vector<std::string_view> names(known.begin(), known.end());
    for (const input::JsonMember& m : object.members) {
      if (known.contains(m.name)) continue;
      std::string end = input::did_you_mean(m.name, names);
      if (end == ".") end.clear();
      return Problem{fmt::format("unknown {}{}{}{}", what, before, input::shown(m.name), end),
                     "Use the names of docs/reference/generated/headers.md.", m.line, m.column};
    }
    return std::nullopt;
  }

  /// Default values: those of a packet of that opcode, reduced to the headers named.
  std::optional<Problem> start() {
    uint64_t opcode = 0, rtx = 0;
    if (const Tree* bth = json_.find("bth")) {
      if (!bth->is_object()) return at(*bth, "bth is not an object", "See docs/reference/wire.md for the format.");
      const Tree* code = bth->find("opcode");
      if (!code) return at(*bth, "bth.opcode is missing", "Give the opcode as an integer, 202 for WRITE Only.");
      if (auto problem = whole("bth.opcode", *code, 0, 255, "202 for WRITE Only", opcode)) return problem;
      const Tree* again = bth->find("rtx");
      if (again && again->is_number() && again->text != "0") rtx = 1;
    }
    const bool v4 = json_.contains("ipv4"), v6 = json_.contains("ipv6");
    if (v4 && v6) return Problem{"both ipv4 and ipv6", "Keep one of them; the outer header is outer_ipv6."};
    const bool outer = json_.contains("outer_ipv6"), srh = json_.contains("srh");
    if (srh && !outer) return Problem{"srh without outer_ipv6", "Add outer_ipv6 or remove srh."};
    const auto encapsulation = v4      ? Encapsulation::Ipv4
                               : srh   ? Encapsulation::Srv6Srh
                               : outer ? Encapsulation::Srv6
                                       : Encapsulation::Ipv6;
    Packet full = make_packet(static_cast<Opcode>(opcode & 0xFF), encapsulation, true, config_);
    if (const uint8_t dscp = default_dscp(static_cast<uint8_t>(opcode), rtx != 0, config_.dscp); true) {
      if (full.ipv4) full.ipv4->dscp = dscp;
      if (full.ipv6) full.ipv6->dscp = dscp;
      if (full.outer_ipv6) full.outer_ipv6->dscp = dscp;
    }
    full.bth->ts = json_.contains("tseth");
    keep("eth", p_.eth, full.eth);
    keep("outer_ipv6", p_.outer_ipv6, full.outer_ipv6);
    keep("srh", p_.srh, full.srh);
    keep("ipv6", p_.ipv6, full.ipv6);
    keep("ipv4", p_.ipv4, full.ipv4);
    keep("udp", p_.udp, full.udp);
    keep("bth", p_.bth, full.bth);
    const OpcodeInfo* info = p_.bth ? opcode_info(p_.bth->opcode) : nullptr;
    std::optional<Problem> problem;
    Extensions::visit(p_, [&](auto& h) {
      using Header = typename std::decay_t<decltype(h)>::value_type;
      if (!json_.contains(Header::kName)) return;
      if (!problem && info && !((info->required | info->timestamp) & bit(Header::kId))) {
        problem = Problem{fmt::format("{} does not follow opcode 0x{:02x} ({})", Header::kName, opcode, info->text),
                          "Remove it or change bth.opcode."};
      }
      h.emplace();
      Extensions::visit(full, [&](const auto& other) {
        if constexpr (std::is_same_v<decltype(other), decltype(std::as_const(h))>) {
          if (other) h = other;
        }
      });
    });
    return problem;
  }

  template <class Header>
  void keep(const char* key, std::optional<Header>& to, const std::optional<Header>& from) {
    if (!json_.contains(key)) return;
    to = from;
    if (!to) to.emplace();
  }

  template <class Header>
  std::optional<Problem> header(std::optional<Header>& to, const char* key) {
    if (!to) return std::nullopt;
    const Tree& from = *json_.find(key);
    if (!from.is_object())
      return at(from, fmt::format("{} is not an object", key), "See docs/reference/wire.md for the format.");
    std::set<std::string_view> known;
    std::optional<Problem> problem;
    Header::visit(*to, [&](const HeaderField& field, auto& value) {
      known.insert(field.name);
      if (const Tree* given = from.find(field.name); given && !problem)
        problem = field_value(key, field, *given, value);
    });
    if (problem) return problem;
    if constexpr (std::is_same_v<Header, Seth>) known.insert("probe_id");
    if (auto wrong = only(from, "field ", key + std::string("."), known)) return wrong;
    if constexpr (std::is_same_v<Header, Seth>) {
      if (const Tree* given = from.find("probe_id")) {
        uint16_t id = 0;
        const HeaderField field{"probe_id", 0, 16, false, false, false, Format::Number, "", {}};
        if (auto wrong = field_value(key, field, *given, id)) return wrong;
        if (!from.contains("ack_psn_offset")) {
          to->ack_psn_offset = static_cast<int16_t>(id);
        } else if (static_cast<uint16_t>(to->ack_psn_offset) != id) {
          return at(*given, "seth.probe_id contradicts seth.ack_psn_offset", "They are the same field; give one.");
        }
      }
    }
    return std::nullopt;
  }

  std::optional<Problem> whole(const std::string& name, const Tree& from, int64_t min, uint64_t max,
                               const std::string& doc, uint64_t& to) const {
    if (!from.is_number()) return at(from, name + " is not a number", "Give a whole number: " + doc + ".");
    try {
      const std::string begin = name + " =";
      to = input::whole(from.literal(begin, {}), min, max, doc);
      return std::nullopt;
    } catch (const InputError& error) {
      const Error e = error_of(error, {}, 0);
      return Problem{e.what, e.remedy, from.line, from.column};
    }
  }

  template <class Value>
  std::optional<Problem> field_value(const char* key, const HeaderField& field, const Tree& from, Value& to) const {
    const auto name = fmt::format("{}.{}", key, field.name);
    if constexpr (std::is_integral_v<Value>) {
      const uint64_t top = field.width == 64 ? ~uint64_t{0} : (uint64_t{1} << field.width) - 1;
      const int64_t least = field.is_signed ? -static_cast<int64_t>(top >> 1) - 1 : 0;
      uint64_t value = 0;
      if (auto problem = whole(name, from, least, field.is_signed ? top >> 1 : top,
                               fmt::format("{} bits{}", field.width, field.is_signed ? ", signed" : ""), value)) {
        return problem;
      }
      to = static_cast<Value>(value);
      return std::nullopt;
    } else {
      if (!from.is_text() || !from_text(from.text, to)) {
        return at(from, fmt::format("{} is not an address", name),
                  "Write MAC addresses as 02:00:00:00:00:01, IP addresses as 192.168.0.1 or fd00::1.");
      }
      return std::nullopt;
    }
  }

  std::optional<Problem> headers() {
    std::optional<Problem> problem;
    const auto one = [&](auto& h, const char* key) {
      if (!problem) problem = header(h, key);
    };
    uint32_t ev = 0;
    const Tree* entropy = json_.find("entropy");
    if (entropy) {
      const HeaderField field{"entropy", 0, 32, false, false, false, Format::Number, "", {}};
      if (auto wrong = field_value("packet", field, *entropy, ev)) return wrong;
      p_.set_entropy(ev, config_);
    }
    one(p_.eth, "eth");
    one(p_.outer_ipv6, "outer_ipv6");
    one(p_.srh, "srh");
    one(p_.ipv6, "ipv6");
    one(p_.ipv4, "ipv4");
    one(p_.udp, "udp");
    one(p_.bth, "bth");
    Extensions::visit(p_, [&](auto& h) { one(h, std::decay_t<decltype(*h)>::kName); });
    if (problem) return problem;
    if (entropy && p_.udp && p_.entropy(config_) != ev) {
      return at(*entropy, "entropy contradicts udp.src_port and flow_label",
                "Remove entropy, or src_port and flow_label; over IPv4 only the source port carries it.");
    }
    p_.dscp_class = classify(p_.dscp(), config_.dscp);
    if (const Tree* trimmed = json_.find("trimmed");
        trimmed && !(trimmed->is_flag() && trimmed->flag() == p_.trimmed())) {
      return at(*trimmed, "trimmed contradicts the dscp of the outermost IP header",
                fmt::format("Set that dscp to {} (TRIMMED) or {} (TRIMMED_LASTHOP) for a trimmed packet.",
                            config_.dscp.trimmed, config_.dscp.trimmed_lasthop));
    }
    return required();
  }

  /// A packet that was not trimmed has all headers of its opcode.
  std::optional<Problem> required() {
    if (p_.trimmed()) return std::nullopt;
    if (!p_.eth || !(p_.ipv4 || p_.ipv6) || !p_.udp || !p_.bth) {
      const char* missing = !p_.eth ? "eth" : !(p_.ipv4 || p_.ipv6) ? "ipv6 or ipv4" : !p_.udp ? "udp" : "bth";
      return Problem{fmt::format("header {} is missing", missing),
                     "Add it, {} takes the defaults; only trimmed packets may lack headers."};
    }
    const OpcodeInfo* info = opcode_info(p_.bth->opcode);
    if (!info) return std::nullopt;
    if (!info->payload && !p_.payload.empty()) {
      return Problem{fmt::format("payload does not follow opcode 0x{:02x} ({})", p_.bth->opcode, info->text),
                     "Remove it or change bth.opcode."};
    }
    std::optional<Problem> problem;
    const uint32_t present = info->required | (p_.bth->ts ? info->timestamp : 0);
    Extensions::visit(p_, [&](const auto& h) {
      using Header = std::decay_t<decltype(*h)>;
      if (!problem && !h && (present & bit(Header::kId))) {
        problem = Problem{
            fmt::format("header {} is missing for opcode 0x{:02x} ({})", Header::kName, p_.bth->opcode, info->text),
            "Add it, {} takes the defaults."};
      }
      if (!problem && h && !(present & bit(Header::kId))) {
        problem = Problem{fmt::format("{} is there but bth.ts is 0", Header::kName), "Remove one of them."};
      }
    });
    return problem;
  }

  std::optional<Problem> bytes(const char* key, std::vector<uint8_t>& to, size_t most = kMaxBytes) {
    const Tree* from = json_.find(key);
    if (!from) return std::nullopt;
    size_t bad = 0;
    if (from->is_text()) {
      if (auto value = from_hex(from->text, bad)) {
        if (value->size() > most) {
          return at(*from, fmt::format("{} has {} bytes", key, value->size()), fmt::format("Give at most {}.", most));
        }
        to = std::move(*value);
        return std::nullopt;
      }
    }
    return at(*from, fmt::format("{} is not a string of hexadecimal bytes", key),
              fmt::format("Write two digits per byte; the first mistake is at character {}.", bad));
  }

  std::optional<Problem> body() {
    if (auto problem = bytes("payload", p_.payload)) return problem;
    if (auto problem = bytes("rest", p_.rest)) return problem;
    return bytes("trailer", p_.trailer, kMaxFrameBytes);
  }

  std::optional<Problem> icrc() {
    p_.icrc.emplace();
    const Tree* from = json_.find("icrc");
    if (!from) return std::nullopt;
    const Tree* ok = from->find("ok");
    if (!ok || !ok->is_flag()) {
      return at(*from, "icrc.ok is not a boolean",
                "Write {\"value\": N, \"ok\": false} for a wrong ICRC, or leave icrc out.");
    }
    p_.icrc->ok = ok->flag();
    if (p_.icrc->ok) return std::nullopt;
    const Tree* value = from->find("value");
    if (!value) return at(*from, "icrc.value is missing", "Write {\"value\": N, \"ok\": false} for a wrong ICRC.");
    const HeaderField field{"value", 0, 32, false, false, false, Format::Number, "", {}};
    return field_value("icrc", field, *value, p_.icrc->value);
  }

  std::optional<Problem> capture(CapturedFrame& frame) {
    const Tree* from = json_.find("capture");
    if (!from) return std::nullopt;
    if (!from->is_object()) return at(*from, "capture is not an object", "See docs/reference/wire.md for the format.");
    // What was taken off a packet is not put on again.
    static const std::set<std::string_view> known = {"number",  "interface",      "time_ns", "original_length",
                                                     "options", "comments",       "link",    "port",
                                                     "vlan",    "extension_bytes"};
    if (auto wrong = only(*from, "field ", "capture.", known)) return wrong;
    for (const input::JsonMember& m : from->members) {
      const Tree& value = m.value;
      const auto number = [&](auto& to, unsigned width) {
        const HeaderField field{m.name.c_str(), 0, width, false, false, false, Format::Number, "", {}};
        return field_value("capture", field, value, to);
      };
      std::optional<Problem> problem;
      if (m.name == "interface") {
        problem = number(frame.interface, std::bit_width(kMaxInterfaces - 1));
      } else if (m.name == "time_ns") {
        problem = number(frame.time_ns, 64);
      } else if (m.name == "original_length") {
        problem = number(frame.original_length, 32);
      } else if (m.name == "comments") {
        const bool texts = value.is_array() && std::all_of(value.items.begin(), value.items.end(),
                                                           [](const Tree& v) { return v.is_text(); });
        if (!texts) return at(value, "capture.comments is not an array of strings", "Write [\"text\"].");
        for (const Tree& text : value.items) frame.comments.push_back(text.text);
      } else if (m.name == "options") {
        if (!value.is_text()) return at(value, "capture.options is not a string", "Write options of 'mrc decode'.");
        const auto wrong = read_options(value.text, config_);
        if (wrong) return at(value, "capture.options: " + wrong->what, wrong->remedy);
      }
      if (problem) return problem;
    }
    return std::nullopt;
  }

  static constexpr size_t kMaxBytes = 65535;
  const Tree& json_;
  WireConfig config_;
  const std::function<void(WireConfig&)>& given_;
  Packet p_;
};

Json capture_json(const CapturedFrame& frame, uint64_t number) {
  Json capture = Json::object();
  capture["number"] = number;
  capture["interface"] = frame.interface;
  capture["time_ns"] = frame.time_ns;
  if (frame.original_length && frame.original_length != frame.bytes.size()) {
    capture["original_length"] = frame.original_length;
  }
  if (frame.wire != WireConfig{}) capture["options"] = to_options(frame.wire, {});
  if (frame.link != kLinkEthernet) capture["link"] = link_name(frame.link);
  if (frame.port != 0) capture["port"] = frame.port;
  for (const VlanTag& tag : frame.taken.tags) capture["vlan"].push_back({{"tpid", tag.tpid}, {"tci", tag.tci}});
  if (frame.taken.extensions != 0) capture["extension_bytes"] = frame.taken.extensions;
  if (!frame.comments.empty()) capture["comments"] = frame.comments;
  return capture;
}

}  // namespace

std::string to_json(const Packet& packet, std::span<const uint8_t> frame, const WireConfig& config) {
  return packet_json(packet, frame, config).dump();
}

std::string to_json(const CapturedFrame& frame, uint64_t number) {
  Json out = Json::object();
  out["capture"] = capture_json(frame, number);
  out.update(packet_json(decode(frame.bytes, frame.wire), frame.bytes, frame.wire));
  return out.dump();
}

std::string unread_json(const CapturedFrame& frame) {
  Json out = Json::object();
  out["capture"] = capture_json(frame, frame.number);
  out["raw"] = to_hex(frame.bytes);
  return out.dump();
}

Result<std::vector<CapturedFrame>> from_json(std::string_view text, const std::string& name, const WireConfig& config,
                                             const std::function<void(WireConfig&)>& given) {
  std::vector<CapturedFrame> out;
  input::JsonReader reader(text, name);
  while (true) {
    std::optional<Tree> document;
    try {
      document = reader.next();
    } catch (const InputError& error) {
      return error_of(error, name, reader.offset());
    }
    if (!document) break;
    const std::span<const Tree> objects =
        document->is_array() ? std::span<const Tree>(document->items) : std::span<const Tree>(&*document, 1);
    for (const Tree& object : objects) {
      CapturedFrame frame;
      if (auto problem = ObjectReader(object, config, given).run(frame)) {
        return Error{name,
                     reader.offset(),
                     fmt::format("packet {}: {}", out.size() + 1, problem->what),
                     problem->remedy,
                     problem->line != 0 ? problem->line : object.line,
                     problem->line != 0 ? problem->column : object.column};
      }
      out.push_back(std::move(frame));
    }
  }
  if (out.empty()) return Error{name, 0, "there is no packet in it", "Give one JSON object per packet."};
  return out;
}

}  // namespace mrc::wire
