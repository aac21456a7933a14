// SPDX-License-Identifier: Apache-2.0
#include "protocol/nscc_events.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>

namespace mrc::test::nscc_events_test {

TEST_CASE("a list of events is read in any order of columns, with defaults", "[protocol][nscc][events]") {
  const auto lines = nscc_read_events(
      "\xef\xbb\xbf# a list\r\n"
      "bytes, reason ,time_ns,kind,restore,penalty,rtt_ns,ecn\r\n"
      "4000,,0,send,,,,\r\n"
      "\r\n"
      "0x10,,127,ack,1,127,1000,1\r\n"
      "1,No_Resource,128,nack,,,,\r\n"
      "2,25,549755813888,nack,,,63,\r\n"
      "3,,549755814016,ack,,,8388480,",
      "list");
  REQUIRE(lines);
  REQUIRE(lines->size() == 5);
  const auto& l = *lines;
  CHECK(l[0].line == 3);
  CHECK(l[0].event.kind == CcEvent::Send);
  CHECK(l[0].event.bytes == 4000);
  CHECK_FALSE(l[0].event.rtt_valid);
  CHECK(l[1].line == 5);
  CHECK(l[1].event.kind == CcEvent::Ack);
  CHECK(l[1].event.bytes == 16);
  CHECK(l[1].event.now == 0);
  CHECK(l[1].event.rtt_valid);
  CHECK(l[1].event.rtt == 8);  // 7.8 ticks
  CHECK(l[1].event.ecn);
  CHECK(l[1].event.pen == 127);
  CHECK(l[1].event.restore);
  CHECK(l[2].event.now == 1);
  CHECK(l[2].event.reason == 0x0a);
  CHECK(l[3].ticks == uint64_t{1} << 32);
  CHECK(l[3].event.now == 0);
  CHECK(l[3].event.reason == 25);
  CHECK(l[3].event.rtt_valid);
  CHECK(l[3].event.rtt == 0);
  CHECK(l[4].event.kind == CcEvent::Ack);
  CHECK(l[4].event.rtt == 65535);
  CHECK(l[4].event.reason == 1);
}

TEST_CASE("a bad list of events is refused with line, column and remedy", "[protocol][nscc][events]") {
  const auto refused = [](const std::string& text) {
    const auto lines = nscc_read_events(text, "f");
    REQUIRE_FALSE(lines);
    CHECK_FALSE(lines.error().remedy.empty());
    return lines.error().sentence();
  };
  const std::string head = "time_ns,kind,bytes,penalty,ecn\n";
  CHECK(refused("") == "f:1:1: no line that names the columns");
  CHECK(refused("time_ns,kind,bytes,bytes\n") == "f:1:20: column bytes appears twice");
  CHECK(refused(head + "0,ack,268435456,,\n") == "f:2:7: bytes = 268435456 is out of range");
  CHECK(refused(head + "0,ack,,,\n") == "f:2:7: bytes = \"\" is not a number");
  CHECK(refused(head + "0,ack,1,128,\n") == "f:2:9: penalty = 128 is out of range");
  CHECK(refused(head + "0,ack,1,,2\n") == "f:2:10: ecn = 2 is out of range");
  CHECK(refused(head + "-1,ack,1,,\n") == "f:2:1: time_ns = -1 is out of range");
  CHECK(refused(head + "1.5,ack,1,,\n") == "f:2:1: time_ns = 1.5 is not a whole number");
  CHECK(refused(head + "\x01,ack,1,,\n") == "f:2:1: time_ns = \"?\" is not a number");
  CHECK(refused("time_ns,bites,kind\n") == "f:1:9: unknown column bites; did you mean bytes?");
  CHECK(refused("0,ack,1\n") == "f:1:1: the first line does not name the columns");
}

TEST_CASE("cells that say something about another kind of event are refused", "[protocol][nscc][events]") {
  const auto refused = [](const std::string& row) {
    const auto lines = nscc_read_events("time_ns,kind,bytes,ecn,rtt_ns,penalty,restore,reason\n" + row, "f");
    return lines ? "" : lines.error().sentence();
  };
  CHECK(refused("0,loss,1,1,,,,") == "f:2:10: ecn on a line of kind loss");
  CHECK(refused("0,loss,1,,5,,,") == "f:2:11: rtt_ns on a line of kind loss");
  CHECK(refused("0,send,1,,,1,,") == "f:2:12: penalty on a line of kind send");
  CHECK(refused("0,nack,1,,5,,1,") == "f:2:14: restore on a line of kind nack");
  CHECK(refused("0,ack,1,,,,,no_bitmap") == "f:2:13: reason on a line of kind ack");
  CHECK(refused("0,loss,1,0,,0,0,trimmed") == "");
}

TEST_CASE("any text is a list of events or an error", "[protocol][nscc][events]") {
  std::mt19937 rng(3);
  const std::string alphabet = "time_ns,kind,bytes\n0,ack,1#\r\"x9";
  for (int i = 0; i < 20000; ++i) {
    std::string text = i % 2 ? "time_ns,kind,bytes\n" : "";
    for (unsigned n = static_cast<unsigned>(rng() % 60); n > 0; --n)
      text += rng() % 20 ? alphabet[rng() % alphabet.size()] : static_cast<char>(rng());
    const auto lines = nscc_read_events(text, "f");
    if (!lines) {
      REQUIRE_FALSE(lines.error().what.empty());
      REQUIRE(lines.error().offset <= text.size());
    }
  }
}

}  // namespace mrc::test::nscc_events_test
