// SPDX-License-Identifier: Apache-2.0
/// One program at its socket: messages become calls of a driver, answers and completions go back in order.
#pragma once

#include <boost/asio/local/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libmrc/host/driver.hpp"
#include "libmrc/host/program.hpp"
#include "libmrc/messages.hpp"

namespace mrc::libmrc {

class Session final : public Program, public std::enable_shared_from_this<Session> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;
  using Drivers = std::vector<std::unique_ptr<Driver>>;
  /// `gone` is called once, when the program has left or was sent away. While `held` nothing is sent: what a program
  /// hears of a time must not come before what another NIC writes at that time.
  Session(Socket socket, pid_t pid, Drivers& drivers, const bool& held, std::function<void(const std::string&)> log,
          std::function<void(const std::shared_ptr<Session>&)> gone);

  void start();
  /// Sends what was held.
  void flush();
  bool opened() const { return driver_ != nullptr; }

  const std::shared_ptr<const ProcessMemory>& memory() const override { return memory_; }
  void completed(const Completion& completion) override { put(Kind::Completion, &completion, sizeof completion); }
  void failed(const Failure& failure) override { put(Kind::Failure, &failure, sizeof failure); }
  void changed(const PortChange& change) override { put(Kind::PortChange, &change, sizeof change); }
  void happened(const EvEvent& event) override { put(Kind::EvEvent, &event, sizeof event); }
  void answered(const EpAnswer& answer) override { put(Kind::EpAnswer, &answer, sizeof answer); }
  void say(const std::string& sentence) override;

 private:
  void read_head();
  void read_body();
  bool handle();
  bool handle_call();
  bool handle_control();
  template <class T>
  bool modify_profile();
  template <class Query>
  bool query_profile();
  bool hello(const Hello& hello);
  /// The message as a T, or null if it has another size.
  template <class T>
  const T* as() const;
  template <class T>
  bool answer(const T& body);
  bool answer(int error) { return answer(Done{error}); }
  Driver::Reply later();
  void put(Kind kind, const void* body, std::size_t bytes);
  void write();
  void end(const std::string& why);

  Socket socket_;
  const pid_t pid_;
  Drivers& drivers_;
  const bool& held_;
  const std::function<void(const std::string&)> log_;
  std::function<void(const std::shared_ptr<Session>&)> gone_;
  std::shared_ptr<const ProcessMemory> memory_;
  Driver* driver_ = nullptr;
  bool greeted_ = false, ended_ = false, querying_ = false, overfull_ = false;
  std::string said_;  ///< last, and how often
  uint64_t again_ = 0;
  Head head_{};
  std::vector<uint8_t> body_, out_, writing_;
};

}  // namespace mrc::libmrc
