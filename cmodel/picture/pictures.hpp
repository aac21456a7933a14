// SPDX-License-Identifier: Apache-2.0
/// What is drawn of a story.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "picture/story.hpp"

namespace mrc::picture {

struct Picture {
  std::string name;   ///< of a file, without ending: "psn-dut-qp16"
  std::string title;  ///< one line
  std::string text;   ///< what is to be seen, for below it
  std::string svg;
};

/// What is wanted.
struct Choice {
  Time from = 0, until = log::kNever;  ///< ps
  std::optional<uint32_t> device, qp;
  std::optional<uint64_t> wr_id;  ///< of the ladder's message
  /// Queue pairs that get pictures: those first whose losses are told of, then those with the most trouble.
  unsigned most = 3;
  std::optional<uint32_t> side;  ///< of `qp` both directions, at this device
  std::optional<Time> mark;      ///< a time to be marked in all of them
};

/// Marks in one picture; of more plain ones only every so many is drawn, and the picture says so.
inline constexpr std::size_t kMostMarks = 6000;

/// All pictures that there is something for. Each of them may be drawn alone, too; nothing: there is nothing to draw.
std::vector<Picture> pictures(const Story& story, const Choice& choice);

/// PSN against time.
std::optional<Picture> psn_picture(const Story& story, uint32_t flow, const Choice& choice);
/// What a flow lost, as its sender tells: sent when, lost where, known by what, there again when. Nothing: no loss of
/// it is told.
std::optional<Picture> loss_picture(const Story& story, uint32_t flow, const Choice& choice);
/// Losses of a flow that its sender tells of.
std::size_t losses_reported(const Story& story, const Flow& flow);
/// Entropy values against time, a panel per plane: states, packets, marks, losses.
std::optional<Picture> ev_picture(const Story& story, uint32_t flow, const Choice& choice);
/// A controller's window and what is in flight of its flows.
std::optional<Picture> window_picture(const Story& story, uint32_t device, uint32_t dest, const Choice& choice);
/// The packets of a message on their ways, time from top to bottom.
std::optional<Picture> ladder_picture(const Story& story, uint32_t message, const Choice& choice);
/// Packets in the blocks of a device: a row each, those before the marked time (or the end).
std::optional<Picture> stage_picture(const Story& story, uint32_t device, const Choice& choice);
/// How busy and how blocked the streams between the blocks of a device are; which block limits.
std::optional<Picture> stream_picture(const Story& story, uint32_t device, const Choice& choice);

/// The block at which the waiting ends: what comes to it waits most, what it gives waits least.
struct Limiting {
  std::string block;
  double blocked = 0;  ///< share of the cycles in which what came to it waited
  /// Share of the time in which the device's ports sent, while what came to it waited in most cycles. Near 1: the
  /// block waits for them (lanes give room, not a stream).
  double ports = 0;
};
/// Nothing: nobody waits for more than one cycle in a hundred.
std::optional<Limiting> limiting_block(const Story& story, uint32_t device, Time from, Time until);

}  // namespace mrc::picture
