#include "adapters/torch/hit/what_if.h"

#include "adapters/torch/hit/again.h"

namespace nanscope::torch_adapter {
namespace {

bool is_narrow(c10::ScalarType type) {
  return type == at::kHalf || type == at::kBFloat16 || type == at::kComplexHalf ||
         c10::isFloat8Type(type);
}

}  // namespace

void recompute(const Wrapper& wrapper, const Call& call, const Before* before, Finding& finding) {
  if (finding.origin.indices.empty() || finding.outputs.empty()) return;
  if (wrapper.random) {
    finding.not_recomputed = "it was not computed again: the operation draws random numbers";
    return;
  }
  Again again(wrapper, call, before, finding);
  if (!again.may_run()) return;
  try {
    const KernelsOnly kernels_only;
    bool narrow = false;
    each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t, int) {
      narrow |= is_narrow(tensor.scalar_type());
    });
    const std::string& made = finding.outputs[finding.origin.output].dtype;
    narrow |= made == "float16" || made == "bfloat16" || made.starts_with("float8");
    for (const Width width : {Width::kFloat32, Width::kFloat64}) {
      const bool to_float64 = width == Width::kFloat64;
      if (!to_float64 && !narrow) continue;
      std::vector<Value> values = again.compute(width, nullptr, finding.not_recomputed);
      if (values.empty()) return;
      if (to_float64) finding.exact = values[0];
      finding.recomputed.push_back({to_float64 ? "float64" : "float32", std::move(values)});
    }
  } catch (const std::exception&) {
    finding.recomputed.clear();  // refuses these types: then nothing is claimed
    finding.exact.reset();
  }
}

}  // namespace nanscope::torch_adapter
