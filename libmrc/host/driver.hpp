// SPDX-License-Identifier: Apache-2.0
/// One NIC of a host with its driver: what programs want of it, checked, becomes calls of docs/reference/device.md;
/// what the NIC does becomes reads and writes of their memory, frames, completions. An int that is returned is an
/// errno, 0: done.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libmrc/host/controller.hpp"
#include "libmrc/host/endpoints.hpp"
#include "libmrc/host/memory.hpp"
#include "libmrc/host/network.hpp"
#include "libmrc/host/program.hpp"
#include "libmrc/host/queue_pair.hpp"
#include "tb/device/device.hpp"

namespace mrc::libmrc {

class Driver {
 public:
  struct Setup {
    std::string name;  ///< "mrc0"
    unsigned number;   ///< of its address
    uint64_t seed;
    const Preset& preset;
    unsigned min_active;  ///< EVs of a queue pair that the NIC keeps in use
    std::unique_ptr<tb::NicDevice> device;
    Network& network;
    std::function<void(const std::string&)> say;   ///< a line for the log: a sentence without full stop
    std::function<void(const std::string&)> show;  ///< EVs of a profile that goes ONLINE, as CSV; may be empty
  };
  /// Throws tb::Refusal.
  explicit Driver(Setup setup);

  DeviceRow row() const;
  const std::string& name() const { return setup_.name; }
  /// What programs and network have had of it.
  std::string summary() const;

  // What programs want. `reply` is called once, at once or while time passes, unless the program has left before.
  using Reply = std::function<void(int error)>;
  int alloc_pd(Program& program, uint32_t& pd);
  int dealloc_pd(Program& program, uint32_t pd);
  void reg_mr(Program& program, const RegMr& wanted, const std::function<void(int error, uint32_t key)>& reply);
  void dereg_mr(Program& program, uint32_t key, const Reply& reply);
  int create_qp(Program& program, const CreateQp& wanted, uint32_t& number);
  void modify_qp(Program& program, const ModifyQp& wanted, const Reply& reply);
  int query_qp(Program& program, uint32_t number, QpAttributes& attributes);
  void destroy_qp(Program& program, uint32_t number, const Reply& reply);
  /// A program that posts more than its queue takes, or to a queue pair that is not its own, is wrong: false.
  bool post_send(Program& program, const PostSend& request);
  bool post_gather(Program& program, const PostGather& request);
  bool post_inline(Program& program, const PostInline& request);
  bool post_recv(Program& program, const PostRecv& request);
  /// Ports from 1 on.
  int query_port(Program& program, uint32_t port, uint32_t& state);
  int modify_port(Program& program, uint32_t port, bool enabled);
  // What a controller wants of it.
  ControllerRow controller() const { return controller_->row(); }
  template <class T>
  int modify_profile(Program& program, const T& wanted) {
    std::string why;
    const int error = controller_->modify(wanted, why);
    return error == 0 ? 0 : refuse(program, error, why);
  }
  template <class T>
  int query_profile(Program& program, uint64_t id, T& profile) {
    std::string why;
    const int error = controller_->query(id, profile, why);
    return error == 0 ? 0 : refuse(program, error, why);
  }
  int ev_entry(Program& program, const EvEntry& wanted, EvEntryRow& row);
  /// A request that no library of ours sends: false.
  bool ep_request(Program& program, const EpRequest& wanted);
  void ep_wait(Program& program, const EpWait& wanted, Endpoints::Reply reply);

  void enter(Program& program) { programs_.insert(&program); }
  /// The program is gone, with all it had.
  void leave(Program& program);

  /// Somebody waits for time to pass.
  bool busy() const;
  /// From `from` to `to`. Throws tb::Refusal, tb::DeviceGone.
  void run(Time from, Time to);

 private:
  QueuePair* find(const Program& program, uint32_t number);
  /// One of the bits of its state: it is up if all are set.
  void set_port(unsigned plane, uint32_t bit, bool on);
  int refuse(Program& program, int error, const std::string& sentence);
  int check_values(Program& program, const ModifyQp& wanted);
  int profiles(Program& program, QueuePair& qp, const ModifyQp& wanted, tb::QpConfig& config);
  /// Whether a Done tells when the NIC has done it.
  bool deny(uint32_t number, uint32_t ev, bool deny);
  bool uses(uint64_t QpAttributes::*profile, uint64_t id) const;
  int step(Program& program, QueuePair& qp, const ModifyQp& wanted, uint32_t& carried, tb::QpConfig& config);
  void order(QueuePair& qp, const tb::QpConfig& config, uint32_t carried, std::function<void(const tb::Done&)> then);
  void reset(QueuePair& qp, std::function<void()> then);
  void fail(QueuePair& qp);
  bool held(const QueuePair& qp) const;
  void hand_over(QueuePair& qp);
  bool readable(const QueuePair& qp, const PostSend& request) const;
  bool forget_region(uint32_t key, std::function<void()> then);

  void take(tb::Output& output, Time reached);
  void read(const tb::HostRead& read, Time time, Time reached);
  void unreadable(uint64_t bus, uint64_t bytes);
  bool is_muted(std::span<const uint8_t> frame) const;
  void completed(const log::Cqe& cqe);
  void done(const tb::Done& done);
  void path(const log::Event& event);

  Setup setup_;
  tb::NicDevice& device_;
  tb::DeviceInfo info_;
  bool has_psn_ = false, has_numbers_ = false;
  uint64_t mac_;
  log::Ip ip_{};
  Time read_time_;
  Regions regions_;
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<Endpoints> endpoints_;
  std::set<Program*> programs_;
  std::vector<uint32_t> ports_;  ///< their state, by plane
  std::map<uint32_t, const Program*> pds_;
  uint32_t next_pd_ = 1;
  std::map<uint32_t, std::unique_ptr<QueuePair>> qps_;
  std::set<uint32_t> muted_;                                  ///< queue pairs that have read what was not there
  std::deque<uint32_t> free_;                                 ///< numbers, the one that was in use last at the end
  std::vector<std::pair<Time, std::function<void()>>> cool_;  ///< until when numbers rest, and what follows
  std::unordered_map<uint32_t, std::function<void(const std::string& error)>> region_orders_;  ///< by key
  Time now_ = 0, quiet_from_ = 0;
  uint64_t lost_writes_ = 0, lost_reads_ = 0;
  struct {
    uint64_t qps, writes, bytes, received, failed, frames_sent, frames_got, port_changes;
  } counts_{};
};

}  // namespace mrc::libmrc
