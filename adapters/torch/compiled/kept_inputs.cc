#include "adapters/torch/compiled/kept_inputs.h"

#include <ATen/ops/empty_strided.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {
namespace {

std::uint32_t version_of(const at::Tensor& tensor) {
  return tensor.defined() && !tensor.is_inference() ? static_cast<std::uint32_t>(tensor._version())
                                                    : 0;
}

// Its numbers are one run of bytes that can be read here, and nothing else is to be known of them.
bool is_plain(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  return impl.key_set().has(c10::DispatchKey::CPU) && !has_parts(impl) && !is_negated(impl) &&
         sight_of(impl) == Sight::kWatched && impl.is_non_overlapping_and_dense();
}

std::size_t bytes_of(const at::Tensor& tensor) { return tensor.numel() * tensor.itemsize(); }

// Each piece begins where any type may begin.
std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

SpareBytes::~SpareBytes() { of_all_.give_back(bytes_.size); }

SpareBytes::Bytes SpareBytes::take(std::size_t size) {
  if (bytes_.size >= size) {
    of_all_.give_back(bytes_.size);
    return std::exchange(bytes_, {});
  }
  return {std::unique_ptr<std::byte[]>(new std::byte[size]), size};
}

void SpareBytes::give_back(Bytes bytes) noexcept {
  if (bytes.size <= bytes_.size || !of_all_.take(bytes.size - bytes_.size)) return;
  bytes_ = std::move(bytes);
}

KeptInputs::KeptInputs(const std::vector<at::Tensor>& inputs,
                       const std::vector<std::size_t>& written, std::shared_ptr<SpareBytes> spare)
    : spare_(std::move(spare)) {
  versions_.reserve(inputs.size());
  for (const at::Tensor& input : inputs) versions_.push_back(version_of(input));
  std::size_t size = 0;
  kept_.reserve(written.size());
  for (const std::size_t number : written) {
    const at::Tensor& input = inputs.at(number);
    if (!input.defined()) continue;
    if (!is_plain(input)) {
      others_.push_back(number);
      continue;
    }
    kept_.push_back({number, size, bytes_of(input), input.scalar_type(),
                     c10::DimVector(input.sizes()), c10::DimVector(input.strides())});
    size += rounded(kept_.back().bytes);
  }
  bytes_ = spare_->take(size);
  for (const Kept& kept : kept_) {
    std::memcpy(bytes_.data.get() + kept.offset,
                address_of(*inputs[kept.number].unsafeGetTensorImpl()), kept.bytes);
  }
}

KeptInputs::~KeptInputs() {
  if (spare_ != nullptr) spare_->give_back(std::move(bytes_));
}

std::vector<std::size_t> KeptInputs::numbers() const {
  std::vector<std::size_t> numbers;
  numbers.reserve(kept_.size());
  for (const Kept& kept : kept_) numbers.push_back(kept.number);
  return numbers;
}

const KeptInputs::Kept* KeptInputs::find(std::size_t number) const {
  const auto found = std::partition_point(kept_.begin(), kept_.end(),
                                          [&](const Kept& kept) { return kept.number < number; });
  return found == kept_.end() || found->number != number ? nullptr : &*found;
}

at::Tensor KeptInputs::copy_of(std::size_t number) const {
  const Kept* const kept = find(number);
  if (kept == nullptr) throw std::out_of_range("no such input was kept");
  const Busy busy;
  const c10::AutoGradMode no_grad(false);
  at::Tensor copy = at::empty_strided(kept->sizes, kept->strides, at::TensorOptions(kept->type));
  std::memcpy(copy.mutable_data_ptr(), bytes_.data.get() + kept->offset, kept->bytes);
  return copy;
}

std::vector<std::size_t> KeptInputs::unforeseen(const std::vector<at::Tensor>& inputs) const {
  std::vector<std::size_t> changed;
  const std::size_t count = std::min(inputs.size(), versions_.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (version_of(inputs[i]) != versions_[i] && find(i) == nullptr) changed.push_back(i);
  }
  return changed;
}

}  // namespace nanscope::torch_adapter
