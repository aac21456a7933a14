// SPDX-License-Identifier: Apache-2.0
#include "wire/json.hpp"

#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "wire/choices.hpp"
#include "wire/decode.hpp"
#include "wire/text.hpp"

namespace mrc::wire {

namespace {

using Json = nlohmann::ordered_json;

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

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// What is wrong with one object: where in it, and how to mend it.
struct Problem {
  std::string what;
  std::string remedy;
};

/// One object to one frame.
class ObjectReader {
 public:
  ObjectReader(const Json& json, const WireConfig& config, const std::function<void(WireConfig&)>& given)
      : json_(json), config_(config), given_(given) {}

  std::optional<Problem> run(CapturedFrame& frame) {
    if (!json_.is_object()) return Problem{"a packet must be an object", "See docs/wire.md for the format."};
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
    std::set<std::string> known = {"capture", "kind", "dscp_class", "trimmed", "entropy", "payload", "padding",
                                   "rest",    "icrc", "trailer",    "error",   "raw",     "eth",     "outer_ipv6",
                                   "srh",     "ipv6", "ipv4",       "udp",     "bth"};
    Extensions::visit(p_, [&](const auto& h) { known.insert(std::decay_t<decltype(*h)>::kName); });
    for (const auto& [key, value] : json_.items()) {
      if (!known.contains(key)) {
        return Problem{fmt::format("unknown key '{}'", key), "Use the names of docs/generated/headers.md."};
      }
    }
    return std::nullopt;
  }

