// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/huge.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

namespace mrc::sim {

void* map_huge(size_t bytes) {
  const size_t all = bytes + kHugePage;
  void* const memory = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // What lies before a multiple of a huge page, and what is too much behind, goes back.
  char* const first = static_cast<char*>(memory);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(first) % kHugePage) % kHugePage;
  if (before != 0) munmap(first, before);
  char* const begin = first + before;
  unmap_huge(begin + bytes, all - before - bytes);
#ifdef MADV_HUGEPAGE
  madvise(begin, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // what is left over may never be used
#endif
  return begin;
}

void unmap_huge(void* memory, size_t bytes) {
  if (bytes != 0) munmap(memory, bytes);
}

namespace {
size_t whole_pages(size_t bytes) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}
}  // namespace

void* HugeMemory::do_allocate(size_t bytes, size_t alignment) {
  if (bytes < kHugePage) return ::operator new(bytes, std::align_val_t(alignment));
  return map_huge(whole_pages(bytes));
}

void HugeMemory::do_deallocate(void* memory, size_t bytes, size_t alignment) {
  if (bytes < kHugePage) return ::operator delete(memory, std::align_val_t(alignment));
  unmap_huge(memory, whole_pages(bytes));
}

}  // namespace mrc::sim
