#include "adapters/torch/hit/tensor_facts.h"

#include <cctype>

#include "adapters/torch/watch/watcher.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

std::string type_name(const at::Tensor& tensor) {
  const DType dtype = dtype_of(tensor.scalar_type());
  if (dtype != DType::kInteger) return std::string(name_of(dtype));
  std::string name = c10::toString(tensor.scalar_type());
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name == "long") return "int64";
  if (name == "int") return "int32";
  return name == "byte" ? "uint8" : name;
}

}  // namespace

TensorFacts describe(const at::Tensor& tensor, const OwnedView& view) {
  TensorFacts facts;
  facts.dtype = type_name(tensor);
  facts.shape = view.sizes;
  if (view.data != nullptr || tensor.numel() == 0) {
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    if (sight_of(impl) == Sight::kWatched || holds_integers(impl))
      facts.statistics = statistics_of(view.view());
  }
  facts.statistics.numel = tensor.numel();
  return facts;
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

TensorFacts describe_saved(const std::string& name, const at::Tensor& tensor,
                           const Finding& finding, bool aligned) {
  const OwnedView view(tensor);
  TensorFacts facts = describe(tensor, view);
  facts.name = name;
  facts.argument = "saved " + name;
  facts.remark = "saved by the forward";
  facts.parameter = Watcher::get().world().target_of(tensor) == Target::kParameter;
  const auto output = static_cast<std::size_t>(finding.origin.output);
  if (aligned && output < finding.outputs.size() && has_values(view.view()))
    add_values(facts, view, finding.origin.indices);
  return facts;
}

}  // namespace nanscope::torch_adapter
