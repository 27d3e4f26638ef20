// The memory of the test device: the host cannot touch it.
//
// One file in memory is mapped twice. Tensors have addresses of a mapping without any access, so
// that a program (or nanscope) that reads device memory on the host dies at once; kernels use the
// other mapping. What is freed is filled with NaN, in the order of the stream, and given out again
// at once: who reads a tensor too late, reads NaN or somebody else's numbers.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/Allocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "lag_queue.h"

namespace lag {

inline constexpr auto kDevice = c10::DeviceType::PrivateUse1;

// Whoever keeps memory that the program has let go of is asked for it before an allocation fails;
// it says whether it gave some back.
using AskForMemory = bool (*)();
inline AskForMemory& ask_for_memory() {
  static AskForMemory function = nullptr;
  return function;
}

class Memory {
 public:
  static Memory& get() {
    static auto& memory = *new Memory;
    return memory;
  }

  char* take(std::size_t bytes) {
    const std::size_t size = (bytes + kLine - 1) / kLine * kLine;
    char* place = try_to_take(size);
    if (place == nullptr && ask_for_memory() != nullptr && ask_for_memory()())
      place = try_to_take(size);
    TORCH_CHECK_WITH(OutOfMemoryError, place != nullptr, "lag: out of memory");
    return place;
  }

  void give_back(char* place) {
    std::size_t size = 0;
    {
      const std::lock_guard guard(lock_);
      size = sizes_.at(place);
      in_use_ -= size;
    }
    Queue::get().put([inside = to_kernel(place), size] { std::memset(inside, 0xff, size); });
    const std::lock_guard guard(lock_);
    free_[size].push_back(place);
  }

  [[nodiscard]] char* to_kernel(char* place) const { return inside_ + (place - outside_); }
  [[nodiscard]] std::size_t in_use() const { return in_use_; }

 private:
  static constexpr std::size_t kSize = std::size_t{4} << 30;
  static constexpr std::size_t kLine = 512;

  char* try_to_take(std::size_t size) {
    const std::lock_guard guard(lock_);
    std::vector<char*>& free = free_[size];
    if (free.empty() && top_ + size > most_) return nullptr;
    in_use_ += size;
    if (!free.empty()) {
      char* const place = free.back();
      free.pop_back();
      return place;
    }
    char* const place = outside_ + top_;
    top_ += size;
    sizes_[place] = size;
    return place;
  }

  Memory() {
    if (const char* bytes = std::getenv("LAG_BYTES")) most_ = std::strtoull(bytes, nullptr, 10);
    const int file = memfd_create("lag", MFD_CLOEXEC);
    TORCH_CHECK(file >= 0 && ftruncate(file, kSize) == 0, "lag: no memory");
    const int flags = MAP_SHARED | MAP_NORESERVE;
    outside_ = static_cast<char*>(mmap(nullptr, kSize, PROT_NONE, flags, file, 0));
    inside_ = static_cast<char*>(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, flags, file, 0));
    TORCH_CHECK(outside_ != MAP_FAILED && inside_ != MAP_FAILED, "lag: no memory");
    close(file);
  }

  char* outside_;
  char* inside_;
  std::mutex lock_;
  std::size_t most_ = kSize;
  std::size_t top_ = 0;
  std::size_t in_use_ = 0;
  std::unordered_map<std::size_t, std::vector<char*>> free_;  // by size; the last one goes first
  std::unordered_map<char*, std::size_t> sizes_;
};

class Allocator final : public c10::Allocator {
 public:
  static Allocator& get() {
    static auto& allocator = *new Allocator;
    return allocator;
  }
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const place = bytes == 0 ? nullptr : Memory::get().take(bytes);
    return {place, place, &free, c10::Device(kDevice, 0)};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &free; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    Memory& memory = Memory::get();
    Queue::get().put([to = memory.to_kernel(static_cast<char*>(to)),
                      from = memory.to_kernel(static_cast<char*>(const_cast<void*>(from))),
                      bytes] { std::memmove(to, from, bytes); });
  }

 private:
  static void free(void* place) {
    if (place != nullptr) Memory::get().give_back(static_cast<char*>(place));
  }
};

inline bool is_here(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kDevice;
}

// The same elements for a kernel. Owns nothing: memory is given back in the order of the stream.
inline at::Tensor for_kernel(const at::Tensor& tensor) {
  if (!is_here(tensor)) return tensor;
  auto* const storage = tensor.storage().unsafeGetStorageImpl();
  auto* const place = static_cast<char*>(storage->_mutable_data_ptr_no_checks().get());
  void* const data = place == nullptr ? nullptr
                                      : Memory::get().to_kernel(place) +
                                            tensor.storage_offset() * tensor.itemsize();
  at::Tensor same = at::from_blob(data, tensor.sizes(), tensor.strides(),
                                  tensor.options().device(c10::kCPU).requires_grad(false));
  c10::TensorImpl* const impl = same.unsafeGetTensorImpl();
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  if (tensor.is_conj()) impl->_set_conj(true);
  if (tensor.is_neg()) impl->_set_neg(true);
  return same;
}

}  // namespace lag
