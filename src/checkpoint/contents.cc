#include "checkpoint/contents.h"

#include <algorithm>
#include <utility>

namespace nanscope::checkpoint {
namespace {

constexpr std::size_t kMostDims = 64;  // what torch allows

bool takes_a_name(Contents& contents, const std::string& name) {
  contents.names_size += name.size();
  return contents.names_size <= contents.longest_names &&
         contents.tensors.size() + contents.left_out.size() < kMostTensors;
}

}  // namespace

std::int64_t StoredTensor::numel() const {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product *= size;
  return product;
}

bool Contents::add(StoredTensor tensor) {
  if (!takes_a_name(*this, tensor.name)) return false;
  tensors.push_back(std::move(tensor));
  return true;
}

bool Contents::leave_out(std::string name, std::string why) {
  if (!takes_a_name(*this, name)) return false;
  left_out.push_back({std::move(name), std::move(why)});
  return true;
}

void Contents::keep_names_below(std::uint64_t packed_size) {
  constexpr std::size_t kAllowed = 4 << 20;
  constexpr std::size_t kPerByte = 64;
  const std::size_t of_pickle =
      packed_size < kLongestNames / kPerByte ? packed_size * kPerByte : kLongestNames;
  longest_names = std::min(kLongestNames, names_size + kAllowed + of_pickle);
}

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::uint64_t stride = 1;  // wraps where place_problem will complain
  for (std::size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(sizes[dim] > 1 ? sizes[dim] : 1);
  }
  return strides;
}

std::optional<std::string> place_problem(const StoredTensor& tensor) {
  if (tensor.sizes.size() > kMostDims || tensor.strides.size() != tensor.sizes.size())
    return "its shape makes no sense";
  std::int64_t numel = 1;
  std::int64_t last = 0;  // the element that lies farthest
  bool empty = false;
  for (std::size_t dim = 0; dim < tensor.sizes.size(); ++dim) {
    const std::int64_t size = tensor.sizes[dim];
    const std::int64_t stride = tensor.strides[dim];
    std::int64_t way = 0;
    if (size < 0 || stride < 0) return "its shape makes no sense";
    if (size == 0) empty = true;
    if (__builtin_mul_overflow(numel, size > 0 ? size : 1, &numel) ||
        __builtin_mul_overflow(size > 0 ? size - 1 : 0, stride, &way) ||
        __builtin_add_overflow(last, way, &last))
      return "its shape is too large to be true";
  }
  if (empty) return std::nullopt;
  std::uint64_t end = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(last) + 1, tensor.type.width, &end) ||
      !fits(tensor.offset, end, tensor.storage->size()))
    return "its elements lie beyond the end of the file";
  return std::nullopt;
}

}  // namespace nanscope::checkpoint
