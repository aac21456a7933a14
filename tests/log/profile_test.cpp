// SPDX-License-Identifier: Apache-2.0
#include "reference/profile.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::profile_test {

using namespace mrc::ref;

namespace {

std::string refusal(std::string_view json) {
  try {
    read_profile(json, "p.json");
  } catch (const InputError& error) {
    CHECK(!error.remedy.empty());
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a profile comes back from its JSON, whatever setting it has", "[log][profile]") {
  Profile p;
  CHECK(to_json(p) == "{}");
  p.name = "mine \"x\"";
  p.planes = 64;
  p.port_gbps = 12.5;
  p.take = 1;
  p.answer = 2;
  p.skew = 3;
  p.silent_drops = false;
  p.all_completions = true;
  p.shows = 0x1ff;
  log::Ip ip{};
  ip[0] = 0xfd;
  ip[15] = 9;
  p.addresses = {ip};
  log::Qp plain;
  plain.qp = 7;
  log::Qp full;
  full.qp = 8;
  full.state = log::QpState::Rts;
  full.mtu = 256;
  full.trim_nack = false;
  full.encap = 2;
  full.own_ip = ip;
  full.evs = {1, ~0u};
  full.ev_planes = {0, 63};
  full.backup = 1;
  full.own_class = true;
  full.dscp_data = 1;
  full.dscp_rtx = 63;
  p.classes = {{0, 63}, {3, 4}};
  p.qps = {plain, full};
  p.regions = {{.rkey = 5, .write = false, .va = ~uint64_t{0}, .bytes = 4096, .addr = 1}};
  for (const Setting& s : settings()) {
    INFO(s.name);
    Profile one = p;
    const uint32_t usual = s.get(one.settings);
    for (const uint64_t value : {uint64_t{0}, s.most}) {
      s.set(one.settings, static_cast<uint32_t>(value));
      const std::string json = to_json(one);
      CHECK((json.find(s.name) != std::string::npos) == (value != usual));
      const Profile read = read_profile(json, "p.json");
      CHECK(s.get(read.settings) == value);
      CHECK(to_json(read) == json);
      CHECK(read.qps == one.qps);
      CHECK(read.regions == one.regions);
      CHECK(read.addresses == one.addresses);
      CHECK(read.classes == one.classes);
      CHECK(read.shows == one.shows);
    }
  }
}

TEST_CASE("a profile that cannot be used is refused with its place", "[log][profile]") {
  CHECK(refusal("") == "p.json: nothing stands in it.");
  CHECK(refusal("[]") == "p.json:1:1: the profile is no object.");
  CHECK(refusal("{\"plane\": 1}") == "p.json:1:2: unknown key plane in the profile; did you mean planes?");
  CHECK(refusal("{\"settings\": {\"CTRL.oor_dorp\": 1}}") ==
        "p.json:1:15: unknown key CTRL.oor_dorp in settings; did you mean CTRL.oor_drop?");
  CHECK(refusal("{\"settings\": {\"CTRL.oor_drop\": 2}}") == "p.json:1:32: CTRL.oor_drop = 2 is out of range.");
  CHECK(refusal("{\"planes\": 65}") == "p.json:1:12: planes = 65 is out of range.");
  CHECK(refusal("{\"planes\": 0}") == "p.json:1:12: planes = 0.");
  CHECK(refusal("{\"take_ps\": -1}") == "p.json:1:13: take_ps = -1 is out of range.");
  CHECK(refusal("{\"silent_drops\": 1}") == "p.json:1:18: silent_drops is neither true nor false.");
  CHECK(refusal("{\"shows\": [\"takes\"]}") == "p.json:1:12: unknown shows takes; did you mean take?");
  CHECK(refusal("{\"addresses\": [\"10.0.0\"]}") == "p.json:1:16: addresses = 10.0.0 is no IP address.");
  CHECK(refusal("{\"qps\": [{\"qp\": 1, \"evs\": [1, 2], \"ev_planes\": [0]}]}") ==
        "p.json:1:10: 1 entries of ev_planes for 2 of evs.");
  CHECK(refusal("{\"classes\": [{\"data\": 1}]}") == "p.json:1:14: a class without rtx.");
  CHECK(refusal("{\"qps\": [{\"qp\": 1, \"class\": {\"data\": 64, \"rtx\": 1}}]}") ==
        "p.json:1:38: data = 64 is out of range.");
  CHECK(refusal("{\"settings\": {\"CTRL.zero_length\": 3}}") == "p.json:1:35: CTRL.zero_length = 3 is out of range.");
  CHECK(refusal("{} {}") == "p.json: more than one JSON document.");
}

}  // namespace mrc::test::profile_test
