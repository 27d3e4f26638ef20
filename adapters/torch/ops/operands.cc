#include "adapters/torch/ops/operands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"
#include "scan/finite.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

// A hand that nobody watches (an extension that was given zeros to fill) may have written since:
// three elements are asked. They need not tell, but mostly do.
bool looks_like(const c10::TensorImpl& impl, int ceiling) {
  if (sight_of(impl) != Sight::kWatched || !impl.is_non_overlapping_and_dense()) return true;
  constexpr int kLeast = -1022;  // what a scan says of a float64 zero
  const auto* data = static_cast<const std::byte*>(data_of(impl));
  const auto width = static_cast<std::int64_t>(impl.itemsize());
  const DType dtype = dtype_of(c10::typeMetaToScalarType(impl.dtype()));
  for (const std::int64_t at : {std::int64_t{0}, impl.numel() / 2, impl.numel() - 1}) {
    if (nanscope::ceiling_of(data + at * width, impl.itemsize(), dtype) >
        std::max(ceiling, kLeast) + 1)
      return false;
  }
  return true;
}

int ceiling_of_number(double number) {
  if (!std::isfinite(number)) return kNoCeiling;
  int exponent = 0;
  const double digits = std::fabs(std::frexp(number, &exponent));
  if (digits == 0) return kAllZero;
  return digits == 0.5 ? exponent - 1 : exponent;
}

// With room for what rounding adds to a long sum.
int terms_of(std::int64_t count) {
  return count == 0 ? 0 : std::bit_width(static_cast<std::uint64_t>(count)) + 1;
}

std::int64_t size_of(const at::Tensor& tensor, std::int64_t dim) {
  if (dim < 0) dim += tensor.dim();
  return dim < 0 || dim >= tensor.dim() ? 1 : tensor.size(dim);
}

}  // namespace

Extent known_extent(const at::Tensor& tensor) {
  if (is_number(tensor)) return {ceiling_of_number(number_in(tensor)), Sign::kAny};
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const c10::ScalarType type = c10::typeMetaToScalarType(impl.dtype());
  if (type == at::kBool) return {0, Sign::kNotNegative};
  if (c10::isIntegralType(type, /*includeBool=*/false)) return {64, Sign::kAny};
  const c10::StorageImpl* storage = storage_of(impl);
  // Of a device nothing is known for long: it is looked at again.
  if (storage == nullptr || c10::isComplexType(type) || !is_on_host(impl)) return {};
  const Watcher& watcher = Watcher::get();
  const Extent extent = watcher.storages().extent_of(storage, type);
  if (extent.ceiling == kNoCeiling || is_foreign(impl)) return {};
  if (!watcher.ledger().empty() && watcher.ledger().knows(storage_id(impl))) return {};
  return looks_like(impl, extent.ceiling) ? extent : Extent{};
}

TensorState state_by_extent(const at::Tensor& tensor) {
  return state_of(tensor, known_extent(tensor).ceiling != kNoCeiling);
}

int Operands::operator[](std::size_t argument) const {
  const at::Tensor* tensor = tensor_at(argument);
  return tensor == nullptr ? kAllZero : noted(known_extent(*tensor).ceiling);
}

Sign Operands::sign(std::size_t argument) const {
  const at::Tensor* tensor = tensor_at(argument);
  if (tensor == nullptr || is_negated(*tensor->unsafeGetTensorImpl())) return Sign::kAny;
  return known_extent(*tensor).sign;
}

bool Operands::same(std::size_t one, std::size_t other) const {
  const at::Tensor* first = tensor_at(one);
  const at::Tensor* second = tensor_at(other);
  return first != nullptr && second != nullptr && is_same_memory(*first, *second);
}

double Operands::element(std::size_t argument) const {
  const at::Tensor* tensor = tensor_at(argument);
  if (tensor == nullptr || tensor->numel() != 1 ||
      sight_of(*tensor->unsafeGetTensorImpl()) != Sight::kWatched)
    return NAN;
  return value_at(OwnedView(*tensor).view(), std::vector<std::int64_t>(tensor->dim(), 0)).real;
}

