// SPDX-License-Identifier: Apache-2.0
#include "libmrc/host/queue_pair.hpp"

#include <algorithm>

namespace mrc::libmrc {

QueuePair::QueuePair(Program& program, uint32_t qpn, const CreateQp& wanted)
    : number(qpn),
      pd(wanted.pd),
      max_send(wanted.max_send),
      max_recv(wanted.max_recv),
      program_(&program),
      send_all_(wanted.send_all != 0) {}

void QueuePair::taken() {
  posted_.push_back(waiting_.front());
  waiting_.pop_front();
}

bool QueuePair::reads(uint32_t key) const {
  const auto of_key = [key](const PostSend& p) { return p.key == key && p.bytes != 0; };
  return std::ranges::any_of(waiting_, of_key) || std::ranges::any_of(posted_, of_key);
}

void QueuePair::end(const PostSend& request, Status status) {
  if (request.source != 0) release(request.source);
  ++unseen_;
  if (program_ == nullptr || (status == Status::Success && request.signaled == 0 && !send_all_)) return;
  Completion c{};
  c.wr_id = request.wr_id;
  c.qp = number;
  c.status = status;
  c.bytes = request.bytes;
  c.with_imm = request.immediate;
  c.retires = unseen_;
  unseen_ = 0;
  program_->completed(c);
}

void QueuePair::completed(Status status) {
  if (posted_.empty()) return;
  const PostSend request = posted_.front();
  posted_.pop_front();
  if (unreadable_ && status != Status::Success) {
    unreadable_ = false;
    status = Status::LocalProtection;
  }
  if (status != Status::Success) attributes.state = State::Error;
  end(request, status);
  if (attributes.state == State::Error && posted_.empty()) flush();
}

void QueuePair::refused(Status status) {
  const PostSend request = waiting_.front();
  waiting_.pop_front();
  attributes.state = State::Error;
  end(request, status);
  flush();
}

bool QueuePair::received(uint32_t imm, uint32_t bytes) {
  if (receives_.empty()) return false;
  Completion c{};
  c.wr_id = receives_.front();
  receives_.pop_front();
  c.qp = number;
  c.bytes = bytes;
  c.imm = imm;
  c.receive = c.with_imm = 1;
  c.retires = 1;
  if (program_ != nullptr) program_->completed(c);
  return true;
}

void QueuePair::flush() {
  for (; posted_.empty() && !waiting_.empty(); waiting_.pop_front()) end(waiting_.front(), Status::Flushed);
  for (; !receives_.empty(); receives_.pop_front()) {
    Completion c{};
    c.wr_id = receives_.front();
    c.qp = number;
    c.status = Status::Flushed;
    c.receive = 1;
    c.retires = 1;
    if (program_ != nullptr) program_->completed(c);
  }
}

void QueuePair::clear() {
  for (const auto* queue : {&waiting_, &posted_}) {
    for (const PostSend& request : *queue) {
      if (request.source != 0) release(request.source);
    }
  }
  waiting_.clear();
  posted_.clear();
  receives_.clear();
  unreadable_ = false;
  unseen_ = 0;
}

}  // namespace mrc::libmrc
