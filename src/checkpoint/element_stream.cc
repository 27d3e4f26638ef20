#include "checkpoint/element_stream.h"

#include <algorithm>
#include <cstring>

#include "checkpoint/gguf_blocks.h"
#include "checkpoint/piece.h"
#include "scan/widen.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::uint64_t kMostInMemory = 256 << 20;
// A view that is expanded may have any number of elements; who repeats more than this wants to keep
// us busy.
constexpr std::uint64_t kMostRepeats = 64;
constexpr std::uint64_t kElementsAllowed = 1 << 20;

std::size_t parts_of(const ElementType& type) { return is_complex(type.dtype) ? 2 : 1; }

// Bytes from the first element to the end of the last.
std::uint64_t reach_of(const StoredTensor& tensor) {
  std::uint64_t last = 0;
  for (std::size_t dim = 0; dim < tensor.sizes.size(); ++dim)
    last += static_cast<std::uint64_t>(std::max<std::int64_t>(tensor.sizes[dim] - 1, 0) *
                                       tensor.strides[dim]);
  return (last + 1) * tensor.type.width;
}

bool lies_in_order(const StoredTensor& tensor) {
  const std::vector<std::int64_t> plain = row_major(tensor.sizes);
  for (std::size_t dim = 0; dim < plain.size(); ++dim)
    if (tensor.sizes[dim] > 1 && tensor.strides[dim] != plain[dim]) return false;
  return true;
}

bool can_be_held(const StoredTensor& tensor) {
  const std::uint64_t reach = reach_of(tensor);
  const auto numel = static_cast<std::uint64_t>(tensor.numel());
  return reach <= kMostInMemory &&
         numel / kMostRepeats <= reach / tensor.type.width + kElementsAllowed;
}

}  // namespace

ElementStream::ElementStream(const StoredTensor& tensor)
    : tensor_(tensor), cursor_(tensor.storage->cursor()), index_(tensor.sizes.size(), 0) {
  row_major_ = lies_in_order(tensor);
  possible_ = tensor.type.block != nullptr ||
              (tensor.type.can_be_bad() && (row_major_ || can_be_held(tensor)));
}

Result<std::span<const double>> ElementStream::next(std::size_t elements) {
  numbers_.resize(elements * parts_of(tensor_.type));
  const Status filled = tensor_.type.block != nullptr ? fill_from_blocks(elements)
                        : row_major_                  ? fill(elements)
                                                      : fill_by_index(elements);
  if (!filled) return filled.error();
  position_ += elements;
  return std::span<const double>(numbers_);
}

Status ElementStream::fill(std::size_t elements) {
  const std::size_t width = tensor_.type.width;
  bytes_.resize(elements * width);
  if (Status read = cursor_->read(tensor_.offset + position_ * width, bytes_); !read) return read;
  if (tensor_.type.big_endian) swap_bytes(bytes_, width / parts_of(tensor_.type));
  widen(bytes_.data(), elements, tensor_.type.dtype, numbers_);
  return Done{};
}

Status ElementStream::fill_from_blocks(std::size_t elements) {
  const BlockFormat& format = *tensor_.type.block;
  const std::size_t blocks = elements / format.elements;
  bytes_.resize(blocks * format.bytes);
  const std::uint64_t first = position_ / format.elements;
  if (Status read = cursor_->read(tensor_.offset + first * format.bytes, bytes_); !read)
    return read;
  float decoded[256];
  for (std::size_t i = 0; i < blocks; ++i) {
    format.decode(reinterpret_cast<const std::uint8_t*>(bytes_.data()) + i * format.bytes, decoded);
    std::copy_n(decoded, format.elements, numbers_.data() + i * format.elements);
  }
  return Done{};
}

Status ElementStream::load_storage() {
  Result<std::string> whole = text_at(*tensor_.storage, tensor_.offset, reach_of(tensor_));
  if (!whole) return whole.error();
  whole_ = std::move(whole.value());
  loaded_ = true;
  return Done{};
}

Status ElementStream::fill_by_index(std::size_t elements) {
  if (!loaded_) {
    if (Status loaded = load_storage(); !loaded) return loaded;
  }
  const std::size_t width = tensor_.type.width;
  bytes_.resize(elements * width);
  for (std::size_t i = 0; i < elements; ++i, step_index()) {
    std::int64_t at = 0;
    for (std::size_t dim = 0; dim < index_.size(); ++dim) at += index_[dim] * tensor_.strides[dim];
    std::memcpy(bytes_.data() + i * width, whole_.data() + static_cast<std::size_t>(at) * width,
                width);
  }
  if (tensor_.type.big_endian) swap_bytes(bytes_, width / parts_of(tensor_.type));
  widen(bytes_.data(), elements, tensor_.type.dtype, numbers_);
  return Done{};
}

void ElementStream::step_index() {
  for (std::size_t dim = index_.size(); dim-- > 0;) {
    if (++index_[dim] < tensor_.sizes[dim]) return;
    index_[dim] = 0;
  }
}

}  // namespace nanscope::checkpoint
