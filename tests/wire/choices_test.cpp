// SPDX-License-Identifier: Apache-2.0
#include "wire/choices.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>

namespace mrc::test::choices_test {

using namespace mrc::wire;

TEST_CASE("every choice goes through its options", "[wire.choices.options]") {
  std::mt19937 rng(5);
  for (int i = 0; i < 200; ++i) {
    WireConfig config;
    config.udp_port = static_cast<uint16_t>(1 + rng() % 65535);
    for (const ChoiceFlag& flag : kChoiceFlags) config.*flag.value = rng() & 1;
    for (auto* code : {&config.dscp.no_trim, &config.dscp.trimmable, &config.dscp.trimmable_retx, &config.dscp.trimmed,
                       &config.dscp.trimmed_lasthop, &config.dscp.control}) {
      *code = static_cast<uint8_t>(rng() % 64);
    }
    config.dscp.returned = static_cast<uint8_t>(rng() % 65);
    WireConfig all, base{.udp_port = 9, .bth_se_first = true, .icrc_outer = true, .dscp = {.returned = 11}};
    INFO(to_options(config));
    REQUIRE_FALSE(read_options(to_options(config), all));
    CHECK(all == config);
    REQUIRE_FALSE(read_options(to_options(config, base), base));
    CHECK(base == config);
  }
  CHECK(to_options({}, {}).empty());
  CHECK(to_options({.udp_port = 9, .ev_swap = true, .dscp = {.trimmed = 1}}, {.icrc_outer = true}) ==
        "--udp-port 9 --ev-swap --icrc-outer=false --dscp trimmed=1");
  CHECK(to_options({.udp_port_only = true}, {}) == "--udp-port-only");
  CHECK(to_options({.dscp = {.returned = 11}}, {}) == "--dscp returned=11");
  CHECK(to_options({}, {.dscp = {.returned = 11}}) == "--dscp returned=none");
}

TEST_CASE("options not understood change nothing and are named", "[wire.choices.options]") {
  const auto wrong = [](const char* text) {
    WireConfig config;
    const auto problem = read_options(std::string("--icrc-outer ") + text, config);
    REQUIRE(problem);
    CHECK(config == WireConfig{});
    CHECK_FALSE(problem->remedy.empty());
    return problem->what;
  };
  CHECK(wrong("--icrc-inner") == "'--icrc-inner' is no option of the wire format");
  CHECK(wrong("icrc-outer") == "'icrc-outer' is no option of the wire format");
  CHECK(wrong("--icrc-outer=maybe") == "'--icrc-outer=maybe' is no option of the wire format");
  CHECK(wrong("--udp-port") == "'' in --udp-port is no UDP port");
  CHECK(wrong("--udp-port 0") == "'0' in --udp-port is no UDP port");
  CHECK(wrong("--udp-port 65536") == "'65536' in --udp-port is no UDP port");
  CHECK(wrong("--udp-port -1") == "'-1' in --udp-port is no UDP port");
  CHECK(wrong("--dscp") == "'' in --dscp does not name a class and its code point");
  CHECK(wrong("--dscp cut=1") == "'cut=1' in --dscp does not name a class and its code point");
  CHECK(wrong("--dscp trimmed=64") == "code point in --dscp trimmed=64 is not a number of 6 bits");
  CHECK(wrong("--dscp trimmed=none") == "code point in --dscp trimmed=none is not a number of 6 bits");
  CHECK(wrong("--dscp trimmed=") == "code point in --dscp trimmed= is not a number of 6 bits");
  CHECK(wrong(("--" + std::string(1000, 'x')).c_str()) ==
        "'--" + std::string(58, 'x') + "...' is no option of the wire format");
  CHECK(wrong("--\x1b[2J") == "'--\\x1b[2J' is no option of the wire format");
  WireConfig config;
  CHECK_FALSE(read_options("  --ev-swap   --dscp  control=1 ", config));
  CHECK(config == WireConfig{.ev_swap = true, .dscp = {.control = 1}});
}

}  // namespace mrc::test::choices_test
