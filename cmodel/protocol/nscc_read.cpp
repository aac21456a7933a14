// SPDX-License-Identifier: Apache-2.0
#include "protocol/nscc_read.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "input/json.hpp"
#include "input/names.hpp"
#include "input/toml.hpp"
#include "input/toml_tree.hpp"

namespace mrc {
namespace {

constexpr const char* kExample = "Write one field per line, like base_rtt = 12000.";
constexpr const char* kJsonExample = "Write an object of fields, like {\"base_rtt\": 12000}.";

std::vector<std::string_view> field_names() {
  std::vector<std::string_view> names;
  for (const NsccField& field : nscc_fields()) names.push_back(field.name);
  return names;
}

/// A field that a file names. `place` is that of the name, `at` of what was written for it.
void set_named(NsccParams& params, const std::string& place, std::string_view name, const input::Literal& at,
               bool is_number) {
  for (const NsccField& field : nscc_fields()) {
    if (name != field.name) continue;
    if (!is_number) {
      throw InputError(
          fmt::format("{}: {} is not a number.", input::place(at.file, at.line, at.column), name),
          fmt::format("Write a number{}.", std::string_view(field.unit) == "bool" ? ", true or false" : ""));
    }
    return nscc_set(params, field, at);
  }
  throw InputError(
      fmt::format("{}: unknown field {}{}", place, input::shown(name), input::did_you_mean(name, field_names())),
      "'mrc nscc --help' lists the fields.");
}

}  // namespace

void nscc_set(NsccParams& params, const NsccField& field, const input::Literal& literal) {
  const bool is_switch = std::string_view(field.unit) == "bool";
  const double value = is_switch && literal.text == "true" ? 1
                       : is_switch && literal.text == "false"
                           ? 0
                           : input::number(literal, {field.min, field.max, field.whole}, field.doc);
  if (const auto error = nscc_set(params, field.name, value)) throw InputError(error->what + ".", error->remedy);
}

void nscc_read_toml(NsccParams& params, std::string_view text, const std::string& path) {
  const input::TomlFile file(text, path, "configuration", kExample);
  for (const auto& [key, node] : file.root()) {
    set_named(params, file.at(key), key.str(), file.literal(node, key.str()), node.is_number() || node.is_boolean());
  }
}

void nscc_read_json(NsccParams& params, std::string_view text, const std::string& path) {
  input::JsonReader reader(text, path);
  const std::optional<input::Json> root = reader.next();
  if (!root || !root->is_object()) throw InputError(path + ":1:1: the configuration is no object.", kJsonExample);
  if (const auto more = reader.next()) {
    throw InputError(input::place(path, more->line, more->column) + ": more than one configuration.", kJsonExample);
  }
  for (const input::JsonMember& m : root->members) {
    input::Literal literal = m.value.literal(m.name, path);
    if (m.value.is_flag()) literal.text = m.value.flag() ? "true" : "false";
    set_named(params, input::place(path, m.line, m.column), m.name, literal, m.value.is_number() || m.value.is_flag());
  }
}

}  // namespace mrc
