// SPDX-License-Identifier: Apache-2.0
/// Memory by the huge page, for what is looked at here and there: with small pages every look would miss the TLB.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace mrc::sim {

inline constexpr size_t kHugePage = size_t{2} << 20;

/// So many bytes (whole pages) straight from the system, zeros, at a multiple of a huge page. Throws std::bad_alloc.
void* map_huge(size_t bytes);
/// Back to the system at once; the heap would keep it.
void unmap_huge(void* memory, size_t bytes);

/// Large pieces come by the huge page, where the system has them; small ones as usual.
class HugeMemory final : public std::pmr::memory_resource {
 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace mrc::sim
