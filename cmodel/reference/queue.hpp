// SPDX-License-Identifier: Apache-2.0
/// A deque that holds no memory before something stands in it. An empty std::deque has allocated more than half a
/// kilobyte; of what the judge keeps of a QP there are dozens, and most of them stay empty.
#pragma once

#include <cstddef>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>

namespace mrc::ref {

template <class T>
class Queue {
 public:
  using Deque = std::deque<T>;
  using value_type = T;
  using iterator = typename Deque::iterator;
  using const_iterator = typename Deque::const_iterator;
  using reference = typename Deque::reference;
  using const_reference = typename Deque::const_reference;

  Queue() = default;
  Queue(std::initializer_list<T> values) : some_(std::make_unique<Deque>(values)) {}
  Queue(const Queue& other) : some_(other.some_ ? std::make_unique<Deque>(*other.some_) : nullptr) {}
  Queue(Queue&&) noexcept = default;
  Queue& operator=(const Queue& other) {
    if (this != &other) some_ = other.some_ ? std::make_unique<Deque>(*other.some_) : nullptr;
    return *this;
  }
  Queue& operator=(Queue&&) noexcept = default;
  ~Queue() = default;

  bool empty() const { return !some_ || some_->empty(); }
  std::size_t size() const { return some_ ? some_->size() : 0; }
  reference front() { return some_->front(); }
  const_reference front() const { return some_->front(); }
  reference back() { return some_->back(); }
  const_reference back() const { return some_->back(); }
  reference operator[](std::size_t at) { return (*some_)[at]; }
  const_reference operator[](std::size_t at) const { return (*some_)[at]; }
  iterator begin() { return some_ ? some_->begin() : iterator{}; }
  iterator end() { return some_ ? some_->end() : iterator{}; }
  const_iterator begin() const { return some_ ? std::as_const(*some_).begin() : const_iterator{}; }
  const_iterator end() const { return some_ ? std::as_const(*some_).end() : const_iterator{}; }
  auto rbegin() { return std::make_reverse_iterator(end()); }
  auto rend() { return std::make_reverse_iterator(begin()); }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }

  template <class... A>
  reference emplace_back(A&&... a) {
    return held().emplace_back(std::forward<A>(a)...);
  }
  template <class... A>
  reference emplace_front(A&&... a) {
    return held().emplace_front(std::forward<A>(a)...);
  }
  void push_back(T value) { held().push_back(std::move(value)); }
  void push_front(T value) { held().push_front(std::move(value)); }
  void pop_front() { some_->pop_front(); }
  void pop_back() { some_->pop_back(); }
  iterator insert(const_iterator at, T value) {
    if (!some_) at = std::as_const(held()).end();
    return some_->insert(at, std::move(value));
  }
  template <std::input_iterator Iterator>
  iterator insert(const_iterator at, Iterator from, Iterator to) {
    if (!some_) at = std::as_const(held()).end();
    return some_->insert(at, from, to);
  }
  iterator insert(const_iterator at, std::size_t count, const T& value) {
    if (!some_) at = std::as_const(held()).end();
    return some_->insert(at, count, value);
  }
  iterator erase(const_iterator at) { return some_->erase(at); }
  iterator erase(const_iterator from, const_iterator to) { return some_ ? some_->erase(from, to) : iterator{}; }
  void resize(std::size_t size) {
    if (size != this->size()) held().resize(size);
  }
  void resize(std::size_t size, const T& value) {
    if (size != this->size()) held().resize(size, value);
  }
  void clear() { some_.reset(); }
  void swap(Queue& other) { some_.swap(other.some_); }
  template <class Predicate>
  friend std::size_t erase_if(Queue& queue, Predicate predicate) {
    return queue.some_ ? std::erase_if(*queue.some_, std::move(predicate)) : 0;
  }

 private:
  Deque& held() {
    if (!some_) some_ = std::make_unique<Deque>();
    return *some_;
  }
  std::unique_ptr<Deque> some_;
};

}  // namespace mrc::ref
