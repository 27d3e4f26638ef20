// A tensor of any type and strides for the tests. What lies between and around its
// elements is NaN, so that a look beside them is seen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "scan/test_patterns.h"
#include "scan/view.h"

namespace nanscope {

class TestTensor {
 public:
  using Sizes = std::vector<std::int64_t>;

  TestTensor(DType dtype, Sizes sizes, Sizes strides)
      : dtype_(dtype), sizes_(std::move(sizes)), strides_(std::move(strides)) {
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    for (std::size_t dim = 0; dim < sizes_.size(); ++dim) {
      const std::int64_t reach = sizes_[dim] > 0 ? (sizes_[dim] - 1) * strides_[dim] : 0;
      (reach < 0 ? lowest : highest) += reach;
    }
    const std::int64_t guard = 3;
    origin_ = guard - lowest;
    storage_.assign(static_cast<std::size_t>(origin_ + highest + 1 + guard) * width_of(dtype),
                    filler_of(dtype));
    std::size_t turn = 0;
    for_each([&](std::byte* element, const Sizes&) {
      set(element, patterns_of(dtype_).finite[turn++ % 9]);
    });
  }

  static TestTensor dense(DType dtype, Sizes sizes) {
    Sizes strides(sizes.size(), 1);
    for (std::size_t dim = sizes.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * sizes[dim];
    return {dtype, std::move(sizes), std::move(strides)};
  }

  // Up to five dimensions of any kind: expanded, reversed, overlapping, of size 0 or 1.
  static TestTensor random(DType dtype, std::mt19937& random) {
    const auto between = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    Sizes sizes, strides;
    std::int64_t dense_stride = 1;
    for (int rank = between(0, 5); rank > 0; --rank) {
      sizes.push_back(between(0, 19) == 0 ? 0 : between(1, 6));
      const int form = between(0, 9);
      strides.push_back(form == 0   ? 0
                        : form == 1 ? between(-9, 9)
                        : form == 2 ? -dense_stride
                                    : dense_stride);
      dense_stride *= std::max<std::int64_t>(sizes.back(), 1) + (form == 3 ? 2 : 0);
    }
    for (std::size_t i = sizes.size(); i > 1; --i) {
      const auto j = static_cast<std::size_t>(between(0, static_cast<int>(i) - 1));
      std::swap(sizes[i - 1], sizes[j]);
      std::swap(strides[i - 1], strides[j]);
    }
    return {dtype, sizes, strides};
  }

  [[nodiscard]] TensorView view() const { return {at({}), dtype_, sizes_, strides_}; }
  [[nodiscard]] const Sizes& sizes() const { return sizes_; }

  // The first part of an element; the second lies after it.
  [[nodiscard]] std::byte* at(const Sizes& index) const {
    std::int64_t offset = origin_;
    for (std::size_t dim = 0; dim < index.size(); ++dim) offset += index[dim] * strides_[dim];
    return storage_.data() + offset * static_cast<std::int64_t>(width_of(dtype_));
  }

  // Both parts of a complex element.
  void set(std::byte* element, std::uint64_t pattern) const {
    const std::size_t component = patterns_of(dtype_).width;
    put(element, pattern, component);
    if (is_complex(dtype_)) put(element + component, pattern, component);
  }

  // In row-major order, written in the plainest way.
  template <class Fn>
  void for_each(Fn&& fn) const {
    Sizes index(sizes_.size(), 0);
    std::int64_t numel = 1;
    for (const std::int64_t size : sizes_) numel *= size;
    for (std::int64_t i = 0; i < numel; ++i) {
      std::int64_t rest = i;
      for (std::size_t dim = sizes_.size(); dim-- > 0; rest /= sizes_[dim])
        index[dim] = rest % sizes_[dim];
      fn(at(index), index);
    }
  }

 private:
  DType dtype_;
  Sizes sizes_;
  Sizes strides_;
  std::int64_t origin_ = 0;
  mutable std::vector<std::byte> storage_;
};

}  // namespace nanscope
