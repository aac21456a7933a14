// SPDX-License-Identifier: Apache-2.0
/// What the modules refuse, by the rules of sc_report: SC_ERROR, a message type of these, one sentence that begins with
/// the module's name, and the remedy. As SystemC sets it, an SC_ERROR is thrown; sc_report_handler::set_actions()
/// changes that, by message type.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>

namespace mrc::systemc {

inline constexpr char kUnbound[] = "/mrcnic/unbound";          ///< a socket that nothing is bound to
inline constexpr char kBoundTwice[] = "/mrcnic/bound_twice";   ///< a port with two owners
inline constexpr char kSetting[] = "/mrcnic/setting";          ///< what cannot work, such as a rate of zero
inline constexpr char kParameter[] = "/mrcnic/parameter";      ///< a parameter that is not there, or has no such value
inline constexpr char kProtocol[] = "/mrcnic/protocol";        ///< a payload or phase of another protocol
inline constexpr char kElaboration[] = "/mrcnic/elaboration";  ///< a module that comes too late
inline constexpr char kResolution[] = "/mrcnic/resolution";    ///< SystemC's time is not in picoseconds

/// "MODULE: WHAT. REMEDY"
void refuse(const char* type, const std::string& module, const std::string& what, const std::string& remedy);

/// Times of the engine are picoseconds, and so are SystemC's.
inline sc_core::sc_time picoseconds(uint64_t ps) { return sc_core::sc_time::from_value(ps); }
inline uint64_t picoseconds(const sc_core::sc_time& time) { return time.value(); }
inline uint64_t now_ps() { return picoseconds(sc_core::sc_time_stamp()); }

/// A base in front of sc_module: SystemC elaborates once in a process, and says so in words of its own to whoever comes
/// later. This says it first, with a remedy.
class BeforeElaboration {
 protected:
  explicit BeforeElaboration(const std::string& name);
};

}  // namespace mrc::systemc