int Operands::exact(std::size_t argument, int enough) const {
  const int loose = (*this)[argument];
  if (loose <= enough || loose >= kNoCeiling) return loose;
  const c10::TensorImpl& impl = *tensor_at(argument)->unsafeGetTensorImpl();
  if (sight_of(impl) != Sight::kWatched) return loose;
  this_thread().count_bytes(impl.numel() * impl.itemsize());
  const int found = ceiling_of(impl);
  if (found < kNoCeiling && fills_its_storage(impl)) {
    const c10::ScalarType type = c10::typeMetaToScalarType(impl.dtype());
    const Sign sign = known_extent(*tensor_at(argument)).sign;
    Watcher::get().storages().mark_made(storage_of(impl), type, {found, sign});
  }
  return noted(found);
}

int Operands::other(std::size_t argument) const {
  return updates ? exact(argument, kHighestOfUpdated - 1) : (*this)[argument];
}

int Operands::factor(std::size_t argument) const { return std::max((*this)[argument], 0); }

int Operands::largest() const {
  int most = 2;
  each_tensor(wrapper_, call_, [&](const at::Tensor& tensor, std::size_t argument, int) {
    if (wrapper_.arguments[argument].read) most = std::max(most, known_extent(tensor).ceiling);
  });
  if (wrapper_.has_scalars)
    most = std::max(most, ceiling_of_number(largest_number(wrapper_, call_)));
  return noted(most);
}

int Operands::terms(std::size_t argument) const {
  const at::Tensor* tensor = tensor_at(argument);
  return tensor == nullptr ? 0 : terms_of(tensor->numel());
}

int Operands::terms_along(std::size_t argument, std::int64_t dim) const {
  const at::Tensor* tensor = tensor_at(argument);
  return tensor == nullptr ? 0 : terms_of(size_of(*tensor, dim));
}

int Operands::terms_across(std::size_t argument, std::int64_t dim) const {
  const at::Tensor* tensor = tensor_at(argument);
  if (tensor == nullptr) return 0;
  return terms_of(tensor->numel() / std::max<std::int64_t>(size_of(*tensor, dim), 1));
}

int Operands::terms_in(std::size_t argument) const {
  if (wrapper_.arguments[argument].kind != SlotKind::kIntList) return terms(0);
  std::int64_t count = 1;
  for (const std::int64_t size : by_value<at::IntArrayRef>(call_.arguments[argument]))
    count *= size;
  return terms_of(count);
}

int Operands::times(std::size_t argument) const {
  return noted(ceiling_of_number(number(argument)));
}

double Operands::number(std::size_t argument) const {
  const void* slot = call_.arguments[argument];
  switch (wrapper_.arguments[argument].kind) {
    case SlotKind::kScalar: {
      const auto& scalar = by_reference<c10::Scalar>(slot);
      return scalar.isComplex() || scalar.isSymbolic() ? NAN : scalar.toDouble();
    }
    case SlotKind::kDouble:
      return by_value<double>(slot);
    default:
      return NAN;
  }
}

double Operands::wrapped_number(std::size_t argument) const {
  const at::Tensor* tensor = tensor_at(argument);
  return tensor != nullptr && is_number(*tensor) ? number_in(*tensor) : NAN;
}

std::int64_t Operands::whole_number(std::size_t argument) const {
  return wrapper_.arguments[argument].kind == SlotKind::kInt
             ? by_value<std::int64_t>(call_.arguments[argument])
             : 0;
}

bool Operands::flag(std::size_t argument) const {
  return wrapper_.arguments[argument].kind == SlotKind::kBool &&
         by_value<bool>(call_.arguments[argument]);
}

bool Operands::has_empty_windows() const {
  return torch_adapter::has_empty_windows(wrapper_, call_);
}

int Operands::noted(int ceiling) const {
  lacks_one_ |= ceiling >= kNoCeiling;
  return ceiling;
}

const at::Tensor* Operands::tensor_at(std::size_t argument) const {
  const void* slot = call_.arguments[argument];
  switch (wrapper_.arguments[argument].kind) {
    case SlotKind::kTensor: {
      const auto& tensor = by_reference<at::Tensor>(slot);
      return tensor.defined() ? &tensor : nullptr;
    }
    case SlotKind::kOptionalTensor: {
      const auto& tensor = by_reference<std::optional<at::Tensor>>(slot);
      return tensor && tensor->defined() ? &*tensor : nullptr;
    }
    default:
      return nullptr;
  }
}

}  // namespace nanscope::torch_adapter