  /// Default values: those of a packet of that opcode, reduced to the headers named.
  std::optional<Problem> start() {
    uint64_t opcode = 0, rtx = 0;
    if (json_.contains("bth")) {
      const Json& bth = json_["bth"];
      if (!bth.is_object() || !bth.contains("opcode") || !bth["opcode"].is_number_unsigned()) {
        return Problem{"bth.opcode is missing", "Give the opcode as an integer, 202 for WRITE Only."};
      }
      opcode = bth["opcode"].get<uint64_t>();
      if (bth.contains("rtx") && bth["rtx"].is_number_unsigned()) rtx = bth["rtx"].get<uint64_t>();
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
    const Json& from = json_[key];
    if (!from.is_object()) return Problem{fmt::format("{} is not an object", key), "See docs/wire.md for the format."};
    std::set<std::string> known;
    std::optional<Problem> problem;
    Header::visit(*to, [&](const HeaderField& field, auto& value) {
      known.insert(field.name);
      if (problem || !from.contains(field.name)) return;
      problem = field_value(key, field, from[field.name], value);
    });
    if (problem) return problem;
    if constexpr (std::is_same_v<Header, Seth>) known.insert("probe_id");
    for (const auto& [name, value] : from.items()) {
      if (!known.contains(name)) {
        return Problem{fmt::format("unknown field '{}.{}'", key, name), "Use the names of docs/generated/headers.md."};
      }
    }
    if constexpr (std::is_same_v<Header, Seth>) {
      if (from.contains("probe_id")) {
        uint16_t id = 0;
        const HeaderField field{"probe_id", 0, 16, false, false, false, Format::Number, "", {}};
        if (auto wrong = field_value(key, field, from["probe_id"], id)) return wrong;
        if (!from.contains("ack_psn_offset")) {
          to->ack_psn_offset = static_cast<int16_t>(id);
        } else if (static_cast<uint16_t>(to->ack_psn_offset) != id) {
          return Problem{"seth.probe_id contradicts seth.ack_psn_offset", "They are the same field; give one."};
        }
      }
    }
    return std::nullopt;
  }

  template <class Value>
  static std::optional<Problem> field_value(const char* key, const HeaderField& field, const Json& from, Value& to) {
    const auto name = fmt::format("{}.{}", key, field.name);
    if constexpr (std::is_integral_v<Value>) {
      if (!from.is_number_integer()) {
        return Problem{fmt::format("{} is not an integer", name), "Give a decimal integer."};
      }
      const uint64_t top = field.width == 64 ? ~uint64_t{0} : (uint64_t{1} << field.width) - 1;
      bool fits;
      if (from.is_number_unsigned()) {
        fits = from.get<uint64_t>() <= (field.is_signed ? top >> 1 : top);
      } else {
        const auto value = from.get<int64_t>();
        fits = field.is_signed && value >= -static_cast<int64_t>((top >> 1) + 1) &&
               value <= static_cast<int64_t>(top >> 1);
      }
      if (!fits) {
        return Problem{fmt::format("{} = {} does not fit {} {} bits", name, from.dump(), field.width,
                                   field.is_signed ? "signed" : "unsigned"),
                       "Give a value in range."};
      }
      to = from.get<Value>();
      return std::nullopt;
    } else {
      if (!from.is_string() || !from_text(from.get<std::string>(), to)) {
        return Problem{fmt::format("{} is not an address", name),
                       "Write MAC addresses as 02:00:00:00:00:01, IP addresses as 192.168.0.1 or fd00::1."};
      }
      return std::nullopt;
    }
  }

  std::optional<Problem> headers() {
    std::optional<Problem> problem;
    const auto one = [&](auto& h, const char* key) {
      if (!problem) problem = header(h, key);
    };
    if (json_.contains("entropy")) {
      const HeaderField field{"entropy", 0, 32, false, false, false, Format::Number, "", {}};
      uint32_t ev = 0;
      if (auto wrong = field_value("packet", field, json_["entropy"], ev)) return wrong;
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
    if (json_.contains("entropy") && p_.udp && p_.entropy(config_) != json_["entropy"].get<uint64_t>()) {
      return Problem{"entropy contradicts udp.src_port and flow_label",
                     "Remove entropy, or src_port and flow_label; over IPv4 only the source port carries it."};
    }
    p_.dscp_class = classify(p_.dscp(), config_.dscp);
    if (json_.contains("trimmed") && json_["trimmed"] != Json(p_.trimmed())) {
      return Problem{"trimmed contradicts the dscp of the outermost IP header",
                     fmt::format("Set that dscp to {} (TRIMMED) or {} (TRIMMED_LASTHOP) for a trimmed packet.",
                                 config_.dscp.trimmed, config_.dscp.trimmed_lasthop)};
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
    if (!json_.contains(key)) return std::nullopt;
    size_t bad = 0;
    if (json_[key].is_string()) {
      if (auto value = from_hex(json_[key].get<std::string>(), bad)) {
        if (value->size() > most) {
          return Problem{fmt::format("{} has {} bytes", key, value->size()), fmt::format("Give at most {}.", most)};
        }
        to = std::move(*value);
        return std::nullopt;
      }
    }
    return Problem{fmt::format("{} is not a string of hexadecimal bytes", key),
                   fmt::format("Write two digits per byte; the first mistake is at character {}.", bad)};
  }

  std::optional<Problem> body() {
    if (auto problem = bytes("payload", p_.payload)) return problem;
    if (auto problem = bytes("rest", p_.rest)) return problem;
    return bytes("trailer", p_.trailer, kMaxFrameBytes);
  }

  std::optional<Problem> icrc() {
    p_.icrc.emplace();
    if (!json_.contains("icrc")) return std::nullopt;
    const Json& from = json_["icrc"];
    if (!from.is_object() || !from.contains("ok") || !from["ok"].is_boolean()) {
      return Problem{"icrc.ok is not a boolean",
                     "Write {\"value\": N, \"ok\": false} for a wrong ICRC, or leave icrc out."};
    }
    p_.icrc->ok = from["ok"].get<bool>();
    if (p_.icrc->ok) return std::nullopt;
    const HeaderField field{"value", 0, 32, false, false, false, Format::Number, "", {}};
    return field_value("icrc", field, from.contains("value") ? from["value"] : Json(), p_.icrc->value);
  }

  std::optional<Problem> capture(CapturedFrame& frame) {
    if (!json_.contains("capture")) return std::nullopt;
    const Json& from = json_["capture"];
    if (!from.is_object()) return Problem{"capture is not an object", "See docs/wire.md for the format."};
    for (const auto& item : from.items()) {
      const std::string& key = item.key();
      const Json& value = item.value();
      const auto number = [&](auto& to, unsigned width) {
        const HeaderField field{key.c_str(), 0, width, false, false, false, Format::Number, "", {}};
        return field_value("capture", field, value, to);
      };
      std::optional<Problem> problem;
      if (key == "interface") {
        problem = number(frame.interface, std::bit_width(kMaxInterfaces - 1));
      } else if (key == "time_ns") {
        problem = number(frame.time_ns, 64);
      } else if (key == "original_length") {
        problem = number(frame.original_length, 32);
      } else if (key == "comments") {
        const bool strings =
            value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& v) { return v.is_string(); });
        if (!strings) return Problem{"capture.comments is not an array of strings", "Write [\"text\"]."};
        frame.comments = value.get<std::vector<std::string>>();
      } else if (key == "options") {
        if (!value.is_string()) return Problem{"capture.options is not a string", "Write options of 'mrc decode'."};
        const auto wrong = read_options(value.get<std::string>(), config_);
        if (wrong) return Problem{"capture.options: " + wrong->what, wrong->remedy};
      } else if (key != "number") {
        problem = Problem{fmt::format("unknown field 'capture.{}'", key),
                          "Known are number, interface, time_ns, original_length, options, comments."};
      }
      if (problem) return problem;
    }
    return std::nullopt;
  }

  static constexpr size_t kMaxBytes = 65535;
  const Json& json_;
  WireConfig config_;
  const std::function<void(WireConfig&)>& given_;
  Packet p_;
};

/// The end of the JSON value that starts at `from`: behind its closing bracket.
size_t value_end(std::string_view text, size_t from) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth <= 1) return i + 1;
      --depth;
    }
  }
  return text.size();
}

}  // namespace

