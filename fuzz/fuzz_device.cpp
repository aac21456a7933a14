// SPDX-License-Identifier: Apache-2.0
/// Any text as lines to a NIC as a process (docs/reference/device.md): each has one answer, which is JSON of one line,
/// and what reaches the device lies within the ranges of the calls.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "fuzz/checks.hpp"
#include "tb/device/lines.hpp"

namespace {
using namespace mrc;
using fuzz::must;

/// Takes everything, and looks at it.
class Listener final : public tb::NicDevice {
 public:
  tb::DeviceInfo open(const tb::OpenRequest& request) override {
    must(request.planes <= 64);
    return {.name = "fuzz \"\\\x01", .version = {}, .caps = {"batch"}, .profile = "{}"};
  }
  void address(uint64_t mac, const log::Ip&) override { must(mac >> 48 == 0); }
  tb::QpConfig qp_now(uint32_t qp) const override {
    must(qp >> 24 == 0);
    return config_;
  }
  bool qp(const tb::QpConfig& c) override {
    must(c.sq_psn >> 24 == 0 && c.rq_psn >> 24 == 0 && c.peer_qp >> 24 == 0 && c.state <= log::QpState::Error);
    must(c.encap <= tb::Encapsulation::Ipv4 && c.mpr <= 255 && c.timeout <= 31);
    config_ = c;
    return true;
  }
  std::pair<log::QpState, log::Time> query(uint32_t) override { return {config_.state, 0}; }
  bool mr(const log::Mr& region) override { return region.valid; }
  bool post(const log::Post& request) override { return request.bytes != 0; }
  void recv(uint32_t, uint32_t) override {}
  void memory(bool) override {}
  void port(unsigned plane, bool, log::Time) override { must(plane < 64); }
  bool ev(uint32_t, uint32_t, bool) override { throw tb::Refusal("no \"such\" value\n.", true); }
  bool mpr(uint32_t, unsigned units) override {
    must(units <= 255);
    return false;
  }
  void rx(unsigned plane, log::Time t, std::span<const uint8_t> frame, bool) override {
    must(plane < 64 && t <= uint64_t{1} << 62 && frame.size() <= tb::kMaxLine / 2);
    sent_.assign(frame.begin(), frame.end());
  }
  void host_done(uint64_t, log::Time, std::span<const uint8_t>, uint32_t) override {}
  tb::Advanced advance(log::Time until, log::Time) override {
    tb::Advanced result{until, {}};
    result.out.push_back({0, tb::SentFrame{1, 2, sent_}});
    result.out.push_back({1, tb::HostRead{1, ~uint64_t{0}, 3}});
    result.out.push_back({2, tb::HostWrite{5, sent_}});
    result.out.push_back({3, log::Cqe{.qp = 16, .receive = true, .status = log::Status::Other}});
    result.out.push_back({4, tb::Done{"qp", false, 16, "it \"does\" not"}});
    return result;
  }
  tb::Counters counters() override { return {7, {{"a\"b", 1}, {"c", 2}}}; }

 private:
  tb::QpConfig config_;
  std::vector<uint8_t> sent_;
};

void must_be_an_answer(const nlohmann::json& answer) {
  must(answer.is_object() && answer.at("ok").is_boolean());
  if (answer.at("ok").get<bool>()) return;
  must(answer.at("error").is_string() && answer.at("unsupported").is_boolean());
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Listener device;
  tb::LineServer server(device, "fuzz");
  uint32_t number = 0;
  for (size_t at = 0; at < text.size() && !server.closed();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string answer = server.answer(text.substr(at, end - at), ++number);
    at = end + 1;
    if (answer.empty()) continue;
    must(answer.find('\n') == std::string::npos);
    const nlohmann::json read = nlohmann::json::parse(answer);  // throws: a crash
    if (!read.is_array()) {
      must_be_an_answer(read);
      continue;
    }
    for (const auto& one : read) must_be_an_answer(one);
  }
  return 0;
}
