// SPDX-License-Identifier: Apache-2.0
#include "libmrc/host/host.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>

#include "input/error.hpp"
#include "libmrc/host/driver.hpp"
#include "libmrc/host/fabric.hpp"
#include "libmrc/host/network.hpp"
#include "libmrc/host/session.hpp"
#include "tb/agent/monitored_device.hpp"

namespace mrc::libmrc {
namespace {

using Protocol = boost::asio::local::stream_protocol;

/// Between two NICs, one way, without a fabric.
constexpr Time kDelay = 500'000;
constexpr unsigned kMaxNics = 64;
/// How often somebody is asked whether the host is to end, when there is nothing to do.
constexpr std::chrono::milliseconds kQuery{100};

/// The folder of a socket: this user's, and nobody else's.
void make_folder(const std::filesystem::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    throw HostError(fmt::format("{} cannot be made: {}.", folder.string(), std::strerror(errno)));
  struct stat is {};
  if (lstat(folder.c_str(), &is) != 0 || !S_ISDIR(is.st_mode) || is.st_uid != geteuid() || (is.st_mode & 0077) != 0)
    throw HostError(fmt::format("{} has to be a folder of this user that nobody else may enter.", folder.string()));
}

/// Is somebody listening there? A socket that is left over is not in the way.
bool answers(boost::asio::io_context& io, const std::string& path) {
  Protocol::socket probe(io);
  boost::system::error_code error;
  probe.connect(Protocol::endpoint(path), error);
  return !error;
}

class Host {
 public:
  explicit Host(const HostOptions& options)
      : options_(options), network_(network_of(options)), acceptor_(io_), query_(io_) {
    const unsigned nics = options.fabric == nullptr ? options.nics : FabricNetwork::nics(*options.fabric);
    if (nics > kMaxNics)
      throw InputError(fmt::format("{} has {} NICs, and a host {} at most.", options.fabric->name, nics, kMaxNics),
                       "Give it fewer hosts.");
    for (unsigned i = 0; i < nics; ++i) {
      drivers_.push_back(std::make_unique<Driver>(Driver::Setup{.name = fmt::format("mrc{}", i),
                                                                .number = options.fabric == nullptr ? i + 1 : i,
                                                                .seed = options.seed + i,
                                                                .preset = *options.preset,
                                                                .min_active = options.min_active,
                                                                .device = device(i),
                                                                .network = *network_,
                                                                .say = options.say,
                                                                .show = show_of(fmt::format("mrc{}", i))}));
    }
    listen();
  }
  ~Host() { unlink(options_.socket.c_str()); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  HostResult run() {
    accept();
    query();
    if (options_.ready) options_.ready();
    const auto begin = std::chrono::steady_clock::now();
    while (!options_.stop->load(std::memory_order_relaxed)) {
      if (options_.pace > 0) {
        io_.run_until(begin +
                      std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(now_) * 1e-3 * options_.pace)));
        window();
      } else if (!network_->empty() || std::ranges::any_of(drivers_, [](const auto& d) { return d->busy(); })) {
        io_.poll();
        window();
      } else {
        io_.run_one();
      }
    }
    HostResult result{now_, opened_, {}};
    for (const auto& driver : drivers_) result.summary.push_back(driver->summary());
    for (std::string& line : network_->summary()) result.summary.push_back(std::move(line));
    return result;
  }

 private:
  static std::unique_ptr<Network> network_of(const HostOptions& o) {
    if (o.fabric == nullptr) return std::make_unique<Network>(*o.preset, kDelay, o.watch, o.loss, o.seed);
    return std::make_unique<FabricNetwork>(*o.preset, *o.fabric, o.watch, o.loss, o.seed, o.say);
  }

  /// So much time that what a NIC does in it reaches no other one.
  void window() {
    const Time to = now_ + network_->delay();
    held_ = true;
    for (const auto& driver : drivers_) driver->run(now_, to);
    network_->advance(to);
    held_ = false;
    for (const auto& session : sessions_) session->flush();
    now_ = to;
  }

  std::unique_ptr<tb::NicDevice> device(unsigned number) const {
    std::unique_ptr<tb::NicDevice> nic = options_.open();
    if (!options_.record) return nic;
    return std::make_unique<tb::MonitoredDevice>(std::move(nic), number, fmt::format("mrc{}", number), options_.record);
  }

  std::function<void(const std::string&)> show_of(const std::string& name) const {
    if (!options_.show) return {};
    return [this, name](const std::string& line) { options_.show(name + ',' + line); };
  }

  void listen() {
    const std::filesystem::path path = options_.socket;
    make_folder(path.parent_path());
    if (path.string().size() > 107) throw HostError(fmt::format("{} is too long for a socket.", path.string()));
    if (answers(io_, path)) throw HostError(fmt::format("another host listens at {}.", path.string()));
    unlink(path.c_str());
    boost::system::error_code error;
    acceptor_.open(Protocol(), error);
    if (!error) acceptor_.bind(Protocol::endpoint(path), error);
    if (!error) acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
    if (error) throw HostError(fmt::format("nobody can listen at {}: {}.", path.string(), error.message()));
  }

  void accept() {
    acceptor_.async_accept([this](const boost::system::error_code& error, Protocol::socket socket) {
      if (!error) welcome(std::move(socket));
      accept();
    });
  }

  void welcome(Protocol::socket socket) {
    ucred who{};
    socklen_t size = sizeof who;
    if (getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid()) {
      options_.say("somebody else's process is sent away");
      return;
    }
    const auto session = std::make_shared<Session>(std::move(socket), who.pid, drivers_, held_, options_.say,
                                                   [this](const std::shared_ptr<Session>& gone) {
                                                     opened_ += gone->opened();
                                                     sessions_.erase(gone);
                                                   });
    sessions_.insert(session);
    session->start();
  }

  /// Wakes run_one(), so that it sees `stop`.
  void query() {
    query_.expires_after(kQuery);
    query_.async_wait([this](const boost::system::error_code& error) {
      if (!error) query();
    });
  }

  const HostOptions& options_;
  boost::asio::io_context io_;
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<Driver>> drivers_;
  Protocol::acceptor acceptor_;
  boost::asio::steady_timer query_;
  std::set<std::shared_ptr<Session>> sessions_;
  bool held_ = false;  ///< a window is under way
  uint64_t opened_ = 0;
  Time now_ = 0;
};

}  // namespace

HostResult run_host(const HostOptions& options) { return Host(options).run(); }

}  // namespace mrc::libmrc
