// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace mrc::sim {

/// First in, first out, by index from the oldest on. Takes no memory before it is used; gives none back.
template <class T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  uint32_t size() const { return size_; }
  T& operator[](uint32_t i) { return data_[(head_ + i) & (capacity_ - 1)]; }
  const T& operator[](uint32_t i) const { return data_[(head_ + i) & (capacity_ - 1)]; }
  T& front() { return data_[head_]; }
  const T& front() const { return data_[head_]; }

  T& push_back(T value) {
    if (size_ == capacity_) grow();
    T& slot = data_[(head_ + size_++) & (capacity_ - 1)];
    slot = std::move(value);
    return slot;
  }
  void push_front(T value) {
    if (size_ == capacity_) grow();
    head_ = (head_ - 1) & (capacity_ - 1);
    data_[head_] = std::move(value);
    ++size_;
  }
  T pop_front() {
    T value = std::move(data_[head_]);
    head_ = (head_ + 1) & (capacity_ - 1);
    --size_;
    return value;
  }
  void clear() { head_ = size_ = 0; }
  uint64_t memory() const { return uint64_t{capacity_} * sizeof(T); }

 private:
  void grow() {
    const uint32_t capacity = capacity_ == 0 ? 4 : capacity_ * 2;
    auto data = std::make_unique<T[]>(capacity);
    for (uint32_t i = 0; i < size_; ++i) data[i] = std::move((*this)[i]);
    data_ = std::move(data);
    head_ = 0;
    capacity_ = capacity;
  }
  std::unique_ptr<T[]> data_;
  uint32_t head_ = 0, size_ = 0, capacity_ = 0;
};

}  // namespace mrc::sim
