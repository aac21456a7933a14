// SPDX-License-Identifier: Apache-2.0
/// Profiles of a NIC, as its controller sets them up: formats of entropy values (EVs), EVs, congestion control. What
/// NIC and registers have none of is done here: fields with min and max, several formats, names of profiles
/// (docs/guide/api.md). An int that is returned is an errno, 0: done; `why` is then a sentence without full stop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libmrc/messages.hpp"
#include "protocol/srv6.hpp"
#include "tb/device/device.hpp"

namespace mrc::libmrc {

/// What fields make of an EV in a packet: init, of which the bits in mask are the EV's next ones, from the top; each
/// field as wide as the format's, the first on top.
std::array<uint8_t, 32> expand(const FormatProfile& format, const EvProfile& profile,
                               const std::array<uint8_t, 32>& value);

class Controller {
 public:
  static constexpr uint32_t kFormats = 64, kEvProfiles = 64, kCcProfiles = 16;

  struct Setup {
    unsigned planes, evs;  ///< of one profile
    uint64_t seed;
    unsigned min_active;  ///< of all queue pairs
    std::function<void(const std::string& line)> say;
    Srv6Rule rule;                                          ///< what the NIC does with a template
    bool events;                                            ///< the NIC shows states of EVs
    std::function<bool(uint64_t id)> ev_in_use, cc_in_use;  ///< by a queue pair
    std::function<void(const EvEvent& event)> happened;
    std::function<void(const std::string& line)> show;  ///< EVs of a profile that goes ONLINE; may be empty
  };
  explicit Controller(Setup setup);

  ControllerRow row() const;
  int modify(const ModifyFormat& wanted, std::string& why);
  int modify(const ModifyEvProfile& wanted, std::string& why);
  int modify(const ModifyCcProfile& wanted, std::string& why);
  int query(uint64_t id, FormatProfile& profile, std::string& why) const;
  int query(uint64_t id, EvProfile& profile, std::string& why) const;
  int query(uint64_t id, CcProfile& profile, std::string& why) const;
  /// `denied` is told when a change of state concerns queue pairs that have the profile.
  int entry(const EvEntry& wanted, EvEntryRow& row, std::string& why,
            const std::function<void(uint32_t ev, bool deny)>& denied);

  /// EVs as a queue pair's NIC wants them, entry i of plane i modulo planes.
  struct Places {
    std::vector<uint32_t> evs;
    std::vector<std::optional<uint32_t>> entry;  ///< whose they are; none: it is to be denied
    std::set<uint32_t> denied;
    std::optional<U128> path;     ///< of SRv6: the template that makes the profile's addresses
    std::optional<U128> segment;  ///< with SRH: what follows behind them
  };
  /// None: the NIC's own. An errno if there is no such profile, or it is not ONLINE.
  int places(uint64_t id, std::optional<Places>& places, std::string& why) const;
  /// The numbers of NSCC; none: no control. An errno as above.
  int control(uint64_t id, std::optional<tb::ControllerNumbers>& numbers, std::string& why) const;

  /// A queue pair takes the EV at a place for bad, or for good again.
  void state(uint64_t id, uint32_t qp, uint32_t entry, bool bad);
  /// It has its EVs no more.
  void forget(uint32_t qp);

 private:
  struct Entry {
    EvValue ev{};
    bool denied = false;
    std::set<uint32_t> bad_at;  ///< queue pairs
  };
  struct Evs {
    EvProfile profile{};
    std::vector<Entry> entries;
    explicit operator const EvProfile&() const { return profile; }
  };
  int check_fields(const EvProfile& profile, std::string& why) const;
  int to_offline(Evs& evs, const ModifyEvProfile& wanted, std::string& why);
  int to_online(uint64_t id, Evs& evs, std::string& why);
  void generate(uint64_t id, Evs& evs);
  uint32_t count() const;
  int srv6(const Evs& evs, Places& places, std::vector<uint32_t>& words, std::string& why) const;
  uint32_t of_packets(const Evs& evs, const Entry& entry) const;

  Setup setup_;
  std::map<uint64_t, FormatProfile> formats_;
  std::map<uint64_t, Evs> evs_;
  std::map<uint64_t, CcProfile> cc_;
};

}  // namespace mrc::libmrc