std::string to_json(const Packet& packet, std::span<const uint8_t> frame, const WireConfig& config) {
  return dump(packet_json(packet, frame, config));
}

std::string to_json(const CapturedFrame& frame, uint64_t number) {
  Json out = Json::object();
  Json& capture = out["capture"];
  capture["number"] = number;
  capture["interface"] = frame.interface;
  capture["time_ns"] = frame.time_ns;
  if (frame.original_length && frame.original_length != frame.bytes.size()) {
    capture["original_length"] = frame.original_length;
  }
  if (frame.wire != WireConfig{}) capture["options"] = to_options(frame.wire, {});
  if (!frame.comments.empty()) capture["comments"] = frame.comments;
  out.update(packet_json(decode(frame.bytes, frame.wire), frame.bytes, frame.wire));
  return dump(out);
}

Result<std::vector<CapturedFrame>> from_json(std::string_view text, const std::string& name, const WireConfig& config,
                                             const std::function<void(WireConfig&)>& given) {
  std::vector<CapturedFrame> out;
  size_t at = 0;
  while (true) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) ++at;
    if (at == text.size()) break;
    const size_t end = value_end(text, at);
    const std::string_view part = text.substr(at, end - at);
    Json json;
    try {
      json = Json::parse(part);
    } catch (const Json::parse_error& problem) {
      return Error{name, at + (problem.byte ? problem.byte - 1 : 0), "not valid JSON",
                   "Give one object per packet as 'mrc decode --json' prints them; docs/wire.md has the format."};
    } catch (const Json::out_of_range&) {  // the parser tells no place
      return Error{name, at, fmt::format("packet {}: a number beyond every range", out.size() + 1),
                   "Give integers that fit their field; docs/generated/headers.md has the widths."};
    }
    const Json list = json.is_array() ? json : Json::array({json});
    for (const Json& object : list) {
      CapturedFrame frame;
      if (auto problem = ObjectReader(object, config, given).run(frame)) {
        return Error{name, at, fmt::format("packet {}: {}", out.size() + 1, problem->what), problem->remedy};
      }
      out.push_back(std::move(frame));
    }
    at = end;
  }
  if (out.empty()) return Error{name, 0, "there is no packet in it", "Give one JSON object per packet."};
  return out;
}

}  // namespace mrc::wire
