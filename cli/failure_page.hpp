// SPDX-License-Identifier: Apache-2.0
/// What a failure leaves for eyes: the way of packets through blocks, pictures of the window around it, one page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "gen/presets.hpp"
#include "picture/story.hpp"
#include "reference/run.hpp"
#include "tb/compare/report.hpp"
#include "tb/compare/stages.hpp"

namespace mrc::cli {

/// Puts the way of packets through the blocks of a device into its story, which is finished.
void add_stages(picture::Story& story, uint32_t device, std::span<const tb::StagedPacket> packets, uint64_t clock_ps);

/// What lockstep keeps of the time before a failure.
struct FailureWindow {
  std::vector<tb::StagedPacket> packets;
  picture::Story story;  ///< the newest frames at the device's ports, and the packets in its blocks
};
FailureWindow failure_window(const tb::CosimResult& result, const Preset& preset);

/// The frame of the window that the failure is about: the newest one of its QP, else the newest one. Its comment.
/// Number of frames when there are none.
std::size_t frame_of_failure(const tb::CosimResult& result, std::string& comment);

/// The page of a run in lockstep that failed. Files beside it are named by their last part. `contract`: page of the
/// block, "" if there is none.
std::string failure_page(const tb::RunInfo& info, const tb::CosimResult& result, const Preset& preset,
                         const FailureWindow& window, const std::string& contract);

/// The page of a rule that a device broke. `files`: beside it, and what they are.
std::string finding_page(const ref::Finding& finding, const std::string& device, const std::string& repro,
                         const picture::Story& story, const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace mrc::cli
