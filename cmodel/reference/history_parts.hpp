// SPDX-License-Identifier: Apache-2.0
/// The parts of the checker of history. Each holds the rules of one prefix, from what was seen alone: no clock of a
/// device, no rows, no masks; sets, sums and numbers that only grow.
#pragma once

#include <memory>

#include "reference/history_world.hpp"

namespace mrc::ref::history {

/// A part is told a frame's QP as well: of a sent one the QP whose peer it goes to, of a received one the QP it names;
/// null when there is none.
class Part {
 public:
  virtual ~Part() = default;
  virtual void qp(const QpWorld&, Time) {}
  virtual void region(const log::Mr&, Time) {}
  virtual void received(const Seen&, QpWorld*) {}
  /// A trimmed packet that a switch has sent back, and the QP that had sent it. Nobody else is told of it.
  virtual void returned(const Seen&, QpWorld*) {}
  virtual void sent(const Seen&, QpWorld*) {}
  virtual void host(const log::Host&, Time) {}
  virtual void posted(const log::Post&, Time) {}
  virtual void completed(const log::Cqe&, Time) {}
  virtual void finish(const log::End&, Time) {}
  virtual uint64_t memory() const { return 0; }
};

std::unique_ptr<Part> make_wire_part(World& world);       ///< wire.*, qp.state, qp.known, resp.pair
std::unique_ptr<Part> make_requestor_part(World& world);  ///< req.*, path.*, qp.fatal, qp.flush
std::unique_ptr<Part> make_responder_part(World& world);  ///< resp.*, peer.*
std::unique_ptr<Part> make_memory_part(World& world);     ///< mem.*

}  // namespace mrc::ref::history
