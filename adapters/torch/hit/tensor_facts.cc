#include "adapters/torch/hit/tensor_facts.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "adapters/torch/watch/watcher.h"
#include "scan/bad_map.h"
#include "scan/exponents.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {

std::string type_name(const at::Tensor& tensor) { return type_name(tensor.scalar_type()); }

std::string type_name(c10::ScalarType type) {
  const DType dtype = dtype_of(type);
  if (dtype != DType::kInteger) return std::string(name_of(dtype));
  std::string name = c10::toString(type);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name == "long") return "int64";
  if (name == "int") return "int32";
  return name == "byte" ? "uint8" : name;
}

Made as_made(const TensorFacts& facts) {
  const Statistics& seen = facts.statistics;
  Made made{facts.dtype, facts.shape, true, seen.nan, seen.pos_inf, seen.neg_inf, {}};
  if (seen.min && seen.max) made.largest = std::max(std::fabs(*seen.min), std::fabs(*seen.max));
  return made;
}

TensorFacts describe(const at::Tensor& tensor, const OwnedView& view) {
  TensorFacts facts;
  facts.dtype = type_name(tensor);
  facts.shape = view.sizes;
  if (!tensor.is_cpu()) facts.device = tensor.device().str();
  facts.requires_grad = tensor.requires_grad();
  if (view.data != nullptr || tensor.numel() == 0) {
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    if (sight_of(impl) == Sight::kWatched || holds_integers(impl))
      facts.statistics = statistics_of(view.view());
  }
  facts.statistics.numel = tensor.numel();
  return facts;
}

void add_pictures(TensorFacts& facts, const OwnedView& view) {
  const TensorView seen = view.view();
  if (view.data == nullptr || !is_scannable(seen.dtype)) return;
  facts.exponents = exponents_of(seen);
  const Statistics& statistics = facts.statistics;
  if (statistics.nan + statistics.pos_inf + statistics.neg_inf == 0) return;
  if (BadMap map = bad_map_of(seen); map.cells.size() > 1) facts.bad_map = std::move(map);
}

NumberKinds numbers_in(const at::Tensor& tensor) {
  const at::Tensor values = has_parts(*tensor.unsafeGetTensorImpl()) ? values_of(tensor) : tensor;
  if (sight_of(*values.unsafeGetTensorImpl()) != Sight::kWatched) return {};
  const Statistics seen = statistics_of(OwnedView(values).view());
  return {seen.nan > 0, seen.pos_inf > 0, seen.neg_inf > 0};
}

HostValues host_values_in(const at::Tensor& tensor) {
  const at::Tensor values = has_parts(*tensor.unsafeGetTensorImpl()) ? values_of(tensor) : tensor;
  if (sight_of(*values.unsafeGetTensorImpl()) != Sight::kWatched) return {};
  return {numbers_in(values), pattern_of(kind_map_of(OwnedView(values).view()))};
}

BadPattern pattern_in_memory(const at::Tensor& tensor) {
  constexpr std::size_t kMostBytes = 64u << 20;
  OwnedView view(tensor);
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (view.data == nullptr || !impl.has_storage()) return pattern_of(kind_map_of(view.view()));
  const c10::Storage& storage = impl.storage();
  const std::size_t size = impl.itemsize();
  const void* const all = storage.nbytes() <= kMostBytes ? storage_data_of(impl) : nullptr;
  if (size != 0 && all != nullptr) {
    view.data = all;
    view.sizes = {static_cast<std::int64_t>(storage.nbytes() / size)};
    view.strides = {1};
  }
  return pattern_of(kind_map_of(view.view()));
}

void add_values(TensorFacts& facts, const OwnedView& view, const std::vector<Index>& elements) {
  if (view.data == nullptr || !has_values(view.view())) return;
  for (const Index& element : elements) {
    const auto mine = feeding(element, view.sizes);
    if (!mine) {
      facts.at_index.clear();
      return;
    }
    facts.at_index.push_back(value_at(view.view(), *mine));
  }
}

// Note [Healthy elements]: a patch may not change them, so a proposal is tried on them. At most
// kMostRead are read, evenly over the tensor; of these the smallest and the largest are kept
// and, evenly between them, others: a bound that is too high shows at the small ones.
void add_healthy(TensorFacts& facts, const OwnedView& view) {
  constexpr std::int64_t kMostRead = 512;
  constexpr std::size_t kMostKept = 32;
  if (view.data == nullptr || !has_values(view.view())) return;
  std::int64_t numel = 1;
  for (const std::int64_t size : view.sizes) numel *= size;
  std::vector<Value> found;
  Index index(view.sizes.size());
  for (std::int64_t i = 0; i < std::min(numel, kMostRead); ++i) {
    // Without an overflow, and without a stride that would meet one column only.
    std::int64_t left = numel <= kMostRead ? i : numel / kMostRead * i + i % (numel / kMostRead);
    for (std::size_t d = view.sizes.size(); d-- > 0; left /= view.sizes[d])
      index[d] = left % view.sizes[d];
    const Value value = value_at(view.view(), index);
    const auto is_same = [&](const Value& failing) {
      return failing.real == value.real && failing.imag == value.imag;
    };
    if (std::isfinite(value.real) && std::isfinite(value.imag) &&
        std::none_of(facts.at_index.begin(), facts.at_index.end(), is_same))
      found.push_back(value);
  }
  std::sort(found.begin(), found.end(), [](const Value& a, const Value& b) {
    return std::hypot(a.real, a.imag) < std::hypot(b.real, b.imag);
  });
  const std::size_t kept = std::min(found.size(), kMostKept);
  for (std::size_t i = 0; i < kept; ++i)
    facts.healthy.push_back(found[kept == 1 ? 0 : i * (found.size() - 1) / (kept - 1)]);
}

std::optional<Index> feeding(const Index& index, const std::vector<std::int64_t>& sizes) {
  if (sizes.size() > index.size()) return std::nullopt;
  Index mine(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t at = index[index.size() - sizes.size() + i];
    if (sizes[i] != 1 && at >= sizes[i]) return std::nullopt;
    mine[i] = sizes[i] == 1 ? 0 : at;
  }
  return mine;
}

namespace {

// Takes the diagonal of each matrix of the last two dimensions.
Statistics statistics_of_diagonal(OwnedView view) {
  const std::size_t last = view.sizes.size() - 1;
  view.sizes[last - 1] = std::min(view.sizes[last - 1], view.sizes[last]);
  view.strides[last - 1] += view.strides[last];
  view.sizes.pop_back();
  view.strides.pop_back();
  return statistics_of(view.view());
}

}  // namespace

TensorFacts describe_saved(const std::string& name, const at::Tensor& tensor,
                           const Finding& finding, bool aligned) {
  const OwnedView view(tensor);
  TensorFacts facts = describe(tensor, view);
  facts.name = name;
  facts.argument = name;
  facts.saved = true;
  facts.remark = "saved by the forward";
  facts.parameter = Watcher::get().world().target_of(tensor) == Target::kParameter;
  const auto output = static_cast<std::size_t>(finding.origin.output);
  if (aligned && output < finding.outputs.size() && has_values(view.view()))
    add_values(facts, view, finding.origin.indices);
  add_healthy(facts, view);
  if (name == "R" && view.data != nullptr && view.sizes.size() >= 2)  // of qr
    facts.diagonal = statistics_of_diagonal(view);
  return facts;
}

}  // namespace nanscope::torch_adapter
