// SPDX-License-Identifier: Apache-2.0
/// Two network namespaces with a cable for each plane between them: this process is in one, a NIC's in the other. They
/// have no names and no files: when the processes have ended, by whatever, nothing of them is left.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/port_options.hpp"

namespace mrc::cli {

class Lab {
 public:
  /// Throws UsageError: the kernel refuses, `ip` is missing.
  explicit Lab(unsigned planes);
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;
  ~Lab();

  /// --port of the tester's ends, of the NIC's.
  std::vector<std::string> tester_ports() const;
  std::string nic_ports() const;
  /// Before a command of the shell that is to run where the NIC is.
  std::string there() const;
  /// Captures all of the NIC's ports from now on, until the end. Throws UsageError.
  void capture(const std::filesystem::path& file);
  /// Ends the capture, which takes dumpcap a second; the file is whole: all that the ports carried until now is in it.
  /// Throws UsageError: it is not.
  void end_capture();

 private:
  std::vector<std::string> tester_interfaces() const;
  /// The kernel hands over the packets of each interface in blocks, when it likes: sends a mark over each cable and
  /// waits until the file has them all. Throws UsageError: they do not come.
  void wait_until_written();

  unsigned planes_;
  pid_t holder_ = 0, dumpcap_ = 0;
  int words_ = -1;  ///< what dumpcap says
  std::filesystem::path capture_;
};

}  // namespace mrc::cli
