// What a checkpoint holds, before any element was read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/bytes.h"
#include "checkpoint/element_type.h"

namespace nanscope::checkpoint {

// Sizes and strides count elements; every element lies inside `storage` (`place_problem`).
struct StoredTensor {
  std::string name{};
  ElementType type;
  std::vector<std::int64_t> sizes{};
  std::vector<std::int64_t> strides{};
  BytesPtr storage;
  std::uint64_t offset = 0;  // bytes to element [0, 0, ...]

  [[nodiscard]] std::int64_t numel() const;
};

// Something that was not looked into, and why: never silent.
struct LeftOut {
  std::string name;
  std::string why;
};

// A number of the pickle itself that is not finite: `loss`, `best_score`.
struct OddNumber {
  std::string name;
  double value = 0;
};

inline constexpr std::size_t kMostTensors = 1'000'000;
inline constexpr std::size_t kLongestNames = 128 << 20;  // bytes, together

struct Contents {
  std::string format{};  // "torch", "safetensors", ...
  std::vector<StoredTensor> tensors{};
  std::vector<LeftOut> left_out{};
  std::vector<OddNumber> odd_numbers{};
  std::size_t names_size = 0;  // bytes of all names together
  std::size_t longest_names = kLongestNames;

  // False when there are more tensors or longer names than any checkpoint has.
  [[nodiscard]] bool add(StoredTensor tensor);
  [[nodiscard]] bool leave_out(std::string name, std::string why);
  // What nests may have names far longer than itself: those that come now go by what the pickle
  // that holds them weighs in the file.
  void keep_names_below(std::uint64_t packed_size);
};

// The strides of elements that lie one behind the other, the last index running fastest.
[[nodiscard]] std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& sizes);

// What is wrong with the place of a tensor's elements; nothing if all lie in its storage.
[[nodiscard]] std::optional<std::string> place_problem(const StoredTensor& tensor);

}  // namespace nanscope::checkpoint
