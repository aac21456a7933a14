// SPDX-License-Identifier: Apache-2.0
#include "libmrc/host/session.hpp"

#include <fmt/format.h>

#include <bit>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

namespace mrc::libmrc {

namespace {

/// Bytes that a program has not read: more than all its queues together can mean.
constexpr std::size_t kMaxUnread = std::size_t{256} << 20;

}  // namespace

Session::Session(Socket socket, pid_t pid, Drivers& drivers, const bool& held,
                 std::function<void(const std::string&)> log, std::function<void(const std::shared_ptr<Session>&)> gone)
    : socket_(std::move(socket)),
      pid_(pid),
      drivers_(drivers),
      held_(held),
      log_(std::move(log)),
      gone_(std::move(gone)),
      memory_(std::make_shared<ProcessMemory>(pid)) {}

void Session::start() { read_head(); }

void Session::say(const std::string& sentence) {
  again_ = sentence == said_ ? again_ + 1 : 1;
  if (!std::has_single_bit(again_)) return;
  said_ = sentence;
  log_(fmt::format("{}{}program {}: {}{}", driver_ == nullptr ? "" : driver_->name(), driver_ == nullptr ? "" : ", ",
                   pid_, sentence, again_ == 1 ? "" : fmt::format(" ({} times)", again_)));
}

void Session::end(const std::string& why) {
  if (ended_) return;
  ended_ = true;
  if (!why.empty()) say(why);
  const auto self = shared_from_this();
  boost::system::error_code ignored;
  socket_.close(ignored);
  if (driver_ != nullptr) driver_->leave(*this);
  gone_(self);
}

// Bytes.

void Session::read_head() {
  boost::asio::async_read(socket_, boost::asio::buffer(&head_, sizeof head_),
                          [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                            if (error) return self->end("");
                            if (self->head_.bytes > kMaxMessage) return self->end("a message is too long");
                            self->read_body();
                          });
}

void Session::read_body() {
  body_.resize(head_.bytes);
  boost::asio::async_read(socket_, boost::asio::buffer(body_),
                          [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                            if (error) return self->end("");
                            if (!self->handle()) return self->end("it is sent away: its message is none of ours");
                            if (!self->ended_) self->read_head();
                          });
}

void Session::put(Kind kind, const void* body, std::size_t bytes) {
  if (ended_ || overfull_) return;
  if (out_.size() > kMaxUnread) {  // not here: the driver is in the middle of something
    overfull_ = true;
    boost::asio::post(socket_.get_executor(), [self = shared_from_this()] { self->end("it reads nothing"); });
    return;
  }
  const Head head{static_cast<uint32_t>(bytes), kind};
  const auto* from = reinterpret_cast<const uint8_t*>(&head);
  out_.insert(out_.end(), from, from + sizeof head);
  from = static_cast<const uint8_t*>(body);
  out_.insert(out_.end(), from, from + bytes);
  flush();
}

void Session::flush() {
  if (!ended_ && !held_ && writing_.empty() && !out_.empty()) write();
}

void Session::write() {
  std::swap(out_, writing_);
  boost::asio::async_write(socket_, boost::asio::buffer(writing_),
                           [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                             if (error) return self->end("");
                             self->writing_.clear();
                             self->flush();
                           });
}

template <class T>
const T* Session::as() const {
  static_assert(kIsMessage<T>);
  return body_.size() == sizeof(T) ? reinterpret_cast<const T*>(body_.data()) : nullptr;
}

template <class T>
bool Session::answer(const T& body) {
  querying_ = false;
  put(Kind::Answer, &body, sizeof body);
  return true;
}

/// An answer that may come when this is gone.
Driver::Reply Session::later() {
  return [self = weak_from_this()](int error) {
    if (const auto session = self.lock()) session->answer(error);
  };
}

// Messages.

bool Session::hello(const Hello& hello) {
  if (hello.magic != kMagic) return false;
  if (hello.version != kVersion) {
    say(fmt::format("its lib_mrc.so speaks version {} of this socket, and the host {}", hello.version, kVersion));
    return answer(Number{EPROTO, 0});
  }
  uint64_t value = 0;
  if (!memory_->read(hello.address, {reinterpret_cast<uint8_t*>(&value), sizeof value}) || value != hello.value) {
    say("its memory cannot be read: process_vm_readv is not allowed here, or it is in another PID namespace");
    return answer(Number{EPERM, 0});
  }
  greeted_ = true;
  return answer(Number{0, static_cast<uint32_t>(drivers_.size())});
}

/// False: what no library of ours sends.
bool Session::handle() {
  if (querying_) return false;  // one thing at a time
  if (head_.kind == Kind::Hello) {
    const auto* m = as<Hello>();
    return m != nullptr && !greeted_ && hello(*m);
  }
  if (head_.kind == Kind::Say) {
    const auto* m = as<Say>();
    if (m == nullptr) return false;
    std::string text(m->text, strnlen(m->text, sizeof m->text));
    for (char& c : text) c = static_cast<unsigned char>(c) < ' ' ? '?' : c;
    say(text);
    return true;
  }
  if (!greeted_) return false;
  if (head_.kind == Kind::Device) {
    const auto* m = as<QueryDevice>();
    if (m == nullptr) return false;
    DeviceRow row{};
    row.error = ENODEV;
    return answer(m->index < drivers_.size() ? drivers_[m->index]->row() : row);
  }
  if (head_.kind == Kind::Open) {
    const auto* m = as<Open>();
    if (m == nullptr || driver_ != nullptr) return false;
    if (m->index >= drivers_.size()) return answer(ENODEV);
    driver_ = drivers_[m->index].get();
    driver_->enter(*this);
    return answer(0);
  }
  return driver_ != nullptr && handle_call();
}

bool Session::handle_call() {
  switch (head_.kind) {
    case Kind::PostSend: {
      const auto* m = as<PostSend>();
      return m != nullptr && driver_->post_send(*this, *m);
    }
    case Kind::PostGather: {
      const auto* m = as<PostGather>();
      return m != nullptr && driver_->post_gather(*this, *m);
    }
    case Kind::PostInline: {
      const auto* m = as<PostInline>();
      return m != nullptr && driver_->post_inline(*this, *m);
    }
    case Kind::PostRecv: {
      const auto* m = as<PostRecv>();
      return m != nullptr && driver_->post_recv(*this, *m);
    }
    case Kind::EpRequest: {
      const auto* m = as<EpRequest>();
      return m != nullptr && driver_->ep_request(*this, *m);
    }
    default:
      break;
  }
  querying_ = true;
  uint32_t number = 0;
  switch (head_.kind) {
    case Kind::AllocPd: {
      const int error = driver_->alloc_pd(*this, number);
      return answer(Number{error, number});
    }
    case Kind::DeallocPd:
      if (const auto* m = as<DeallocPd>()) return answer(driver_->dealloc_pd(*this, m->pd));
      return false;
    case Kind::RegMr:
      if (const auto* m = as<RegMr>()) {
        driver_->reg_mr(*this, *m, [self = weak_from_this()](int error, uint32_t key) {
          if (const auto session = self.lock()) session->answer(Number{error, key});
        });
        return true;
      }
      return false;
    case Kind::DeregMr:
      if (const auto* m = as<DeregMr>()) return driver_->dereg_mr(*this, m->key, later()), true;
      return false;
    case Kind::CreateQp:
      if (const auto* m = as<CreateQp>()) {
        const int error = driver_->create_qp(*this, *m, number);
        return answer(Number{error, number});
      }
      return false;
    case Kind::ModifyQp:
      if (const auto* m = as<ModifyQp>()) return driver_->modify_qp(*this, *m, later()), true;
      return false;
    case Kind::QueryQp:
      if (const auto* m = as<QueryQp>()) {
        QpRow row{};
        row.error = driver_->query_qp(*this, m->qp, row.attributes);
        return answer(row);
      }
      return false;
    case Kind::QueryPort:
      if (const auto* m = as<QueryPort>()) {
        const int error = driver_->query_port(*this, m->port, number);
        return answer(Number{error, number});
      }
      return false;
    case Kind::ModifyPort:
      if (const auto* m = as<ModifyPort>()) return answer(driver_->modify_port(*this, m->port, m->enabled != 0));
      return false;
    case Kind::DestroyQp:
      if (const auto* m = as<DestroyQp>()) return driver_->destroy_qp(*this, m->qp, later()), true;
      return false;
    default:
      return handle_control();
  }
}

template <class T>
bool Session::modify_profile() {
  const auto* m = as<T>();
  return m != nullptr && answer(driver_->modify_profile(*this, *m));
}

template <class Query>
bool Session::query_profile() {
  const auto* m = as<Query>();
  if (m == nullptr) return false;
  typename Query::Answer row{};
  row.error = driver_->query_profile(*this, m->id, row.profile);
  return answer(row);
}

bool Session::handle_control() {
  switch (head_.kind) {
    case Kind::Controller:
      return answer(driver_->controller());
    case Kind::ModifyFormat:
      return modify_profile<ModifyFormat>();
    case Kind::QueryFormat:
      return query_profile<QueryFormat>();
    case Kind::ModifyEvProfile:
      return modify_profile<ModifyEvProfile>();
    case Kind::QueryEvProfile:
      return query_profile<QueryEvProfile>();
    case Kind::ModifyCcProfile:
      return modify_profile<ModifyCcProfile>();
    case Kind::QueryCcProfile:
      return query_profile<QueryCcProfile>();
    case Kind::EvEntry:
      if (const auto* m = as<EvEntry>()) {
        EvEntryRow row{};
        row.error = driver_->ev_entry(*this, *m, row);
        return answer(row);
      }
      return false;
    case Kind::EpWait:
      if (const auto* m = as<EpWait>()) {
        driver_->ep_wait(*this, *m, [self = weak_from_this()](int error, uint32_t count) {
          if (const auto session = self.lock()) session->answer(Number{error, count});
        });
        return true;
      }
      return false;
    default:
      return false;
  }
}

}  // namespace mrc::libmrc
