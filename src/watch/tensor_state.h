// A tensor at one moment, as the verdict sees it: which memory, and what it holds.
#pragma once

#include <cstdint>
#include <functional>

#include "scan/finite.h"

namespace nanscope {

// One storage. The adapter keeps the number from being reused while it is held.
struct StorageId {
  std::uint64_t value = 0;
  friend bool operator==(StorageId, StorageId) = default;
};

// One tensor object (a leaf, or a gradient). Never reused while it is held.
struct TensorId {
  std::uint64_t value = 0;
  friend bool operator==(TensorId, TensorId) = default;
};

// Bytes [lo, hi) of a storage.
struct ByteRange {
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
  [[nodiscard]] bool overlaps(ByteRange other) const { return lo < other.hi && other.lo < hi; }
  [[nodiscard]] bool covers(ByteRange other) const { return lo <= other.lo && other.hi <= hi; }
};

struct TensorState {
  StorageId storage;
  ByteRange range;
  bool dense = true;  // every byte of the range belongs to the tensor
  Kinds kinds;        // by a scan at this moment
  bool requires_grad = false;
};

}  // namespace nanscope

template <>
struct std::hash<nanscope::StorageId> {
  std::size_t operator()(nanscope::StorageId id) const noexcept {
    return std::hash<std::uint64_t>{}(id.value);
  }
};
template <>
struct std::hash<nanscope::TensorId> {
  std::size_t operator()(nanscope::TensorId id) const noexcept {
    return std::hash<std::uint64_t>{}(id.value);
  }
};
