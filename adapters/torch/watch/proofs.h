// For tests: every proof of rule M is checked by a scan, however small the result.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/torch/interpose/hook.h"
#include "scan/ceiling.h"

namespace nanscope::torch_adapter {

struct Proofs {
  bool checked = false;
  std::uint64_t held = 0;
  std::vector<std::string> broken;
};
extern Proofs proofs;
void check_proof(const Hook& hook, const at::Tensor& output, Extent proved);

}  // namespace nanscope::torch_adapter
