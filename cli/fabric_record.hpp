// SPDX-License-Identifier: Apache-2.0
/// NICs of the fabric as devices of a log (docs/reference/log.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "log/record.hpp"
#include "sim/experiment/experiment.hpp"

namespace mrc::cli {

class RecordedEndpoint;

/// Stands between the fabric and the NICs that are to be recorded.
class FabricRecord {
 public:
  using Sink = std::function<void(const log::Record&)>;
  /// `nics`: "0,3-5", "" for all. Throws UsageError: no such NIC; a transport that is no MRC.
  FabricRecord(const sim::Scenario& scenario, const std::string& nics, Sink sink);
  ~FabricRecord();
  FabricRecord(const FabricRecord&) = delete;
  FabricRecord& operator=(const FabricRecord&) = delete;

  /// For Experiment: the NIC as the fabric shall see it.
  std::unique_ptr<sim::Endpoint> wrap(sim::NodeId host, std::unique_ptr<sim::Endpoint> endpoint);
  /// The run is over; its endpoints are still there.
  void end(const sim::ExperimentResult& result);

 private:
  const sim::Scenario& scenario_;
  sim::Topology topology_;
  Sink sink_;
  std::vector<bool> wanted_;
  std::vector<RecordedEndpoint*> endpoints_;
};

}  // namespace mrc::cli
