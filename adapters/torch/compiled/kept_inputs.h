// What went into a call of a compiled region, as far as a replay needs it: which inputs were
// written since, and what stood in those that the region was known to write.
//
// A compiled optimizer writes hundreds of small tensors in a step. So their bytes are laid side by
// side in one piece of memory, which the region keeps for its next call; a tensor is made of them
// only if a replay asks for one.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nanscope::torch_adapter {

// How much memory all regions together keep for their next calls: a little, for the small tensors
// of a model with many compiled pieces. With the GIL held.
class SpareMemory {
 public:
  // Whether so much was still free, and is now taken.
  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    if (bytes > kMost - held_) return false;
    held_ += bytes;
    return true;
  }
  void give_back(std::size_t bytes) noexcept { held_ -= bytes; }

 private:
  static constexpr std::size_t kMost = 4 << 20;  // the allocator has the rest
  std::size_t held_ = 0;
};

// Memory that the next call of the region takes again. With the GIL held.
class SpareBytes {
 public:
  explicit SpareBytes(SpareMemory& of_all) : of_all_(of_all) {}
  ~SpareBytes();
  SpareBytes(const SpareBytes&) = delete;
  SpareBytes& operator=(const SpareBytes&) = delete;
  struct Bytes {
    std::unique_ptr<std::byte[]> data;
    std::size_t size = 0;
  };
  // At least so many, not initialised.
  [[nodiscard]] Bytes take(std::size_t size);
  void give_back(Bytes bytes) noexcept;

 private:
  SpareMemory& of_all_;
  Bytes bytes_;
};

class KeptInputs {
 public:
  // Undefined where an input is no tensor. `written`: numbers, in order.
  KeptInputs(const std::vector<at::Tensor>& inputs, const std::vector<std::size_t>& written,
             std::shared_ptr<SpareBytes> spare);
  KeptInputs(KeptInputs&&) = default;
  ~KeptInputs();

  // Kept here; and those of `written` that are no plain run of the host's memory.
  [[nodiscard]] std::vector<std::size_t> numbers() const;
  [[nodiscard]] const std::vector<std::size_t>& others() const noexcept { return others_; }
  // A tensor of its own, as that input was.
  [[nodiscard]] at::Tensor copy_of(std::size_t number) const;
  // Written since, but for those kept here.
  [[nodiscard]] std::vector<std::size_t> unforeseen(const std::vector<at::Tensor>& inputs) const;

 private:
  struct Kept {
    std::size_t number;
    std::size_t offset;  // in the bytes
    std::size_t bytes;
    c10::ScalarType type;
    c10::DimVector sizes;
    c10::DimVector strides;
  };
  [[nodiscard]] const Kept* find(std::size_t number) const;

  std::vector<std::uint32_t> versions_;  // of each input
  std::vector<Kept> kept_;               // by number
  std::vector<std::size_t> others_;
  SpareBytes::Bytes bytes_;
  std::shared_ptr<SpareBytes> spare_;
};

}  // namespace nanscope::torch_adapter
