// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "libmrc/host/memory.hpp"
#include "libmrc/messages.hpp"

namespace mrc::libmrc {

/// A program that has a NIC open: what its driver needs of it.
class Program {
 public:
  virtual ~Program() = default;
  virtual const std::shared_ptr<const ProcessMemory>& memory() const = 0;
  virtual void completed(const Completion& completion) = 0;
  virtual void failed(const Failure& failure) = 0;
  virtual void changed(const PortChange& change) = 0;
  virtual void happened(const EvEvent& event) = 0;
  virtual void answered(const EpAnswer& answer) = 0;
  /// A line for the log, about something that the program did: a sentence without full stop.
  virtual void say(const std::string& sentence) = 0;
};

}  // namespace mrc::libmrc
